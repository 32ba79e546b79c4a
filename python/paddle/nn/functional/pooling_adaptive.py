"""Pooling to a given size: window i of n covers [floor(i * in / n), ceil((i + 1) * in / n))."""

from __future__ import annotations

import math

import paddle
from paddle import _C_ops

from .._alias import accepts
from ._args import channels_last, check_spatial_rank

__all__ = []


def _sizes(output_size, spatial, op):
    n = len(spatial)
    sizes = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * n
    if isinstance(output_size, paddle.Tensor):
        sizes = output_size.tolist()
    if len(sizes) != n:
        raise ValueError(f"[{op}] expected output_size with {n} elements, got {output_size}")
    return [size if want is None else want for want, size in zip(sizes, spatial)]


def _avg(op, kernel, n, x, output_size, fmt):
    last = channels_last(fmt, n, op)
    check_spatial_rank(x, n, op)
    sizes = _sizes(output_size, list(x.shape[1:-1] if last else x.shape[2:]), op)
    return kernel(x, sizes, [1] * n, [0] * n, False, True, fmt, "avg", False, True, "EXPLICIT")


@accepts(x="input")
def adaptive_avg_pool1d(x, output_size, name=None):
    """Means over `output_size` (int) windows of [N, C, L]."""
    check_spatial_rank(x, 1, "adaptive_avg_pool1d")
    size = output_size[0] if isinstance(output_size, (list, tuple)) else output_size
    out = _avg("adaptive_avg_pool1d", _C_ops.pool2d, 2, paddle.unsqueeze(x, 2), [1, size], "NCHW")
    return paddle.squeeze(out, 2)


@accepts(x="input")
def adaptive_avg_pool2d(x, output_size, data_format="NCHW", name=None):
    """Means over windows that make the spatial size `output_size`.

    Args:
        x (Tensor): [N, C, H, W] or [N, H, W, C].
        output_size (int | pair): None in a pair keeps that size.

    Raises:
        ValueError: rank or format don't fit.
    """
    return _avg("adaptive_avg_pool2d", _C_ops.pool2d, 2, x, output_size, data_format)


@accepts(x="input")
def adaptive_avg_pool3d(x, output_size, data_format="NCDHW", name=None):
    """Means over windows of [N, C, D, H, W] (or "NDHWC") that make the spatial size `output_size` (int or triple)."""
    return _avg("adaptive_avg_pool3d", _C_ops.pool3d, 3, x, output_size, data_format)


def _max(op, indexed, n, x, output_size, return_mask):
    check_spatial_rank(x, n, op)
    sizes = _sizes(output_size, list(x.shape[2:]), op)
    out, mask = indexed(x, sizes, [1] * n, [0] * n, False, True, False)
    return (out, mask) if return_mask else out


@accepts(x="input", return_mask="return_indices")
def adaptive_max_pool1d(x, output_size, return_mask=False, name=None):
    """Maxima over `output_size` (int) windows of [N, C, L]; with `return_mask` also their positions."""
    check_spatial_rank(x, 1, "adaptive_max_pool1d")
    size = output_size[0] if isinstance(output_size, (list, tuple)) else output_size
    out = _max("adaptive_max_pool1d", _C_ops.max_pool2d_with_index, 2, paddle.unsqueeze(x, 2), [1, size], return_mask)
    return tuple(paddle.squeeze(o, 2) for o in out) if return_mask else paddle.squeeze(out, 2)


@accepts(x="input", return_mask="return_indices")
def adaptive_max_pool2d(x, output_size, return_mask=False, name=None):
    """Maxima over windows of [N, C, H, W] that make the spatial size `output_size` (int or pair); with `return_mask`
    also their positions in the flattened H * W."""
    return _max("adaptive_max_pool2d", _C_ops.max_pool2d_with_index, 2, x, output_size, return_mask)


@accepts(x="input", return_mask="return_indices")
def adaptive_max_pool3d(x, output_size, return_mask=False, name=None):
    """Maxima over windows of [N, C, D, H, W] that make the spatial size `output_size` (int or triple)."""
    return _max("adaptive_max_pool3d", _C_ops.max_pool3d_with_index, 3, x, output_size, return_mask)


