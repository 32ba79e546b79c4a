"""Resampling of 1-D, 2-D and 3-D images."""

from __future__ import annotations

import math

import paddle
from paddle import _C_ops

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
    sizes = list(x.shape[1:-1] if last else x.shape[2:])
    if size is None and scale_factor is None:
        raise ValueError("One of size and scale_factor must not be None.")
    if size is not None and scale_factor is not None:
        raise ValueError("Only one of size or scale_factor should be defined.")
    if mode == "area":
        return _area(x, _area_sizes(sizes, size, scale_factor), last)
    if size is not None:
        target = _by_size(size, len(sizes))
    else:
        target = _by_factor(sizes, scale_factor, recompute_scale_factor)
    op = _C_ops.interp_antialias if antialias else getattr(_C_ops, f"{mode}_interp")
    return op(x, *target[:3], "NHWC" if last else "NCHW", *target[3:], mode, align_corners, align_mode)


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


def _items(value, n, name):
    """One item for each of n axes; a tensor of several elements stays one."""
    if isinstance(value, paddle.Tensor):
        if value.ndim == 0 or value.shape[0] == 1:
            return [value] * n
        return value
    if not isinstance(value, (list, tuple)):
        return [value] * n
    values = list(value) * n if len(value) == 1 else list(value)
    if len(values) != n:
        raise ValueError(f"[interpolate] expected {name} with {n} elements, got {list(values)}")
    return values


def _known(items):
    """Tensors that hold values as numbers; others as they are."""
    from ...jit._trace_api import is_traced  # jit needs layers, which need this

    if isinstance(items, paddle.Tensor):
        return items if is_traced(items) else items.tolist()
    return [v.item() if isinstance(v, paddle.Tensor) and not is_traced(v) else v for v in items]


def _sizes_last(sizes):
    """out_d, out_h, out_w."""
    return [-1] * (3 - len(sizes)) + list(sizes)


def _by_size(size, n):
    """(out_size, size_tensor, scale_tensor, out_d, out_h, out_w, scale) for sizes: numbers, symbolic sizes, tensors."""
    wanted = _known(_items(size, n, "size"))
    if isinstance(wanted, paddle.Tensor):
        return wanted, None, None, -1, -1, -1, []
    if all(isinstance(s, int) for s in wanted):
        if any(s <= 0 for s in wanted):
            raise ValueError(f"Each size should be greater than 0, got {wanted}")
        return None, None, None, *_sizes_last(wanted), []
    tensors = [s if isinstance(s, paddle.Tensor) else paddle.full([1], s, "int32") for s in wanted]
    return None, tensors, None, -1, -1, -1, []


def _by_factor(sizes, scale_factor, recompute):
    """The same for factors, by which the sizes are multiplied and rounded down."""
    factors = _known(_items(scale_factor, len(sizes), "scale_factor"))
    if isinstance(factors, paddle.Tensor):
        return None, None, factors, -1, -1, -1, []
    if any(isinstance(f, paddle.Tensor) for f in factors):
        parts = [f if isinstance(f, paddle.Tensor) else paddle.full([1], f, "float32") for f in factors]
        return None, None, paddle.concat([p.reshape([1]) for p in parts]), -1, -1, -1, []
    factors = [float(f) for f in factors]
    if any(f <= 0 for f in factors):
        raise ValueError(f"Attr(scale) value should be greater than zero, got {factors}")
    if recompute:
        return _by_size([_scaled(s, f) for s, f in zip(sizes, factors)], len(sizes))
    return None, None, None, -1, -1, -1, factors


def _scaled(size, factor):
    whole, part = round(factor), round(1 / factor)
    if whole == factor:
        return size * whole
    return size // part if part and 1 / part == factor else math.floor(size * factor)


def _area_sizes(sizes, size, scale_factor):
    if size is not None:
        return _known(_items(size, len(sizes), "size"))
    return [_scaled(s, float(f)) for s, f in zip(sizes, _known(_items(scale_factor, len(sizes), "scale_factor")))]


def _area(x, sizes, last):
    from .pooling_adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

    if len(sizes) == 1:
        out = adaptive_avg_pool1d(paddle.transpose(x, [0, 2, 1]) if last else x, sizes[0])
        return paddle.transpose(out, [0, 2, 1]) if last else out
    if len(sizes) == 2:
        return adaptive_avg_pool2d(x, sizes, "NHWC" if last else "NCHW")
    return adaptive_avg_pool3d(x, sizes, "NDHWC" if last else "NCDHW")
