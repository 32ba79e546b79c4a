"""Random crops, flips, rotations and other maps."""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Sequence

import numpy as np

from . import functional as F  # noqa: N812
from .transforms import BaseTransform

__all__ = []


class RandomResizedCrop(BaseTransform):
    """A rectangle of random size and place, resized.

    Args:
        size (int | pair): (height, width) of the result.
        scale (pair): the share of the image's area that the rectangle has.
        ratio (pair): its width over its height.
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4, 4.0 / 3), interpolation="bilinear", keys=None):
        super().__init__(keys)
        self.size = (size, size) if isinstance(size, int) else size
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            raise AssertionError("scale and ratio should be of kind (min, max)")
        self.scale, self.ratio, self.interpolation = scale, ratio, interpolation

    def _get_param(self, image, attempts=10):
        width, height = F._size(image)
        for _ in range(attempts):
            area = random.uniform(*self.scale) * width * height
            ratio = math.exp(random.uniform(*(math.log(r) for r in self.ratio)))
            w, h = int(round(math.sqrt(area * ratio))), int(round(math.sqrt(area / ratio)))
            if 0 < w <= width and 0 < h <= height:
                return random.randint(0, height - h), random.randint(0, width - w), h, w
        ratio = width / height  # none fitted: the largest one in the middle
        w, h = width, height
        if ratio < min(self.ratio):
            h = int(round(w / min(self.ratio)))
        elif ratio > max(self.ratio):
            w = int(round(h * max(self.ratio)))
        return (height - h) // 2, (width - w) // 2, h, w

    def _apply_image(self, img):
        return F.resize(F.crop(img, *self._get_param(img)), self.size, self.interpolation)


class RandomCrop(BaseTransform):
    """A rectangle of the given size at a random place, after padding where asked for."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant", keys=None):
        super().__init__(keys)
        self.size = (int(size), int(size)) if isinstance(size, numbers.Number) else size
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    def _get_param(self, img, output_size):
        width, height = F._size(img)
        rows, cols = output_size
        if (rows, cols) == (height, width):
            return 0, 0, height, width
        if height < rows or width < cols:
            raise ValueError(f"Required crop size {(rows, cols)} is larger then input image size {(height, width)}")
        return random.randint(0, height - rows), random.randint(0, width - cols), rows, cols

    def _apply_image(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        width, height = F._size(img)
        if self.pad_if_needed and width < self.size[1]:
            img = F.pad(img, (self.size[1] - width, 0), self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            img = F.pad(img, (0, self.size[0] - height), self.fill, self.padding_mode)
        return F.crop(img, *self._get_param(img, self.size))


class _RandomFlip(BaseTransform):
    """A flip with probability `prob`."""

    def __init__(self, prob=0.5, keys=None):
        super().__init__(keys)
        if not 0 <= prob <= 1:
            raise AssertionError("probability must be between 0 and 1")
        self.prob = prob

    def _apply_image(self, img):
        return self._flip(img) if random.random() < self.prob else img


class RandomHorizontalFlip(_RandomFlip):
    """``hflip`` with probability `prob`."""

    _flip = staticmethod(F.hflip)


class RandomVerticalFlip(_RandomFlip):
    """``vflip`` with probability `prob`."""

    _flip = staticmethod(F.vflip)


def _angles(value, name, sizes=(2,)):
    """[-value, value] of a number; a list of one of the lengths `sizes` as it is."""
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [-float(value), float(value)]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be a sequence of length {sizes}.")
    if len(value) not in sizes:
        raise ValueError(f"{name} should be sequence of length {sizes}.")
    return [float(v) for v in value]


class RandomRotation(BaseTransform):
    """``rotate`` by an angle of [-degrees, degrees] or [degrees[0], degrees[1]]."""

    def __init__(self, degrees, interpolation="nearest", expand=False, center=None, fill=0, keys=None):
        super().__init__(keys)
        self.degrees = _angles(degrees, "degrees")
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def _get_param(self, degrees):
        return random.uniform(degrees[0], degrees[1])

    def _apply_image(self, img):
        angle = self._get_param(self.degrees)
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """``affine`` by what is drawn.

    Args:
        degrees (number | pair): angles.
        translate (pair, optional): the largest shares of width and height to move by.
        scale (pair, optional): factors.
        shear (number | pair | four, optional): angles along x, and along y.
    """

    def __init__(
        self, degrees, translate=None, scale=None, shear=None, interpolation="nearest", fill=0, center=None, keys=None
    ):
        super().__init__(keys)
        self.degrees = _angles(degrees, "degrees")
        for value, low, high, name in ((translate, 0.0, 1.0, "translation"), (scale, 1e-30, math.inf, "scale")):
            if value is None:
                continue
            if not isinstance(value, Sequence) or len(value) != 2:
                raise TypeError(f"{name} should be a sequence of length 2.")
            if not all(low <= v <= high for v in value):
                raise ValueError(f"{name} values should be between {low:g} and {high:g}")
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else _angles(shear, "shear", (2, 4))
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def _get_param(self, img_size, degrees, translate=None, scale_ranges=None, shears=None):
        width, height = img_size
        moves = (0, 0)
        if translate is not None:
            x, y = translate[0] * width, translate[1] * height
            moves = (int(round(random.uniform(-x, x))), int(round(random.uniform(-y, y))))
        scale = 1.0 if scale_ranges is None else random.uniform(*scale_ranges)
        shear = [0.0, 0.0]
        if shears is not None:
            shear[0] = random.uniform(shears[0], shears[1])
            if len(shears) == 4:
                shear[1] = random.uniform(shears[2], shears[3])
        return random.uniform(*degrees), moves, scale, shear

    def _apply_image(self, img):
        drawn = self._get_param(F._size(img), self.degrees, self.translate, self.scale, self.shear)
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=self.fill, center=self.center)


class RandomPerspective(BaseTransform):
    """``perspective`` with corners moved inwards by at most `distortion_scale` of half the size, with probability
    `prob`."""

    def __init__(self, prob=0.5, distortion_scale=0.5, interpolation="nearest", fill=0, keys=None):
        super().__init__(keys)
        if not 0 <= prob <= 1:
            raise AssertionError("probability must be between 0 and 1")
        if not 0 <= distortion_scale <= 1:
            raise AssertionError("distortion_scale must be between 0 and 1")
        if not isinstance(fill, (numbers.Number, str, list, tuple)):
            raise AssertionError("fill must be a number or a sequence")
        self.prob, self.distortion_scale, self.interpolation, self.fill = prob, distortion_scale, interpolation, fill

    def get_params(self, width, height, distortion_scale):
        """(corners, where they go): lists of four [x, y]."""
        dx, dy = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        near_x, near_y = (lambda: random.randint(0, dx)), (lambda: random.randint(0, dy))
        ends = [
            [near_x(), near_y()], [width - 1 - near_x(), near_y()],
            [width - 1 - near_x(), height - 1 - near_y()], [near_x(), height - 1 - near_y()],
        ]  # fmt: skip
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends

    def _apply_image(self, img):
        if random.random() >= self.prob:
            return img
        start, end = self.get_params(*F._size(img), self.distortion_scale)
        return F.perspective(img, start, end, self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """``erase`` of a random rectangle, with probability `prob`.

    Args:
        scale (pair): the share of the image's area.
        ratio (pair): height over width.
        value (number | sequence | "random"): what stands there afterwards, per channel.
    """

    def __init__(self, prob=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False, keys=None):
        super().__init__(keys)
        if not isinstance(scale, (tuple, list)) or not isinstance(ratio, (tuple, list)):
            raise AssertionError("scale and ratio should be a tuple or list")
        if not (0 <= scale[0] <= scale[1] <= 1 and ratio[0] <= ratio[1] and 0 <= prob <= 1):
            raise AssertionError("scale and prob should be within [0, 1], and pairs of kind (min, max)")
        if isinstance(value, str) and value != "random":
            raise ValueError("value must be 'random' when type is str")
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise TypeError("value should be either a number, a str or a sequence")
        self.prob, self.scale, self.ratio, self.value, self.inplace = prob, scale, ratio, value, inplace

    def _get_param(self, img, scale, ratio, value):
        width, height = F._size(img)
        tensor = F._is_tensor(img)
        channels = img.shape[-3] if tensor else (len(img.getbands()) if F._is_pil(img) else np.atleast_3d(img).shape[2])
        for _ in range(10):
            area = random.uniform(*scale) * width * height
            r = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
            h, w = int(round(math.sqrt(area * r))), int(round(math.sqrt(area / r)))
            if h >= height or w >= width:
                continue
            top, left = random.randint(0, height - h), random.randint(0, width - w)
            return top, left, h, w, self._filling(value, channels, h, w, tensor, img)
        return 0, 0, height, width, img

    @staticmethod
    def _filling(value, channels, h, w, tensor, img):
        import paddle

        if value == "random":
            if tensor:
                return paddle.randn([channels, h, w]).astype(img.dtype)
            return np.random.normal(size=(h, w, channels)) * 255
        if tensor:
            return paddle.to_tensor(np.asarray(value).reshape(-1, 1, 1)).astype(img.dtype)
        return np.asarray(value).reshape(-1)

    def _apply_image(self, img):
        if random.random() >= self.prob:
            return img
        value = list(self.value) if isinstance(self.value, (tuple, list)) else self.value
        top, left, h, w, filling = self._get_param(img, self.scale, self.ratio, value)
        return img if filling is img else F.erase(img, top, left, h, w, filling, self.inplace)
