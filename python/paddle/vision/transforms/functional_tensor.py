"""Transformations of tensors, [C, H, W] or [H, W, C], with gradients."""

from __future__ import annotations

import numbers

import numpy as np
import paddle

from . import geometry

__all__ = []


def _check(img, data_format):
    if data_format.lower() not in ("chw", "hwc"):
        raise ValueError(f"data_format should in ('chw', 'hwc'), got {data_format}")
    if len(img.shape) not in (2, 3, 4):
        raise RuntimeError(f"not support [ndim={len(img.shape)}] paddle image")


def _axes(img, data_format):
    """The axes of (channels, rows, columns), from the end."""
    _check(img, data_format)
    return (-3, -2, -1) if data_format.lower() == "chw" else (-1, -3, -2)


def _top(img):
    return 1.0 if paddle.is_floating_point(img) else 255.0


def _as(value, dtype):
    return value if value.dtype == dtype else value.astype(dtype)


def normalize(img, mean, std, data_format="CHW", to_rgb=False):
    channel = _axes(img, data_format)[0]
    shape = [-1, 1, 1] if channel == -3 else [-1]
    mean, std = (paddle.to_tensor(np.asarray(v, np.float32)).astype(img.dtype).reshape(shape) for v in (mean, std))
    if to_rgb:
        img = paddle.flip(img, [len(img.shape) + channel])
    return (img - mean) / std


def _grey(img, channel):
    weights = paddle.to_tensor([0.2989, 0.5870, 0.1140], dtype="float32")
    work = _as(img, paddle.float32) if not paddle.is_floating_point(img) else img
    weights = _as(weights, work.dtype).reshape([-1, 1, 1] if channel == -3 else [-1])
    return (work * weights).sum(channel, keepdim=True)


def to_grayscale(img, num_output_channels=1, data_format="CHW"):
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    channel = _axes(img, data_format)[0]
    grey = _as(_grey(img, channel), img.dtype)
    if num_output_channels == 1:
        return grey
    return paddle.concat([grey] * 3, axis=channel)


def _blend(img, other, factor):
    work = img if paddle.is_floating_point(img) else img.astype("float32")
    return _as((work * factor + other * (1 - factor)).clip(0, _top(img)), img.dtype)


def adjust_brightness(img, factor):
    return _blend(img, 0.0, factor)


def adjust_contrast(img, factor):
    grey = _grey(img, -3)
    return _blend(img, grey.mean([-3, -2, -1], keepdim=True), factor)


def adjust_saturation(img, factor):
    return _blend(img, _grey(img, -3), factor)


def adjust_hue(img, factor):
    if not -0.5 <= factor <= 0.5:
        raise ValueError(f"hue_factor:{factor} is not in [-0.5, 0.5].")
    if img.shape[-3] == 1:
        return img
    top = _top(img)
    hue, saturation, value = _to_hsv(img if top == 1.0 else img.astype("float32") / top)
    out = _from_hsv(paddle.remainder(hue + factor, paddle.ones_like(hue)), saturation, value)
    return out if top == 1.0 else _as((out * top).round().clip(0, 255), img.dtype)


def _to_hsv(rgb):
    r, g, b = (t.squeeze(-3) for t in paddle.split(rgb, 3, axis=-3))
    high, low = rgb.max(-3), rgb.min(-3)
    chroma = high - low
    grey = chroma == 0
    safe = paddle.where(grey, paddle.ones_like(chroma), chroma)
    six = paddle.full_like(safe, 6.0)
    hue = paddle.where(
        high == r,
        paddle.remainder((g - b) / safe, six),
        paddle.where(high == g, (b - r) / safe + 2.0, (r - g) / safe + 4.0),
    )
    saturation = paddle.where(grey, paddle.zeros_like(chroma), chroma / paddle.where(high == 0, safe, high))
    return paddle.where(grey, paddle.zeros_like(hue), hue / 6.0), saturation, high


def _from_hsv(hue, saturation, value):
    six = paddle.full_like(hue, 6.0)

    def channel(n):
        k = paddle.remainder(hue * 6.0 + n, six)
        return value - value * saturation * paddle.minimum(k, 4.0 - k).clip(0.0, 1.0)

    return paddle.stack([channel(5.0), channel(3.0), channel(1.0)], axis=-3)


def resize(img, size, interpolation="bilinear", data_format="CHW"):
    _, rows, cols = _axes(img, data_format)
    height, width = geometry.target_size(size, img.shape[rows], img.shape[cols])
    layout = "NCHW" if data_format.lower() == "chw" else "NHWC"
    batch = img if len(img.shape) == 4 else img.unsqueeze(0)
    work = batch if paddle.is_floating_point(batch) else batch.astype("float32")
    out = paddle.nn.functional.interpolate(work, size=[height, width], mode=interpolation.lower(), data_format=layout)
    out = _as(out, img.dtype)
    return out if len(img.shape) == 4 else out.squeeze(0)


