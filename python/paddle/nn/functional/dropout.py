"""Dropout and its relatives. Draws come from the global generator."""

from __future__ import annotations

import math

import paddle
from paddle import _C_ops

from ...tensor._common import in_place
from .._alias import accepts

__all__ = []


def _check_p(p):
    if isinstance(p, (int, float)) and not 0 <= p <= 1:
        raise ValueError("p argument should between 0 and 1")


@accepts(x="input")
def dropout(x, p=0.5, axis=None, training=True, inplace=False, mode="upscale_in_train", name=None):
    """Zeroes elements with probability `p`.

    Args:
        x (Tensor): floating point.
        p (float | Tensor): in [0, 1].
        axis (int | sequence, optional): the dimensions along which the mask varies; all when None.
        training (bool): otherwise nothing is zeroed.
        inplace (bool): the result is written into `x`.
        mode (str): "upscale_in_train" divides by 1 - p in training; "downscale_in_infer" multiplies by 1 - p outside.

    Raises:
        ValueError: `p`, `mode` or `axis` is out of range.
        TypeError: `p` is no number or Tensor.

    Source: Srivastava et al., 2014.
    """
    if not isinstance(p, (float, int, paddle.Tensor)):
        raise TypeError("p argument should be a number or Variable")
    _check_p(p)
    if mode not in ("downscale_in_infer", "upscale_in_train"):
        raise ValueError("mode argument should be 'downscale_in_infer' or 'upscale_in_train'")
    if inplace:
        return in_place(dropout)(x, p, axis, training, mode=mode)
    if axis is None:
        if isinstance(p, (int, float)) and p == 0:
            return x
        return _C_ops.dropout(x, None, p, not training, mode, 0, False)
    return _dropout_along(x, p, axis, training, mode)


def _dropout_along(x, p, axis, training, mode):
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = len(x.shape)
    if any(not -rank <= a < rank for a in axes) or len(axes) > rank:
        raise ValueError(
            f"axis value should be greater than or equal to 0 and less "
            f"than dimensions of x:{rank}, but get axis value:{axes}"
        )
    axes = [a % rank for a in axes]
    keep = 1.0 - p
    if not training:
        return x * keep if mode == "downscale_in_infer" else x
    if isinstance(p, (int, float)) and p == 1:
        return x * 0.0
    shape = [size if i in axes else 1 for i, size in enumerate(x.shape)]
    mask = (paddle.rand(shape, "float32") >= p).astype(x.dtype)
    return x * mask / keep if mode == "upscale_in_train" else x * mask


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of [N, C, L] or [C, L] with probability `p`, and scales the others by 1 / (1 - p)."""
    rank = len(input.shape)
    if rank not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {rank}D input.")
    return dropout(input, p, [0] if rank == 2 else [0, 1], training, inplace)


def dropout2d(x, p=0.5, training=True, data_format="NCHW", name=None):
    """Zeroes whole channels of [N, C, H, W] (or "NHWC") with probability `p`, and scales the others."""
    if len(x.shape) != 4:
        raise ValueError(f"dimensions of x should be 4, but received {len(x.shape)} != 4")
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"Attr(data_format) should be 'NCHW' or 'NHWC'. Received Attr(data_format): {data_format}.")
    return dropout(x, p, [0, 1] if data_format == "NCHW" else [0, 3], training)


def dropout3d(x, p=0.5, training=True, data_format="NCDHW", name=None):
    """Zeroes whole channels of [N, C, D, H, W] (or "NDHWC") with probability `p`, and scales the others."""
    if len(x.shape) != 5:
        raise ValueError(f"dimensions of x should be 5, but received {len(x.shape)} != 5")
    if data_format not in ("NCDHW", "NDHWC"):
        raise ValueError(f"Attr(data_format) should be 'NCDHW' or 'NDHWC'. Received Attr(data_format): {data_format}.")
    return dropout(x, p, [0, 1] if data_format == "NCDHW" else [0, 4], training)


def _alpha_dropout(x, p, training, mask_shape):
    if not isinstance(p, (float, int)):
        raise TypeError("p argument should be a float or int")
    _check_p(p)
    if not training:
        return x
    if p == 1:
        return x * 0.0
    # What selu saturates to; a and b restore zero mean and unit variance.
    saturated = -1.6732632423543772 * 1.0507009873554805
    a = 1.0 / math.sqrt((1 - p) * (1 + p * saturated * saturated))
    b = -a * saturated * p
    kept = (paddle.rand(mask_shape, "float32") >= p).astype(x.dtype)
    return (x * kept + saturated * (1.0 - kept)) * a + b


def alpha_dropout(x, p=0.5, training=True, name=None):
    """Dropout for selu networks: keeps mean and variance.

    Source: Klambauer et al., 2017 (https://arxiv.org/abs/1706.02515).
    """
    return _alpha_dropout(x, p, training, x.shape)


def feature_alpha_dropout(x, p=0.5, training=True, name=None):
    """`alpha_dropout` of whole channels (dimension 1). ValueError below two dimensions."""
    if len(x.shape) < 2:
        raise ValueError(f"[feature_alpha_dropout] expected at least 2 dimensions, got {len(x.shape)}")
    return _alpha_dropout(x, p, training, [x.shape[0], x.shape[1]] + [1] * (len(x.shape) - 2))
