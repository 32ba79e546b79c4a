"""Images: rearranging channels, sampling on grids."""

from __future__ import annotations

import paddle
from paddle import _C_ops

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
    if len(x.shape) != 4:
        raise ValueError(f"Input x should be 4D tensor, but received x with the shape of {list(x.shape)}")
    _last(data_format, "pixel_shuffle")
    return _C_ops.pixel_shuffle(x, upscale_factor, data_format)


def pixel_unshuffle(x, downscale_factor, data_format="NCHW", name=None):
    """[N, C, H, W] to [N, C * r^2, H / r, W / r], r = `downscale_factor`: the inverse of `pixel_shuffle`."""
    if len(x.shape) != 4:
        raise ValueError(f"Input x should be 4D tensor, but received x with the shape of {list(x.shape)}")
    if not isinstance(downscale_factor, int):
        raise TypeError("Downscale factor must be int type")
    if downscale_factor <= 0:
        raise ValueError("Downscale factor must be positive")
    _last(data_format, "pixel_unshuffle")
    return _C_ops.pixel_unshuffle(x, downscale_factor, data_format)


def channel_shuffle(x, groups, data_format="NCHW", name=None):
    """Interleaves `groups` groups of channels. Source: Zhang et al., 2017, ShuffleNet."""
    if len(x.shape) != 4:
        raise ValueError(f"Input x should be 4D tensor, but received x with the shape of {list(x.shape)}")
    _positive(groups, "groups")
    _last(data_format, "channel_shuffle")
    return _C_ops.channel_shuffle(x, groups, data_format)


def affine_grid(theta, out_shape, align_corners=True, name=None):
    """The grid for `grid_sample` that an affine map draws.

    Args:
        theta (Tensor): [N, 2, 3] or [N, 3, 4].
        out_shape (sequence | Tensor): [N, C, H, W] or [N, C, D, H, W].
        align_corners (bool): -1 and 1 are the centres of the corner pixels rather than the borders.

    Returns:
        Tensor [N, H, W, 2] or [N, D, H, W, 3]; the last dimension is x, y(, z).
    """
    if not isinstance(out_shape, paddle.Tensor):
        out_shape = list(out_shape)
    return _C_ops.affine_grid(theta, out_shape, align_corners)


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
    return _C_ops.grid_sample(x, grid, mode, padding_mode, align_corners)
