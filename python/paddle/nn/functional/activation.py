"""Activation functions. Unless said otherwise, `x` is a floating-point Tensor of any shape and the result has its shape
and dtype; `name` is for people and changes nothing."""

from __future__ import annotations

import paddle
from paddle import _C_ops

from ...tensor._common import in_place, tensor_in
from .._alias import accepts

__all__ = []

tanh = paddle.tanh
tanh_ = paddle.tanh_


def sigmoid(x, name=None, *, out=None):
    """1 / (1 + exp(-x)); `out` (Tensor, optional) receives the result."""
    y = _C_ops.sigmoid(x)
    return y if out is None else paddle.assign(y, out)


def celu(x, alpha=1.0, name=None):
    """max(0, x) + min(0, `alpha` * (exp(x / `alpha`) - 1)); ZeroDivisionError for `alpha` = 0."""
    if alpha == 0:
        raise ZeroDivisionError("alpha cannot be 0 for celu")
    return _C_ops.celu(x, alpha)


def elu(x, alpha=1.0, name=None):
    """x for x > 0, `alpha` * (exp(x) - 1) elsewhere."""
    return _C_ops.elu(x, alpha)


def elu_(x, alpha=1.0, name=None):
    """`elu` in place. AssertionError for a negative `alpha`."""
    assert alpha >= 0.0, "elu_ only support alpha >= 0, please use elu instead."
    return _C_ops.elu_(x, alpha)


def gelu(x, approximate=False, name=None):
    """x * Φ(x), Φ the normal distribution function; `approximate` (bool, "tanh" or "none") chooses the tanh form.

    Source: Hendrycks and Gimpel, 2016 (https://arxiv.org/abs/1606.08415).
    """
    if isinstance(approximate, str):
        if approximate not in ("tanh", "none"):
            raise ValueError(f"[gelu] approximate must be 'tanh', 'none' or a bool, got {approximate!r}")
        approximate = approximate == "tanh"
    return _C_ops.gelu(x, approximate)


@accepts(x="input", threshold="lambd")
def hardshrink(x, threshold=0.5, name=None):
    """x where |x| > `threshold`, 0 elsewhere."""
    return _C_ops.hardshrink(x, threshold)


def hardtanh(x, min=-1.0, max=1.0, name=None):
    """x clipped to [`min`, `max`]."""
    return _C_ops.hardtanh(x, min, max)


def hardtanh_(x, min=-1.0, max=1.0, name=None):
    """`hardtanh` in place."""
    return _C_ops.hardtanh_(x, min, max)


def hardsigmoid(x, slope=0.1666667, offset=0.5, name=None):
    """`slope` * x + `offset` clipped to [0, 1]."""
    return _C_ops.hardsigmoid(x, slope, offset)


def hardswish(x, name=None):
    """x * min(max(x + 3, 0), 6) / 6."""
    return _C_ops.hardswish(x)


def leaky_relu(x, negative_slope=0.01, name=None):
    """x for x >= 0, `negative_slope` * x elsewhere."""
    return _C_ops.leaky_relu(x, negative_slope)


def leaky_relu_(x, negative_slope=0.01, name=None):
    """`leaky_relu` in place."""
    return _C_ops.leaky_relu_(x, negative_slope)


@accepts(x="input")
def log_sigmoid(x, name=None):
    """log(1 / (1 + exp(-x)))."""
    return _C_ops.logsigmoid(x)


logsigmoid = log_sigmoid


def log_softmax(x, axis=-1, dtype=None, name=None):
    """log(softmax(x)) along `axis` (int); `x` is cast to `dtype` first when that is given."""
    return _C_ops.log_softmax(x if dtype is None else x.astype(dtype), axis)


