"""Transformations of arrays [H, W, C], in NumPy alone. Conventions are those of OpenCV, which official Paddle uses."""

from __future__ import annotations

import numbers

import numpy as np

from . import geometry

__all__ = []

_PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


def _rounded(values, dtype):
    """In the dtype of the image; integers are rounded and held within their range."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return np.clip(np.rint(values), info.min, info.max).astype(dtype)
    return values.astype(dtype)


def _cubic(distance, a=-0.75):
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _resized_axis(img, out, axis, interpolation):
    n = img.shape[axis]
    if interpolation == "nearest":
        index = np.minimum((np.arange(out) * (n / out)).astype(np.int64), n - 1)
        return np.take(img, index, axis)
    if interpolation == "area" and n >= out:
        edges = np.arange(out + 1) * (n / out)
        total = np.concatenate([np.zeros_like(np.take(img, [0], axis)), np.cumsum(img, axis)], axis)
        low = np.minimum(np.floor(edges).astype(np.int64), n - 1)
        part = (edges - low).reshape([-1] + [1] * (img.ndim - axis - 1))
        at = np.take(total, low, axis) + part * np.take(img, low, axis)
        return np.diff(at, axis=axis) / (n / out)
    source = (np.arange(out) + 0.5) * (n / out) - 0.5
    base = np.floor(source).astype(np.int64)
    taps = {"bilinear": (0, 1), "area": (0, 1), "bicubic": (-1, 0, 1, 2)}[interpolation]
    total = 0.0
    for tap in taps:
        distance = source - (base + tap)
        weight = 1 - np.abs(distance) if len(taps) == 2 else _cubic(distance)
        shape = [-1] + [1] * (img.ndim - axis - 1)
        total = total + np.take(img, np.clip(base + tap, 0, n - 1), axis) * weight.reshape(shape)
    return total


def resize(img, size, interpolation="bilinear"):
    if interpolation not in ("nearest", "bilinear", "bicubic", "area"):
        raise ValueError(f"[resize] interpolation {interpolation!r} is not available for arrays")
    height, width = geometry.target_size(size, *img.shape[:2])
    if (height, width) == img.shape[:2]:
        return img
    if interpolation == "nearest":
        return _resized_axis(_resized_axis(img, height, 0, interpolation), width, 1, interpolation)
    work = img.astype(np.float64)
    return _rounded(_resized_axis(_resized_axis(work, width, 1, interpolation), height, 0, interpolation), img.dtype)


def pad(img, padding, fill=0, padding_mode="constant"):
    left, top, right, bottom = geometry.four_paddings(padding)
    widths = ((top, bottom), (left, right)) + ((0, 0),) * (img.ndim - 2)
    if padding_mode != "constant":
        return np.pad(img, widths, _PAD_MODES[padding_mode])
    if isinstance(fill, numbers.Number) or img.ndim == 2:
        value = fill if isinstance(fill, numbers.Number) else fill[0]
        return np.pad(img, widths, "constant", constant_values=value)
    values = geometry.fill_values(fill, img.shape[2])
    planes = [np.pad(img[..., c], widths[:2], "constant", constant_values=v) for c, v in enumerate(values)]
    return np.stack(planes, -1)


def crop(img, top, left, height, width):
    return img[top : top + height, left : left + width]


def center_crop(img, output_size):
    if isinstance(output_size, numbers.Number):
        output_size = (int(output_size), int(output_size))
    rows, cols = output_size
    top, left = int(round((img.shape[0] - rows) / 2.0)), int(round((img.shape[1] - cols) / 2.0))
    return crop(img, top, left, rows, cols)


def hflip(img):
    return np.ascontiguousarray(img[:, ::-1])


def vflip(img):
    return np.ascontiguousarray(img[::-1])


def _table(img, values):
    """Every level of an 8-bit image replaced by that of a table; of other images, the same formula."""
    return np.clip(values, 0, 255).astype(np.uint8)[img]


def _grey(img):
    return img[..., 0] * 0.299 + img[..., 1] * 0.587 + img[..., 2] * 0.114


def adjust_brightness(img, factor):
    if img.dtype == np.uint8:
        return _table(img, np.arange(256) * factor)
    return (img * factor).astype(img.dtype)


def adjust_contrast(img, factor):
    if img.dtype == np.uint8:  # official Paddle turns levels about this one, whatever the image's own mean
        return _table(img, (np.arange(256) - 74) * factor + 74)
    mean = round(float(np.mean(_rounded(_grey(img), img.dtype) if img.ndim == 3 and img.shape[2] == 3 else img)))
    return ((img - mean) * factor + mean).astype(img.dtype)


def adjust_saturation(img, factor):
    blended = img * factor + _grey(img.astype(np.float64))[..., None] * (1 - factor)
    if np.issubdtype(img.dtype, np.integer):
        blended = np.clip(blended, 0, 255)
    return blended.astype(img.dtype)


def adjust_hue(img, factor):
    if not -0.5 <= factor <= 0.5:
        raise ValueError(f"hue_factor:{factor} is not in [-0.5, 0.5].")
    if img.ndim < 3 or img.shape[2] == 1:
        return img
    top = 255.0 if np.issubdtype(img.dtype, np.integer) else 1.0
    hue, saturation, value = _to_hsv(img / top)
    return _rounded(_from_hsv((hue + factor) % 1.0, saturation, value) * top, img.dtype)


def _to_hsv(rgb):
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    high, low = rgb.max(-1), rgb.min(-1)
    chroma = high - low
    safe = np.where(chroma == 0, 1, chroma)
    hue = np.where(high == r, (g - b) / safe % 6, np.where(high == g, (b - r) / safe + 2, (r - g) / safe + 4)) / 6
    return np.where(chroma == 0, 0, hue), np.where(high == 0, 0, chroma / np.where(high == 0, 1, high)), high


def _from_hsv(hue, saturation, value):
    def channel(n):
        k = (n + hue * 6) % 6
        return value - value * saturation * np.clip(np.minimum(k, 4 - k), 0, 1)

    return np.stack([channel(5), channel(3), channel(1)], -1)


def _sampled(img, x, y, interpolation, fill):
    """The image at pixel positions x, y; `fill` outside."""
    if img.ndim == 2:
        return _sampled(img[..., None], x, y, interpolation, fill)[..., 0]
    height, width, channels = img.shape
    values = np.array(geometry.fill_values(fill, channels), np.float64)

    def at(ix, iy):
        inside = (ix >= 0) & (ix < width) & (iy >= 0) & (iy < height)
        pixels = img[np.clip(iy, 0, height - 1), np.clip(ix, 0, width - 1)]
        return np.where(inside[..., None], pixels, values)

    if interpolation == "nearest":
        return _rounded(at(np.rint(x).astype(np.int64), np.rint(y).astype(np.int64)), img.dtype)
    bx, by = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    taps = (0, 1) if interpolation == "bilinear" else (-1, 0, 1, 2)
    total = 0.0
    for i in taps:
        for j in taps:
            dx, dy = x - (bx + i), y - (by + j)
            w = (1 - np.abs(dx)) * (1 - np.abs(dy)) if len(taps) == 2 else _cubic(dx) * _cubic(dy)
            total = total + at(bx + i, by + j) * w[..., None]
    return _rounded(total, img.dtype)


def affine(img, matrix, interpolation="nearest", fill=0):
    x, y = geometry.grid(*img.shape[:2])
    a, b, c, d, e, f = matrix
    return _sampled(img, a * x + b * y + c, d * x + e * y + f, interpolation, fill)


def rotate(img, angle, interpolation="nearest", expand=False, center=None, fill=0):
    height, width = img.shape[:2]
    cx, cy = (width / 2, height / 2) if center is None else center
    a, b, c, d, e, f = geometry.affine_inverse((cx, cy), -angle, (0, 0), 1.0, (0, 0))
    out_width, out_height = geometry.rotated_size(width, height, angle) if expand else (width, height)
    x, y = geometry.grid(out_height, out_width)
    x, y = x - (out_width - width) / 2, y - (out_height - height) / 2
    return _sampled(img, a * x + b * y + c, d * x + e * y + f, interpolation, fill)


def perspective(img, startpoints, endpoints, interpolation="nearest", fill=0):
    a, b, c, d, e, f, g, h = geometry.perspective_coefficients(startpoints, endpoints)
    x, y = geometry.grid(*img.shape[:2])
    w = g * x + h * y + 1
    return _sampled(img, (a * x + b * y + c) / w, (d * x + e * y + f) / w, interpolation, fill)


def to_grayscale(img, num_output_channels=1):
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    grey = _rounded(_grey(img), img.dtype)[..., None]
    return grey if num_output_channels == 1 else np.broadcast_to(grey, (*grey.shape[:2], 3)).copy()


def normalize(img, mean, std, data_format="CHW", to_rgb=False):
    mean, std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
    if data_format == "CHW":
        mean, std = mean.reshape(-1, 1, 1), std.reshape(-1, 1, 1)
    img = np.asarray(img).astype(np.float32)
    if to_rgb:
        img = img[::-1] if data_format == "CHW" else img[..., ::-1]
    return (img - mean) / std


def erase(img, i, j, h, w, v, inplace=False):
    img = img if inplace else img.copy()
    img[i : i + h, j : j + w] = v
    return img
