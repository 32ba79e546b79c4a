"""Transformations as functions. Each takes a PIL image, an array [H, W, C] or a tensor [C, H, W], and returns the same
kind. Sizes are in pixels, angles in degrees; interpolation is "nearest", "bilinear" or "bicubic" (for PIL images also
"box", "lanczos" and "hamming", for arrays "area").
"""

from __future__ import annotations

import numbers

import numpy as np
import paddle

from . import functional_cv2, functional_tensor, geometry

__all__ = []


def _is_pil(img):
    """PIL is asked for only where it has been imported already: no image can come from it otherwise."""
    import sys

    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(img, module.Image)


def _is_tensor(img):
    return isinstance(img, paddle.Tensor)


def _is_numpy(img):
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


def _form(img):
    """The module for this kind of image.

    Raises:
        TypeError: another kind.
    """
    if _is_tensor(img):
        return functional_tensor
    if _is_pil(img):
        from . import functional_pil

        return functional_pil
    if _is_numpy(img):
        return functional_cv2
    raise TypeError(f"img should be PIL Image or Tensor Image or ndarray with dim=[2 or 3]. Got {type(img)}")


def to_tensor(pic, data_format="CHW"):
    """A float32 tensor of a PIL image or an array [H, W, C] (or [H, W]); 8-bit levels are divided by 255.

    Raises:
        TypeError: neither. ValueError: another `data_format`.
    """
    if _is_tensor(pic):
        return pic
    if not (_is_pil(pic) or _is_numpy(pic)):
        raise TypeError(f"pic should be PIL Image or Tensor Image or ndarray with dim=[2 or 3]. Got {type(pic)}")
    if data_format.lower() not in ("chw", "hwc"):
        raise ValueError(f"data_format should be CHW or HWC. Got {data_format}")
    if _is_pil(pic):
        from . import functional_pil

        array = functional_pil.to_array(pic)
    else:
        array = pic[:, :, None] if pic.ndim == 2 else pic
    scale = array.dtype == np.uint8
    if data_format.lower() == "chw":
        array = array.transpose(2, 0, 1)
    tensor = paddle.to_tensor(np.ascontiguousarray(array))
    tensor = tensor if tensor.dtype == paddle.float32 else tensor.astype("float32")
    return tensor / 255.0 if scale else tensor


def resize(img, size, interpolation="bilinear"):
    """To `size`: (height, width), or an int for the shorter side."""
    return _form(img).resize(img, size, interpolation)


def pad(img, padding, fill=0, padding_mode="constant"):
    """Padded by an int, (left and right, top and bottom), or (left, top, right, bottom).

    Args:
        fill (number | tuple): for "constant".
        padding_mode (str): "constant", "edge", "reflect" (without the edge) or "symmetric".
    """
    return _form(img).pad(img, padding, fill, padding_mode)


def crop(img, top, left, height, width):
    """A rectangle of the image."""
    return _form(img).crop(img, top, left, height, width)


def center_crop(img, output_size):
    """The middle of the image: (height, width), or an int for a square."""
    return _form(img).center_crop(img, output_size)


def hflip(img):
    """Left and right exchanged."""
    return _form(img).hflip(img)


def vflip(img):
    """Top and bottom exchanged."""
    return _form(img).vflip(img)


def adjust_brightness(img, brightness_factor):
    """Levels times the factor: 0 is black, 1 the image itself."""
    return _form(img).adjust_brightness(img, brightness_factor)


def adjust_contrast(img, contrast_factor):
    """Levels away from their mean by the factor: 0 is grey, 1 the image itself."""
    return _form(img).adjust_contrast(img, contrast_factor)


def adjust_saturation(img, saturation_factor):
    """Colours away from their grey by the factor: 0 is without colour, 1 the image itself."""
    return _form(img).adjust_saturation(img, saturation_factor)


def adjust_hue(img, hue_factor):
    """Hues turned by the factor, a share of the circle in [-0.5, 0.5].

    Raises:
        ValueError: outside of that.
    """
    return _form(img).adjust_hue(img, hue_factor)


def _size(img):
    """(width, height)."""
    if _is_pil(img):
        return img.size
    return (img.shape[-1], img.shape[-2]) if _is_tensor(img) else (img.shape[1], img.shape[0])


def affine(img, angle, translate, scale, shear, interpolation="nearest", fill=0, center=None):
    """Rotated by `angle` clockwise, scaled and sheared about the centre, then moved.

    Args:
        translate (pair): in pixels, to the right and down.
        shear (number | pair): along x, and y.

    Raises:
        TypeError: an argument is of another kind. ValueError: `translate` or `shear` is no pair, `scale` not above 0.
    """
    form = _form(img)
    if not isinstance(angle, numbers.Number):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, (numbers.Number, list, tuple)):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shear = [shear, 0.0] if isinstance(shear, numbers.Number) else list(shear)
    shear = shear * 2 if len(shear) == 1 else shear
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    width, height = _size(img)
    if center is None:
        # Tensors count pixels by their centres; of arrays official Paddle turns the same point as of PIL's images.
        tensor = isinstance(img, paddle.Tensor)
        center = ((width - 1) * 0.5, (height - 1) * 0.5) if tensor else (width * 0.5, height * 0.5)
    matrix = geometry.affine_inverse(center, angle, translate, scale, shear)
    return form.affine(img, matrix, interpolation, fill)


def rotate(img, angle, interpolation="nearest", expand=False, center=None, fill=0):
    """Rotated counter-clockwise about `center` ((x, y), the middle by default); `expand` shows the whole result."""
    return _form(img).rotate(img, angle, interpolation, expand, center, fill)


def perspective(img, startpoints, endpoints, interpolation="nearest", fill=0):
    """The perspective map that takes four points to four others ([x, y] each)."""
    return _form(img).perspective(img, startpoints, endpoints, interpolation, fill)


def to_grayscale(img, num_output_channels=1):
    """Without colour, with 1 channel or 3 equal ones."""
    return _form(img).to_grayscale(img, num_output_channels)


def normalize(img, mean, std, data_format="CHW", to_rgb=False):
    """(img - mean) / std per channel; arrays and PIL images become float32 arrays."""
    if _is_tensor(img):
        return functional_tensor.normalize(img, mean, std, data_format, to_rgb)
    if _is_pil(img):
        img = np.array(img).astype(np.float32)
    return functional_cv2.normalize(img, mean, std, data_format, to_rgb)


def erase(img, i, j, h, w, v, inplace=False):
    """The rectangle of `h` rows and `w` columns from row `i`, column `j` on replaced by `v`."""
    if _is_tensor(img):
        return functional_tensor.erase(img, i, j, h, w, v, inplace)
    if _is_pil(img):
        from PIL import Image

        return Image.fromarray(functional_cv2.erase(np.array(img), i, j, h, w, v, True))
    return functional_cv2.erase(img, i, j, h, w, v, inplace)
