"""Resampling of 1-D, 2-D and 3-D images. Each mode is separable, so every axis is resampled by itself."""

from __future__ import annotations

import math

import paddle

from ...tensor._common import size_of

__all__ = []

_MODES = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2, "nearest": 0, "area": 0}
_FORMATS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def interpolate(
    x, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0, data_format=None,
    recompute_scale_factor=None, antialias=False, name=None,
):  # fmt: skip
    """Resizes the spatial dimensions.

    Args:
        x (Tensor): 3-D [N, C, W], 4-D [N, C, H, W] or 5-D [N, C, D, H, W], or with the channels last.
        size (int | list | tuple | Tensor, optional): the new spatial sizes.
        scale_factor (float | list | tuple | Tensor, optional): instead of `size`, one factor for all or one each.
        mode (str): "nearest", "linear" (3-D), "bilinear", "bicubic" (4-D), "trilinear" (5-D), "area" (adaptive means).
        align_corners (bool): the centres of the corner pixels coincide, rather than the corners of the image.
        align_mode (int): without `align_corners`, where a pixel lies: 0 for source = scale * (i + 0.5) - 0.5, 1 for
            source = scale * i. Linear modes only.
        data_format (str, optional): NCW, NWC, NCHW, NHWC, NCDHW or NDHWC; channels first when None.
        recompute_scale_factor (bool, optional): the factor of the computation comes from the resulting sizes.
        antialias (bool): widens the filter when shrinking; "bilinear" and "bicubic".

    Returns:
        Tensor of x's dtype.

    Raises:
        ValueError: mode, rank, format or sizes don't fit; both or none of `size` and `scale_factor` given.
    """
    mode = mode.lower()
    rank = len(x.shape)
    if mode not in _MODES:
        raise ValueError(
            "The 'resample' of image_resize can only be 'area', 'linear', 'bilinear', 'trilinear', "
            f"'bicubic' or 'nearest' currently, got {mode!r}."
        )
    if rank not in _FORMATS or (_MODES[mode] and _MODES[mode] != rank - 2):
        raise ValueError(f"[interpolate] mode {mode!r} does not take an input of {rank} dimensions")
    if align_corners and mode == "nearest":
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if align_mode not in (0, 1):
        raise ValueError(f"align_mode can only be 0 or 1, got {align_mode}")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError("antialias option is only supported for bilinear and bicubic modes")
    last = _channels_last(data_format, rank)
    first_axis = 1 if last else 2
    sizes = list(x.shape[1:-1] if last else x.shape[2:])
    sizes_out, factors = _target(sizes, size, scale_factor)
    if recompute_scale_factor:
        factors = [None] * len(sizes)
    if mode == "area":
        return _area(x, sizes_out, last)
    for i, (n, out, factor) in enumerate(zip(sizes, sizes_out, factors)):
        scale = _scale(n, out, factor, align_corners)
        axis = first_axis + i
        if mode == "nearest":
            x = _nearest(x, axis, n, out, scale)
        elif antialias:
            x = _antialiased(x, axis, n, out, scale, mode, align_corners)
        elif mode == "bicubic":
            x = _cubic(x, axis, n, out, scale, align_corners)
        else:
            x = _linear(x, axis, n, out, scale, align_corners, align_mode)
    return x


