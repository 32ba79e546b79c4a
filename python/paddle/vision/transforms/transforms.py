"""Transformations as objects, and how they are put together."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

from . import functional as F  # noqa: N812

__all__ = []


class Compose:
    """Transformations one after the other.

    Args:
        transforms (list): callables.
    """

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, data):
        for t in self.transforms:
            try:
                data = t(data)
            except Exception as e:
                e.add_note(f"in the transform {t}") if hasattr(e, "add_note") else None
                raise
        return data

    def __repr__(self):
        inner = "".join(f"\n    {t}" for t in self.transforms)
        return f"{type(self).__name__}({inner}\n)"


class BaseTransform:
    """Applies ``_apply_image``, ``_apply_boxes``, ``_apply_mask`` ... to what `keys` says the inputs are.

    Args:
        keys (list of str, optional): one per input; inputs beyond them pass as they are. ("image",) by default.
    """

    def __init__(self, keys=None):
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence) or isinstance(keys, str):
            raise ValueError(f"keys should be a sequence, but got keys={keys}")
        self.keys = keys
        self.params = None

    def _get_params(self, inputs):
        """What one call draws; read by the ``_apply_`` methods."""

    def __call__(self, inputs):
        if not isinstance(inputs, tuple):
            inputs = (inputs,)
        self.params = self._get_params(inputs)
        outputs = []
        for i, value in enumerate(inputs):
            apply = getattr(self, f"_apply_{self.keys[i]}", None) if i < len(self.keys) else None
            outputs.append(value if apply is None else apply(value))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _apply_image(self, image):
        raise NotImplementedError

    def _apply_boxes(self, boxes):
        raise NotImplementedError

    def _apply_mask(self, mask):
        raise NotImplementedError


class ToTensor(BaseTransform):
    """``to_tensor``."""

    def __init__(self, data_format="CHW", keys=None):
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, img):
        return F.to_tensor(img, self.data_format)


class Resize(BaseTransform):
    """``resize``."""

    def __init__(self, size, interpolation="bilinear", keys=None):
        super().__init__(keys)
        if not (isinstance(size, int) or (isinstance(size, (list, tuple)) and len(size) == 2)):
            raise AssertionError(f"[Resize] expected size to be an int or a pair, got {size}")
        self.size = size
        self.interpolation = interpolation

    def _apply_image(self, img):
        return F.resize(img, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """``center_crop``."""

    def __init__(self, size, keys=None):
        super().__init__(keys)
        self.size = (int(size), int(size)) if isinstance(size, numbers.Number) else size

    def _apply_image(self, img):
        return F.center_crop(img, self.size)


class Normalize(BaseTransform):
    """``normalize``; one number counts for three channels."""

    def __init__(self, mean=0.0, std=1.0, data_format="CHW", to_rgb=False, keys=None):
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, numbers.Number) else mean
        self.std = [std] * 3 if isinstance(std, numbers.Number) else std
        self.data_format = data_format
        self.to_rgb = to_rgb

    def _apply_image(self, img):
        return F.normalize(img, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """Axes in another order: [C, H, W] of [H, W, C] by default."""

    def __init__(self, order=(2, 0, 1), keys=None):
        super().__init__(keys)
        self.order = order

    def _apply_image(self, img):
        if F._is_tensor(img):
            return img.transpose(self.order)
        if F._is_pil(img):
            import numpy as np

            img = np.asarray(img)
        if img.ndim == 2:
            img = img[..., None]
        return img.transpose(self.order)


class Pad(BaseTransform):
    """``pad``."""

    def __init__(self, padding, fill=0, padding_mode="constant", keys=None):
        super().__init__(keys)
        if not isinstance(padding, (numbers.Number, list, tuple)):
            raise AssertionError(f"[Pad] expected padding to be a number or a list, got {padding}")
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise AssertionError(f"[Pad] expected constant, edge, reflect or symmetric, got {padding_mode}")
        if isinstance(padding, Sequence) and len(padding) not in (1, 2, 4):
            raise ValueError(f"Padding must be an int or a 2, or 4 element tuple, not a {len(padding)} element tuple")
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(BaseTransform):
    """``to_grayscale``."""

    def __init__(self, num_output_channels=1, keys=None):
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, img):
        return F.to_grayscale(img, self.num_output_channels)