def pad(img, padding, fill=0, padding_mode="constant", data_format="CHW"):
    _check(img, data_format)
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise AssertionError("Padding mode should be either constant, edge, reflect or symmetric")
    left, top, right, bottom = geometry.four_paddings(padding)
    if padding_mode == "symmetric":
        return _symmetric(img, (left, top, right, bottom), data_format)
    layout = "NCHW" if data_format.lower() == "chw" else "NHWC"
    mode = {"edge": "replicate"}.get(padding_mode, padding_mode)
    batch = img if len(img.shape) == 4 else img.unsqueeze(0)
    value = fill if isinstance(fill, numbers.Number) else fill[0]
    out = paddle.nn.functional.pad(batch, [left, right, top, bottom], mode=mode, value=float(value), data_format=layout)
    return out if len(img.shape) == 4 else out.squeeze(0)


def _symmetric(img, padding, data_format):
    _, rows, cols = _axes(img, data_format)
    left, top, right, bottom = padding
    for axis, before, after in ((rows, top, bottom), (cols, left, right)):
        n = img.shape[axis]
        index = list(range(before - 1, -1, -1)) + list(range(n)) + list(range(n - 1, n - 1 - after, -1))
        img = paddle.index_select(img, paddle.to_tensor(index, dtype="int64"), axis=len(img.shape) + axis)
    return img


def crop(img, top, left, height, width, data_format="CHW"):
    _check(img, data_format)
    if data_format.lower() == "chw":
        return img[..., top : top + height, left : left + width]
    return img[..., top : top + height, left : left + width, :]


def center_crop(img, output_size, data_format="CHW"):
    _, rows, cols = _axes(img, data_format)
    if isinstance(output_size, numbers.Number):
        output_size = (int(output_size), int(output_size))
    height, width = output_size
    top = int(round((img.shape[rows] - height) / 2.0))
    left = int(round((img.shape[cols] - width) / 2.0))
    return crop(img, top, left, height, width, data_format)


def hflip(img, data_format="CHW"):
    return paddle.flip(img, [len(img.shape) + _axes(img, data_format)[2]])


def vflip(img, data_format="CHW"):
    return paddle.flip(img, [len(img.shape) + _axes(img, data_format)[1]])


def _sampled(img, x, y, interpolation, fill, data_format):
    """The image at pixel positions x, y (arrays); `fill` outside."""
    chw = data_format.lower() == "chw"
    batch = img.unsqueeze(0) if len(img.shape) == 3 else img
    batch = batch if chw else batch.transpose([0, 3, 1, 2])
    work = batch if paddle.is_floating_point(batch) else batch.astype("float32")
    n, channels, height, width = work.shape
    grid = np.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1).astype(np.float32)
    grid = _as(paddle.to_tensor(grid), work.dtype).unsqueeze(0).expand([n, *grid.shape])
    values = geometry.fill_values(fill, channels)
    sample = paddle.nn.functional.grid_sample
    out = sample(work, grid, mode=interpolation, padding_mode="zeros", align_corners=False)
    if any(values):
        covered = sample(paddle.ones([n, 1, height, width], work.dtype), grid, mode=interpolation,
                         padding_mode="zeros", align_corners=False)  # fmt: skip
        out = out + (1 - covered) * paddle.to_tensor(values, dtype=work.dtype).reshape([1, -1, 1, 1])
    if not paddle.is_floating_point(batch):
        out = out.round().astype(img.dtype)
    out = out if chw else out.transpose([0, 2, 3, 1])
    return out.squeeze(0) if len(img.shape) == 3 else out


def affine(img, matrix, interpolation="nearest", fill=0, data_format="CHW"):
    _, rows, cols = _axes(img, data_format)
    x, y = geometry.grid(img.shape[rows], img.shape[cols])
    a, b, c, d, e, f = matrix
    return _sampled(img, a * x + b * y + c, d * x + e * y + f, interpolation, fill, data_format)


def rotate(img, angle, interpolation="nearest", expand=False, center=None, fill=0, data_format="CHW"):
    _, rows, cols = _axes(img, data_format)
    height, width = img.shape[rows], img.shape[cols]
    cx, cy = ((width - 1) / 2, (height - 1) / 2) if center is None else center
    a, b, c, d, e, f = geometry.affine_inverse((cx, cy), -angle, (0, 0), 1.0, (0, 0))
    out_width, out_height = geometry.rotated_size(width, height, angle) if expand else (width, height)
    x, y = geometry.grid(out_height, out_width)
    x, y = x - (out_width - width) / 2, y - (out_height - height) / 2
    return _sampled(img, a * x + b * y + c, d * x + e * y + f, interpolation, fill, data_format)


def perspective(img, startpoints, endpoints, interpolation="nearest", fill=0, data_format="CHW"):
    _, rows, cols = _axes(img, data_format)
    a, b, c, d, e, f, g, h = geometry.perspective_coefficients(startpoints, endpoints)
    x, y = geometry.grid(img.shape[rows], img.shape[cols])
    w = g * x + h * y + 1
    return _sampled(img, (a * x + b * y + c) / w, (d * x + e * y + f) / w, interpolation, fill, data_format)


def erase(img, i, j, h, w, v, inplace=False):
    img = img if inplace else img.clone()
    img[..., i : i + h, j : j + w] = v
    return img