def _fractional_windows(size, out, kernel, u):
    """(start, end) of each window along one dimension (Graham, 2014, https://arxiv.org/abs/1412.6071)."""
    alpha = (size - kernel) / (out - (1 if kernel else 0)) if out > (1 if kernel else 0) else 0.0
    if not kernel:
        base = size // out
        u = u * min((base + 2) / alpha - 1, (size + 1 - base) / alpha - (out - 1))
    windows = []
    for i in range(out):
        start = int((i + u) * alpha) - int(u * alpha)
        end = start + kernel if kernel else int((i + 1 + u) * alpha) - int(u * alpha)
        windows.append((max(start, 0), min(end, size)))
    return windows


def _fractional(op, n, x, output_size, kernel_size, random_u, return_mask):
    check_spatial_rank(x, n, op)
    spatial = list(x.shape[2:])
    sizes = _sizes(output_size, spatial, op)
    kernel = [0] * n if kernel_size is None else _sizes(kernel_size, spatial, op)
    for size, out, k in zip(spatial, sizes, kernel):
        most = size - max(k - 1, 0)  # more windows would leave some empty
        if not 0 < out <= most:
            raise ValueError(f"[{op}] expected output_size in [1, {most}] for size {size}, got {out}")
    if random_u is None:
        random_u = float(paddle.uniform([], min=0.0, max=1.0))
    if not 0 < random_u < 1:
        raise ValueError(f"The param `random_u` should be between 0.0 and 1.0, but received {random_u}.")
    # Gather every window's elements (short windows repeat their last one) and reduce over them.
    flat = None
    for size, out, k, stride in zip(spatial, sizes, kernel, _strides(spatial)):
        windows = _fractional_windows(size, out, k, random_u)
        width = max(end - start for start, end in windows)
        axis = [[min(start + j, end - 1) * stride for j in range(width)] for start, end in windows]
        flat = _outer(flat, axis)
    count, width = len(flat), len(flat[0])
    index = paddle.to_tensor([i for row in flat for i in row], dtype="int64")
    lead = [x.shape[0], x.shape[1]]
    values = paddle.index_select(x.reshape([*lead, math.prod(spatial)]), index, axis=2).reshape([*lead, count, width])
    out = paddle.max(values, axis=-1).reshape([*lead, *sizes])
    if not return_mask:
        return out
    where = paddle.argmax(values, axis=-1, keepdim=True)
    table = paddle.expand(index.reshape([1, 1, count, width]), [*lead, count, width])
    mask = paddle.take_along_axis(table, where, axis=-1)
    return out, mask.reshape([*lead, *sizes]).astype("int32")


def _strides(spatial):
    return [math.prod(spatial[i + 1 :]) for i in range(len(spatial))]


def _outer(flat, axis):
    """Adds one dimension to lists of offsets: every old window with every new one."""
    if flat is None:
        return axis
    return [[a + b for a in old for b in new] for old in flat for new in axis]


def fractional_max_pool2d(x, output_size, kernel_size=None, random_u=None, return_mask=False, name=None):
    """Maxima over windows of pseudo-random placement that make [N, C, H, W] the spatial size `output_size`.

    Args:
        kernel_size (int | pair, optional): overlapping windows of this size; disjoint ones when None.
        random_u (float, optional): in (0, 1); drawn when None.
        return_mask (bool): also return the int32 positions in the flattened H * W.

    Source: Graham, 2014, Fractional max-pooling (https://arxiv.org/abs/1412.6071).
    """
    return _fractional("fractional_max_pool2d", 2, x, output_size, kernel_size, random_u, return_mask)


def fractional_max_pool3d(x, output_size, kernel_size=None, random_u=None, return_mask=False, name=None):
    """As `fractional_max_pool2d`, for [N, C, D, H, W]."""
    return _fractional("fractional_max_pool3d", 3, x, output_size, kernel_size, random_u, return_mask)
