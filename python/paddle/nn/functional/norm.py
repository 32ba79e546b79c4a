"""Normalisation."""

from __future__ import annotations

import numbers

import paddle
from paddle import _C_ops

from .._alias import accepts

__all__ = []

_FIRST = ("NC", "NCL", "NCHW", "NCDHW")
_LAST = ("NLC", "NHWC", "NDHWC")


@accepts(x="input", axis="dim", epsilon="eps")
def normalize(x, p=2, axis=1, epsilon=1e-12, out=None, name=None):
    """x / max(|x|_p, `epsilon`) along `axis`.

    Args:
        x (Tensor): floating point.
        p (float): which norm.
        axis (int): in [-rank, rank); dimension 0 of a 1-D tensor.
        epsilon (float): lower bound of the divisor.
        out (Tensor, optional): receives the result.
    """
    if len(x.shape) == 1:
        axis = 0
    length = paddle.norm(x, p=float(p), axis=axis, keepdim=True)
    y = x / paddle.clip(length, min=epsilon)
    return y if out is None else paddle.assign(y, out)


def batch_norm(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.9, epsilon=1e-05,
    data_format="NCHW", use_global_stats=None, name=None,
):  # fmt: skip
    """(x - mean) / sqrt(var + `epsilon`) * weight + bias per channel.

    Args:
        x (Tensor): [N, C], [N, C, *spatial] or channels last.
        running_mean, running_var (Tensor): [C]; in training they move: running * momentum + batch * (1 - momentum).
        weight, bias (Tensor, optional): [C].
        training (bool): use the statistics of the batch.
        data_format (str): NC, NCL, NLC, NCHW, NHWC, NCDHW, NDHWC.
        use_global_stats (bool, optional): use the running statistics; the opposite of `training` when None.

    Raises:
        ValueError: rank or format don't fit.

    Source: Ioffe and Szegedy, 2015 (https://arxiv.org/abs/1502.03167).
    """
    assert len(x.shape) >= 2, "input dim must be larger than 1"
    if data_format not in _FIRST and data_format not in _LAST:
        raise ValueError(
            "data_format must be one of 'NC', 'NCL', 'NCHW', 'NCDHW', 'NLC', 'NHWC', 'NDHWC', but receive "
            f"{data_format}"
        )
    layout = "NCHW" if data_format in _FIRST else "NHWC"
    if use_global_stats is None:
        use_global_stats = not training
        trainable_statistics = False
    else:
        trainable_statistics = not use_global_stats
    return _C_ops.batch_norm(
        x, running_mean, running_var, weight, bias, not training, momentum, epsilon, layout, use_global_stats,
        trainable_statistics,
    )[0]  # fmt: skip


@accepts(x="input", epsilon="eps")
def layer_norm(x, normalized_shape, weight=None, bias=None, epsilon=1e-05, name=None):
    """(x - mean) / sqrt(var + `epsilon`) * weight + bias over the last dimensions.

    Args:
        x (Tensor): [..., *normalized_shape].
        normalized_shape (int | list | tuple): the dimensions that share their statistics.
        weight, bias (Tensor, optional): as many elements as `normalized_shape`.

    Raises:
        ValueError: x does not end in `normalized_shape`.

    Source: Ba et al., 2016 (https://arxiv.org/abs/1607.06450).
    """
    if isinstance(normalized_shape, numbers.Integral):
        normalized_shape = [normalized_shape]
    begin = len(x.shape) - len(normalized_shape)
    if begin < 0 or list(x.shape[begin:]) != list(normalized_shape):
        raise ValueError(
            f"Given normalized_shape is {list(normalized_shape)}, expected input with shape "
            f"[*, {str(list(normalized_shape))[1:]}, but got input shape {list(x.shape)}"
        )
    if weight is not None and len(weight.shape) > 1:
        weight = weight.flatten()
    if bias is not None and len(bias.shape) > 1:
        bias = bias.flatten()
    out = _C_ops.layer_norm(x, weight, bias, epsilon, begin)
    return out[0] if isinstance(out, (tuple, list)) else out


def rms_norm(input, normalized_shape, weight=None, eps=1e-5, name=None):
    """x / sqrt(mean(x^2) + `eps`) * weight over the last dimensions.

    Args:
        input (Tensor): [..., *normalized_shape].
        normalized_shape (sequence of int): the dimensions that share the mean.
        weight (Tensor, optional): of that shape.

    Returns:
        (Tensor like input, float32 Tensor [...]: 1 / sqrt(mean(x^2) + eps)).

    Source: Zhang and Sennrich, 2019 (https://arxiv.org/abs/1910.07467).
    """
    if isinstance(normalized_shape, numbers.Integral):
        normalized_shape = [normalized_shape]
    begin = len(input.shape) - len(normalized_shape)
    if begin < 0 or list(input.shape[begin:]) != list(normalized_shape):
        raise ValueError(
            f"[rms_norm] expected an input that ends in {list(normalized_shape)}, got shape {list(input.shape)}"
        )
    wide = input.astype("float32") if str(input.dtype).rsplit(".", 1)[-1] in ("float16", "bfloat16") else input
    inverse = paddle.rsqrt(paddle.mean(wide * wide, axis=list(range(begin, len(input.shape))), keepdim=True) + eps)
    out = (wide * inverse).astype(input.dtype)
    if weight is not None:
        out = out * weight.reshape(list(normalized_shape))
    return out, inverse.reshape(list(input.shape[:begin]))