def upsample(
    x, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0, data_format=None, name=None
):
    """Same as `interpolate`."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


def _channels_last(data_format, rank):
    if data_format is None:
        return False
    if data_format in ("NCL", "NLC") and rank == 3:
        return data_format == "NLC"
    if data_format not in _FORMATS[rank]:
        raise ValueError(
            f"Got wrong value for param `data_format`: {data_format} received "
            f"but only {_FORMATS[rank]} supported for {rank}-D input."
        )
    return data_format == _FORMATS[rank][1]


def _numbers(value, n, name):
    if isinstance(value, paddle.Tensor):
        value = list(value) if value.ndim else value
    if not isinstance(value, (list, tuple)):
        value = [value] * n
    values = [size_of(v) if name == "size" else v.item() if isinstance(v, paddle.Tensor) else v for v in value]
    if len(values) == 1:
        values = values * n
    if len(values) != n:
        raise ValueError(f"[interpolate] expected {name} with {n} elements, got {list(values)}")
    return values


def _target(sizes, size, scale_factor):
    """The sizes after resampling, and the factors that the caller gave (None where he gave a size)."""
    n = len(sizes)
    if size is None and scale_factor is None:
        raise ValueError("One of size and scale_factor must not be None.")
    if size is not None and scale_factor is not None:
        raise ValueError("Only one of size or scale_factor should be defined.")
    if size is not None:
        wanted = _numbers(size, n, "size")
        for s in wanted:
            if isinstance(s, int) and s <= 0:
                raise ValueError(f"Each size should be greater than 0, got {wanted}")
        return wanted, [None] * n
    factors = [float(f) for f in _numbers(scale_factor, n, "scale_factor")]
    if any(f <= 0 for f in factors):
        raise ValueError(f"Attr(scale) value should be greater than zero, got {factors}")
    return [_scaled(s, f) for s, f in zip(sizes, factors)], factors


def _scaled(size, factor):
    whole, part = round(factor), round(1 / factor)
    if whole == factor:
        return size * whole
    return size // part if part and 1 / part == factor else math.floor(size * factor)


def _scale(n, out, factor, align_corners):
    """Source pixels per target pixel."""
    if align_corners:
        return (n - 1) / (out - 1) if out != 1 else 0.0
    return 1.0 / factor if factor else n / out


def _source(out, scale, half_pixel):
    place = paddle.arange(0, out, dtype="float32")
    return (place + 0.5) * scale - 0.5 if half_pixel else place * scale


def _along(weight, x, axis):
    """A vector of weights, shaped to multiply dimension `axis` of `x`."""
    return weight.astype(x.dtype).reshape([-1] + [1] * (len(x.shape) - axis - 1))


def _nearest(x, axis, n, out, scale):
    index = paddle.clip(paddle.floor(_source(out, scale, False)).astype("int64"), 0, n - 1)
    return paddle.index_select(x, index, axis=axis)


def _linear(x, axis, n, out, scale, align_corners, align_mode):
    source = paddle.clip(_source(out, scale, not align_corners and align_mode == 0), min=0.0)
    low = paddle.clip(paddle.floor(source).astype("int64"), 0, n - 1)
    high = paddle.clip(low + 1, 0, n - 1)
    share = _along(source - low.astype("float32"), x, axis)
    a, b = paddle.index_select(x, low, axis=axis), paddle.index_select(x, high, axis=axis)
    return a * (1.0 - share) + b * share


def _cubic_weights(t, a=-0.75):
    """Keys' cubic convolution at distances 1 + t, t, 1 - t, 2 - t (Keys, 1981)."""

    def near(d):
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d):
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _cubic(x, axis, n, out, scale, align_corners):
    source = _source(out, scale, not align_corners)
    base = paddle.floor(source)
    total = None
    for tap, weight in enumerate(_cubic_weights(source - base)):
        index = paddle.clip(base.astype("int64") + (tap - 1), 0, n - 1)
        part = paddle.index_select(x, index, axis=axis) * _along(weight, x, axis)
        total = part if total is None else total + part
    return total


def _antialiased(x, axis, n, out, scale, mode, align_corners):
    """A dense [out, n] filter: the kernel stretched by the scale when shrinking, and normalised at the borders."""
    stretch = max(scale, 1.0)
    centre = _source(out, scale, not align_corners).unsqueeze(1)
    distance = paddle.abs(paddle.arange(0, n, dtype="float32").unsqueeze(0) - centre) / stretch
    if mode == "bilinear":
        weight = paddle.clip(1.0 - distance, min=0.0)
    else:
        a = -0.5  # the antialiased filter of image libraries, not the -0.75 of plain bicubic
        near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
        far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        weight = paddle.where(distance < 1, near, paddle.where(distance < 2, far, paddle.zeros_like(far)))
    weight = weight / paddle.sum(weight, axis=1, keepdim=True)
    order = [i for i in range(len(x.shape)) if i != axis] + [axis]
    back = [order.index(i) for i in range(len(order))]
    filtered = paddle.matmul(paddle.transpose(x, order), weight.astype(x.dtype), transpose_y=True)
    return paddle.transpose(filtered, back)


def _area(x, sizes, last):
    from .pooling_adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

    if len(sizes) == 1:
        out = adaptive_avg_pool1d(paddle.transpose(x, [0, 2, 1]) if last else x, sizes[0])
        return paddle.transpose(out, [0, 2, 1]) if last else out
    if len(sizes) == 2:
        return adaptive_avg_pool2d(x, sizes, "NHWC" if last else "NCHW")
    return adaptive_avg_pool3d(x, sizes, "NDHWC" if last else "NCDHW")
