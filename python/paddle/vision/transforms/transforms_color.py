"""Random changes of colour."""

from __future__ import annotations

import numbers
import random

from . import functional as F  # noqa: N812
from .transforms import BaseTransform, Compose

__all__ = []


def _range(value, name, center=1.0, bound=(0, float("inf")), clip_first=True):
    """[low, high] of a number or a pair; None where nothing would change.

    Raises:
        ValueError: negative, or beyond `bound`. TypeError: neither number nor pair.
    """
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        value = [center - value, center + value]
        if clip_first:
            value[0] = max(value[0], 0)
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        value = list(value)
    else:
        raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
    if not bound[0] <= value[0] <= value[1] <= bound[1]:
        raise ValueError(f"{name} values should be between {bound}")
    return None if value[0] == value[1] == center else value


class BrightnessTransform(BaseTransform):
    """``adjust_brightness`` by a factor of [max(0, 1 - value), 1 + value]."""

    def __init__(self, value, keys=None):
        super().__init__(keys)
        self.value = _range(value, "brightness")

    def _apply_image(self, img):
        return img if self.value is None else F.adjust_brightness(img, random.uniform(*self.value))


class ContrastTransform(BaseTransform):
    """``adjust_contrast`` by a factor of [max(0, 1 - value), 1 + value]."""

    def __init__(self, value, keys=None):
        super().__init__(keys)
        if isinstance(value, numbers.Number) and value < 0:
            raise ValueError("contrast value should be non-negative")
        self.value = _range(value, "contrast")

    def _apply_image(self, img):
        return img if self.value is None else F.adjust_contrast(img, random.uniform(*self.value))


class SaturationTransform(BaseTransform):
    """``adjust_saturation`` by a factor of [max(0, 1 - value), 1 + value]."""

    def __init__(self, value, keys=None):
        super().__init__(keys)
        self.value = _range(value, "saturation")

    def _apply_image(self, img):
        return img if self.value is None else F.adjust_saturation(img, random.uniform(*self.value))


class HueTransform(BaseTransform):
    """``adjust_hue`` by a factor of [-value, value], at most 0.5."""

    def __init__(self, value, keys=None):
        super().__init__(keys)
        self.value = _range(value, "hue", center=0, bound=(-0.5, 0.5), clip_first=False)

    def _apply_image(self, img):
        return img if self.value is None else F.adjust_hue(img, random.uniform(*self.value))


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue changed, in random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0, keys=None):
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    @staticmethod
    def _get_param(brightness, contrast, saturation, hue):
        """The transformations in an order drawn anew."""
        made = [
            kind(value)
            for kind, value in (
                (BrightnessTransform, brightness),
                (ContrastTransform, contrast),
                (SaturationTransform, saturation),
                (HueTransform, hue),
            )  # fmt: skip
            if value is not None
        ]
        random.shuffle(made)
        return Compose(made)

    def _apply_image(self, img):
        return self._get_param(self.brightness, self.contrast, self.saturation, self.hue)(img)
