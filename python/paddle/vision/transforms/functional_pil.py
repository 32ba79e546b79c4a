"""Transformations of PIL images."""

from __future__ import annotations

import numbers

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from . import geometry

__all__ = []

_RESAMPLING = Image.Resampling
_MODES = {
    "nearest": _RESAMPLING.NEAREST, "bilinear": _RESAMPLING.BILINEAR, "bicubic": _RESAMPLING.BICUBIC,
    "box": _RESAMPLING.BOX, "lanczos": _RESAMPLING.LANCZOS, "hamming": _RESAMPLING.HAMMING,
}  # fmt: skip


def to_array(img):
    """The image as an array [H, W, C]."""
    if img.mode == "1":
        array = 255 * np.array(img, np.uint8)
    elif img.mode == "I;16":
        array = np.array(img, np.int16)
    else:
        array = np.array(img)
    return array[:, :, None] if array.ndim == 2 else array


def resize(img, size, interpolation="bilinear"):
    width, height = img.size
    out_height, out_width = geometry.target_size(size, height, width)
    if (out_height, out_width) == (height, width):
        return img
    return img.resize((out_width, out_height), _MODES[interpolation])


def pad(img, padding, fill=0, padding_mode="constant"):
    left, top, right, bottom = geometry.four_paddings(padding)
    if padding_mode == "constant":
        return ImageOps.expand(img, border=(left, top, right, bottom), fill=_fill(img, fill))
    palette = img.getpalette() if img.mode == "P" else None
    array = np.asarray(img)
    widths = ((top, bottom), (left, right)) + ((0, 0),) * (array.ndim - 2)
    out = Image.fromarray(np.pad(array, widths, padding_mode))
    if palette is not None:
        out.putpalette(palette)
    return out


def crop(img, top, left, height, width):
    return img.crop((left, top, left + width, top + height))


def center_crop(img, output_size):
    if isinstance(output_size, numbers.Number):
        output_size = (int(output_size), int(output_size))
    width, height = img.size
    rows, cols = output_size
    return crop(img, int(round((height - rows) / 2.0)), int(round((width - cols) / 2.0)), rows, cols)


def hflip(img):
    return img.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def vflip(img):
    return img.transpose(Image.Transpose.FLIP_TOP_BOTTOM)


def adjust_brightness(img, factor):
    return ImageEnhance.Brightness(img).enhance(factor)


def adjust_contrast(img, factor):
    return ImageEnhance.Contrast(img).enhance(factor)


def adjust_saturation(img, factor):
    return ImageEnhance.Color(img).enhance(factor)


def adjust_hue(img, factor):
    if not -0.5 <= factor <= 0.5:
        raise ValueError(f"hue_factor:{factor} is not in [-0.5, 0.5].")
    mode = img.mode
    if mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    shifted = (np.array(hue, np.int32) + int(factor * 255)) % 256
    return Image.merge("HSV", (Image.fromarray(shifted.astype(np.uint8)), saturation, value)).convert(mode)


def affine(img, matrix, interpolation="nearest", fill=0):
    return img.transform(img.size, Image.Transform.AFFINE, matrix, _MODES[interpolation], fillcolor=_fill(img, fill))


def rotate(img, angle, interpolation="nearest", expand=False, center=None, fill=0):
    return img.rotate(angle, _MODES[interpolation], expand, center, fillcolor=_fill(img, fill))


def perspective(img, startpoints, endpoints, interpolation="nearest", fill=0):
    coefficients = geometry.perspective_coefficients(startpoints, endpoints)
    return img.transform(
        img.size, Image.Transform.PERSPECTIVE, coefficients, _MODES[interpolation], fillcolor=_fill(img, fill)
    )


def _fill(img, fill):
    values = tuple(geometry.fill_values(fill, len(img.getbands())))
    return values[0] if len(values) == 1 else values


def to_grayscale(img, num_output_channels=1):
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    grey = img.convert("L")
    return grey if num_output_channels == 1 else Image.merge("RGB", (grey, grey, grey))