def _per_channel(t, rank, last):
    return t if last else t.reshape([1, -1] + [1] * (rank - 2))


def instance_norm(
    x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.9, eps=1e-05,
    data_format="NCHW", name=None,
):  # fmt: skip
    """Normalises every channel of every sample by itself.

    Args:
        x (Tensor): [N, C, *spatial].
        weight, bias (Tensor, optional): [C].
        running_mean, running_var, use_input_stats, momentum: accepted for compatibility; the statistics are always
            the sample's.

    Source: Ulyanov et al., 2016 (https://arxiv.org/abs/1607.08022).
    """
    rank = len(x.shape)
    if rank < 2:
        raise ValueError(f"[instance_norm] expected at least 2 dimensions, got {rank}")
    axes = list(range(2, rank))
    wide = _statistics_type(x)
    if axes:
        centred = wide - paddle.mean(wide, axis=axes, keepdim=True)
        variance = paddle.mean(centred * centred, axis=axes, keepdim=True)
    else:
        centred, variance = wide - wide, wide * 0.0
    out = (centred * paddle.rsqrt(variance + eps)).astype(x.dtype)
    if weight is not None:
        out = out * _per_channel(weight, rank, False)
    return out if bias is None else out + _per_channel(bias, rank, False)


def _statistics_type(x):
    return x.astype("float32") if str(x.dtype).rsplit(".", 1)[-1] in ("float16", "bfloat16") else x


def group_norm(x, num_groups, epsilon=1e-05, weight=None, bias=None, data_format="NCHW", name=None):
    """Normalises `num_groups` groups of neighbouring channels, each sample by itself.

    Args:
        x (Tensor): [N, C, *spatial] or channels last.
        num_groups (int): divides C.
        weight, bias (Tensor, optional): [C].
        data_format (str): NCL, NCHW, NCDHW, NLC, NHWC, NDHWC.

    Raises:
        ValueError: format, rank or channels don't fit.

    Source: Wu and He, 2018 (https://arxiv.org/abs/1803.08494).
    """
    if data_format not in _FIRST and data_format not in _LAST:
        raise ValueError(f"unsupported data layout: {data_format}")
    rank = len(x.shape)
    if rank < 2:
        raise ValueError(f"[group_norm] expected at least 2 dimensions, got {rank}")
    last = data_format in _LAST
    channels = x.shape[-1 if last else 1]
    if channels % num_groups != 0:
        raise ValueError(f"[group_norm] {channels} channels don't divide by {num_groups} groups")
    wide = _statistics_type(x)
    if last:
        grouped = wide.reshape([x.shape[0], -1, num_groups, channels // num_groups])
        axes = [1, 3]
    else:
        grouped = wide.reshape([x.shape[0], num_groups, -1])
        axes = [2]
    centred = grouped - paddle.mean(grouped, axis=axes, keepdim=True)
    variance = paddle.mean(centred * centred, axis=axes, keepdim=True)
    out = (centred * paddle.rsqrt(variance + epsilon)).reshape(x.shape).astype(x.dtype)
    if weight is not None:
        out = out * _per_channel(weight, rank, last)
    return out if bias is None else out + _per_channel(bias, rank, last)


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0, data_format="NCHW", name=None):
    """x / (`k` + `alpha` * mean of x^2 over `size` neighbouring channels) ** `beta`.

    Source: Krizhevsky et al., 2012.
    """
    if data_format not in ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC"):
        raise ValueError(f"data_format should be in one of [NCL, NCHW, NCDHW, NLC, NHWC, NDHWC], but got {data_format}")
    rank = len(x.shape)
    if rank < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input, but got {rank} dimensions")
    axis = rank - 1 if data_format in _LAST else 1
    channels = x.shape[axis]
    edge = [0, 0] * axis + [size // 2, (size - 1) // 2] + [0, 0] * (rank - axis - 1)
    squares = _C_ops.pad(x * x, edge, 0.0)
    total = None
    for shift in range(size):
        part = paddle.slice(squares, [axis], [shift], [shift + channels])
        total = part if total is None else total + part
    return x / paddle.pow(k + alpha * (total / size), beta)
