"""Images: rearranging channels, sampling on grids."""

from __future__ import annotations

import paddle

__all__ = []


def _last(data_format, op):
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"Attr(data_format) should be 'NCHW' or 'NHWC'.But receive Attr(data_format): {data_format} ")
    return data_format == "NHWC"


def _positive(value, name):
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int type")
    if value <= 0:
        raise ValueError(f"{name} must be positive")


def pixel_shuffle(x, upscale_factor, data_format="NCHW", name=None):
    """[N, C * r^2, H, W] to [N, C, H * r, W * r], r = `upscale_factor`. Source: Shi et al., 2016."""
    if not isinstance(upscale_factor, int):
        raise TypeError("upscale factor must be int type")
    r = upscale_factor
    if len(x.shape) != 4:
        raise ValueError(f"Input x should be 4D tensor, but received x with the shape of {list(x.shape)}")
    if _last(data_format, "pixel_shuffle"):
        n, h, w, c = x.shape
        y = x.reshape([n, h, w, c // (r * r), r, r])
        return paddle.transpose(y, [0, 1, 4, 2, 5, 3]).reshape([n, h * r, w * r, c // (r * r)])
    n, c, h, w = x.shape
    y = x.reshape([n, c // (r * r), r, r, h, w])
    return paddle.transpose(y, [0, 1, 4, 2, 5, 3]).reshape([n, c // (r * r), h * r, w * r])


def pixel_unshuffle(x, downscale_factor, data_format="NCHW", name=None):
    """[N, C, H, W] to [N, C * r^2, H / r, W / r], r = `downscale_factor`: the inverse of `pixel_shuffle`."""
    if len(x.shape) != 4:
        raise ValueError(f"Input x should be 4D tensor, but received x with the shape of {list(x.shape)}")
    if not isinstance(downscale_factor, int):
        raise TypeError("Downscale factor must be int type")
    if downscale_factor <= 0:
        raise ValueError("Downscale factor must be positive")
    r = downscale_factor
    if _last(data_format, "pixel_unshuffle"):
        n, h, w, c = x.shape
        y = x.reshape([n, h // r, r, w // r, r, c])
        return paddle.transpose(y, [0, 1, 3, 5, 2, 4]).reshape([n, h // r, w // r, c * r * r])
    n, c, h, w = x.shape
    y = x.reshape([n, c, h // r, r, w // r, r])
    return paddle.transpose(y, [0, 1, 3, 5, 2, 4]).reshape([n, c * r * r, h // r, w // r])


def channel_shuffle(x, groups, data_format="NCHW", name=None):
    """Interleaves `groups` groups of channels. Source: Zhang et al., 2017, ShuffleNet."""
    if len(x.shape) != 4:
        raise ValueError(f"Input x should be 4D tensor, but received x with the shape of {list(x.shape)}")
    _positive(groups, "groups")
    if _last(data_format, "channel_shuffle"):
        n, h, w, c = x.shape
        return paddle.transpose(x.reshape([n, h, w, groups, c // groups]), [0, 1, 2, 4, 3]).reshape([n, h, w, c])
    n, c, h, w = x.shape
    return paddle.transpose(x.reshape([n, groups, c // groups, h, w]), [0, 2, 1, 3, 4]).reshape([n, c, h, w])


def _axis_grid(size, align_corners, dtype):
    """The coordinates of pixel centres on [-1, 1]."""
    place = paddle.arange(0, size, dtype=dtype)
    if align_corners:
        return place * (2.0 / (size - 1)) - 1.0 if size > 1 else place * 0.0 - 1.0
    return (place * 2.0 + 1.0) / size - 1.0


def affine_grid(theta, out_shape, align_corners=True, name=None):
    """The grid for `grid_sample` that an affine map draws.

    Args:
        theta (Tensor): [N, 2, 3] or [N, 3, 4].
        out_shape (sequence | Tensor): [N, C, H, W] or [N, C, D, H, W].
        align_corners (bool): -1 and 1 are the centres of the corner pixels rather than the borders.

    Returns:
        Tensor [N, H, W, 2] or [N, D, H, W, 3]; the last dimension is x, y(, z).
    """
    if isinstance(out_shape, paddle.Tensor):
        out_shape = out_shape.tolist()
    spatial = list(out_shape)[2:]
    axes = [_axis_grid(size, align_corners, theta.dtype) for size in spatial]
    n = len(spatial)
    columns = []
    for i in range(n - 1, -1, -1):  # x belongs to the last dimension
        column = axes[i].reshape([-1 if j == i else 1 for j in range(n)])
        columns.append(paddle.expand(column, spatial))
    columns.append(paddle.ones(spatial, theta.dtype))
    base = paddle.stack(columns, axis=-1).reshape([1, -1, n + 1])
    grid = paddle.matmul(base, paddle.transpose(theta, [0, 2, 1]))
    return grid.reshape([theta.shape[0], *spatial, n])


def _reflect(place, low, high):
    """Folds coordinates into [low, high]."""
    span = high - low
    if isinstance(span, (int, float)) and span <= 0:
        return place * 0.0
    off = paddle.abs(place - low)
    turns = paddle.floor(off / span)
    rest = off - turns * span
    return paddle.where(turns % 2 == 0, rest + low, high - rest)


def _unnormalised(coordinate, size, padding_mode, align_corners):
    if align_corners:
        place = (coordinate + 1.0) * (0.5 * (size - 1))
    else:
        place = ((coordinate + 1.0) * size - 1.0) * 0.5
    if padding_mode == "border":
        return paddle.clip(place, 0.0, size - 1.0)
    if padding_mode == "reflection":
        place = _reflect(place, 0.0, size - 1.0) if align_corners else _reflect(place, -0.5, size - 0.5)
        return paddle.clip(place, 0.0, size - 1.0)
    return place


def _fetch(flat, places, sizes):
    """Pixels at integer coordinates (dimension-major), zero outside: [N, C, P]."""
    index, inside = None, None
    for place, size in zip(places, sizes):
        within = paddle.logical_and(place >= 0, place <= size - 1)
        inside = within if inside is None else paddle.logical_and(inside, within)
        clipped = paddle.clip(place, 0, size - 1).astype("int64")
        index = clipped if index is None else index * size + clipped
    index = paddle.expand(index.unsqueeze(1), [flat.shape[0], flat.shape[1], index.shape[1]])
    return paddle.take_along_axis(flat, index, 2) * inside.unsqueeze(1).astype(flat.dtype)


def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=True, name=None):
    """Samples images at the points of a grid.

    Args:
        x (Tensor): [N, C, H, W] or [N, C, D, H, W].
        grid (Tensor): [N, H_out, W_out, 2] or [N, D_out, H_out, W_out, 3], coordinates x, y(, z) on [-1, 1].
        mode (str): "bilinear" or "nearest".
        padding_mode (str): what lies outside: "zeros", "border" or "reflection".
        align_corners (bool): -1 and 1 are the centres of the corner pixels rather than the borders.

    Returns:
        Tensor [N, C, H_out, W_out] or [N, C, D_out, H_out, W_out].

    Raises:
        ValueError: a mode or a rank is not one of these.
    """
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f"The mode of grid sample function should be in ['bilinear', 'nearest'], but got: {mode}")
    if padding_mode not in ("zeros", "reflection", "border"):
        raise ValueError(
            f"The padding mode of grid sample function should be in "
            f"['zeros', 'reflection', 'border'], but got: {padding_mode}"
        )
    n = len(x.shape) - 2
    if n not in (2, 3) or len(grid.shape) != n + 2 or grid.shape[-1] != n:
        raise ValueError(f"[grid_sample] expected 4-D or 5-D x and grid, got {list(x.shape)} and {list(grid.shape)}")
    sizes = list(x.shape[2:])
    points = list(grid.shape[1:-1])
    flat_grid = grid.reshape([grid.shape[0], -1, n])
    places = [_unnormalised(flat_grid[:, :, n - 1 - i], sizes[i], padding_mode, align_corners) for i in range(n)]
    flat = x.reshape([x.shape[0], x.shape[1], -1])
    if mode == "nearest":
        out = _fetch(flat, [paddle.round(p) for p in places], sizes)
        return out.reshape([x.shape[0], x.shape[1], *points])
    low = [paddle.floor(p) for p in places]
    out = None
    for corner in range(2**n):
        upper = [(corner >> i) & 1 for i in range(n)]
        weight = None
        for p, base, up in zip(places, low, upper):
            share = p - base if up else 1.0 - (p - base)
            weight = share if weight is None else weight * share
        part = _fetch(flat, [base + up for base, up in zip(low, upper)], sizes) * weight.unsqueeze(1)
        out = part if out is None else out + part
    return out.reshape([x.shape[0], x.shape[1], *points])