def maxout(x, groups, axis=1, name=None):
    """The maximum over groups of channels: [N, C, ...] becomes [N, C / `groups`, ...].

    Args:
        x (Tensor): 4-D.
        groups (int): how many neighbouring channels make one; divides C.
        axis (int): the channel dimension, 1, 3 or -1.

    Raises:
        ValueError: another `axis`.
    """
    if axis not in (1, -1, 3):
        raise ValueError(f"[maxout] expected axis 1, 3 or -1, got {axis}")
    tensor_in(x, "maxout")
    if axis == 1:
        grouped, axis = x.reshape([x.shape[0], x.shape[1] // groups, groups, *x.shape[2:]]), 2
    else:
        grouped, axis = x.reshape([*x.shape[:-1], x.shape[-1] // groups, groups]), x.ndim
    if x.stop_gradient:
        return paddle.max(grouped, axis=axis)
    first = paddle.argmax(grouped, axis=axis, keepdim=True)  # of several equal ones it alone gets the gradient
    return paddle.take_along_axis(grouped, first, axis).squeeze(axis)


def mish(x, name=None):
    """x * tanh(log(1 + exp(x))). Source: Misra, 2019 (https://arxiv.org/abs/1908.08681)."""
    return _C_ops.mish(x, 20.0)


def prelu(x, weight, data_format="NCHW", name=None):
    """max(0, x) + `weight` * min(0, x).

    Args:
        x (Tensor): [N, C, ...] or [N, ..., C].
        weight (Tensor): shape [1], or [C] for one slope a channel.
        data_format (str): where the channels stand.

    Raises:
        ValueError: an unknown `data_format`.
        AssertionError: `weight` is not 1-D, or its length is neither 1 nor C.
    """
    assert len(weight.shape) == 1, "The dim count of weight shape should be 1 in prelu()."
    if weight.shape[0] == 1:
        return _C_ops.prelu(x, weight, "NCHW", "all")
    assert len(x.shape) > 1, (
        "The dim count of x should be equal or larger than 2 in prelu() when weight shape is not [1]."
    )
    if data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
        raise ValueError(
            "data_format must be one of 'NC', 'NCL', 'NCHW', 'NCDHW', 'NLC', 'NHWC', 'NDHWC', "
            f"but receive {data_format}"
        )
    first = data_format[1] == "C"
    channels = x.shape[1 if first else -1]
    assert weight.shape[0] == channels, "The weight size should be equal to x input channel in prelu()."
    return _C_ops.prelu(x, weight, "NCHW" if first else "NHWC", "channel")


def relu(x, name=None):
    """max(x, 0)."""
    return _C_ops.relu(x)


def relu_(x, name=None):
    """`relu` in place."""
    return _C_ops.relu_(x)


def relu6(x, name=None):
    """min(max(x, 0), 6)."""
    return _C_ops.relu6(x)


def rrelu(x, lower=1.0 / 8.0, upper=1.0 / 3.0, training=True, name=None):
    """Leaky relu whose slope is drawn per element from U(`lower`, `upper`), or is their mean when not `training`.

    Raises:
        TypeError: a bound is no float.
        ValueError: bounds outside 0 <= lower <= upper <= 1.
    """
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise TypeError(f"[rrelu] expected lower and upper to be floats, got {lower!r} and {upper!r}")
    if lower < 0 or lower > 1 or upper > 1 or upper < lower:
        raise ValueError(f"[rrelu] expected 0 <= lower <= upper <= 1, got lower {lower} and upper {upper}")
    tensor_in(x, "rrelu")
    if not training:
        return leaky_relu(x, (lower + upper) / 2.0)
    slope = paddle.uniform(x.shape, "float32", lower, upper).astype(x.dtype)
    return paddle.where(x >= 0, x, x * slope)


def selu(x, scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717, name=None):
    """`scale` * (x for x > 0, `alpha` * (exp(x) - 1) elsewhere).

    Raises:
        ValueError: `scale` <= 1 or `alpha` < 0.

    Source: Klambauer et al., 2017 (https://arxiv.org/abs/1706.02515).
    """
    if scale <= 1.0:
        raise ValueError(f"The scale must be greater than 1.0. Received: {scale}.")
    if alpha < 0:
        raise ValueError(f"The alpha must be no less than zero. Received: {alpha}.")
    return _C_ops.selu(x, scale, alpha)


@accepts(x="input")
def silu(x, inplace=False, name=None):
    """x * sigmoid(x); with `inplace`, written into `x`."""
    return _silu_(x) if inplace else _C_ops.silu(x)


_silu_ = in_place(_C_ops.silu, "silu_")


@accepts(x="input", axis="dim")
def softmax(x, axis=-1, dtype=None, name=None, *, out=None):
    """exp(x) over its sum along `axis`.

    Args:
        x (Tensor): floating point, any shape.
        axis (int): in [-rank, rank).
        dtype (dtype, optional): what `x` is cast to first.
        out (Tensor, optional): receives the result.

    Raises:
        ValueError: `axis` is out of range.
    """
    y = _C_ops.softmax(x if dtype is None else x.astype(dtype), axis)
    return y if out is None else paddle.assign(y, out)


def softmax_(x, axis=-1, dtype=None, name=None):
    """`softmax` in place."""
    return _C_ops.softmax_(x if dtype is None else x.astype(dtype), axis)


def softplus(x, beta=1, threshold=20, name=None):
    """log(1 + exp(`beta` * x)) / `beta`, and x itself where `beta` * x > `threshold`."""
    return _C_ops.softplus(x, float(beta), float(threshold))


@accepts(x="input", threshold="lambd")
def softshrink(x, threshold=0.5, name=None):
    """x moved towards zero by `threshold`, and 0 within it. ValueError for a negative `threshold`."""
    if threshold < 0:
        raise ValueError(f"The threshold must be no less than zero. Received: {threshold}.")
    return _C_ops.softshrink(x, threshold)


def softsign(x, name=None):
    """x / (1 + |x|)."""
    return _C_ops.softsign(x)


def swiglu(x, y=None, name=None):
    """silu(x) * y; without `y`, the last dimension of `x` is split in two halves x and y."""
    if y is None:
        x, y = paddle.chunk(x, 2, axis=-1)
    return _C_ops.silu(x) * y


def swish(x, name=None):
    """x * sigmoid(x)."""
    return _C_ops.swish(x)


def tanhshrink(x, name=None):
    """x - tanh(x)."""
    return _C_ops.tanh_shrink(x)


def thresholded_relu(x, threshold=1.0, value=0.0, name=None):
    """x where x > `threshold`, `value` elsewhere."""
    return _C_ops.thresholded_relu(x, threshold, value)


def thresholded_relu_(x, threshold=1.0, value=0.0, name=None):
    """`thresholded_relu` in place."""
    return _C_ops.thresholded_relu_(x, threshold, value)


@accepts(x="input", axis="dim")
def glu(x, axis=-1, name=None):
    """a * sigmoid(b), where a and b are the halves of `x` along `axis` (whose size is even)."""
    a, b = paddle.chunk(x, 2, axis=axis)
    return a * _C_ops.sigmoid(b)


def gumbel_softmax(x, temperature=1.0, hard=False, axis=-1, name=None):
    """A sample from the Gumbel-softmax distribution with logits `x`.

    Args:
        x (Tensor): unnormalised log probabilities.
        temperature (float): above 0.
        hard (bool): one-hot values forwards, the soft sample's gradient backwards.
        axis (int): the dimension of the classes.

    Source: Jang et al., 2016 (https://arxiv.org/abs/1611.01144).
    """
    assert temperature > 0, "The temperature must be greater than 0."
    noise = -paddle.log(-paddle.log(paddle.uniform(x.shape, x.dtype, 1e-5, 1.0 - 1e-5)))
    soft = _C_ops.softmax((x + noise) / temperature, axis)
    if not hard:
        return soft
    chosen = paddle.argmax(soft, axis=axis, keepdim=True)
    one = paddle.put_along_axis(paddle.zeros_like(soft), chosen, 1.0, axis)
    return one.detach() + (soft - soft.detach())
