"""Filling an existing tensor in place; every function returns the tensor."""

from __future__ import annotations

import paddle

from .initializer import (
    Assign,
    Constant,
    Dirac,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,  # noqa: F401
)
from .initializer.initializer import fans


def _calculate_fan_in_and_fan_out(var):
    """(fan_in, fan_out) of a weight (Tensor)."""
    return fans(list(var.shape))


def uniform_(tensor, a=0.0, b=1.0):
    """Values in [a, b)."""
    return Uniform(a, b)(tensor)


def normal_(tensor, mean=0.0, std=1.0):
    """Normal values."""
    return Normal(mean, std)(tensor)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    """Normal values conditioned on [a, b]."""
    return TruncatedNormal(mean, std, a, b)(tensor)


def constant_(tensor, val):
    """`val` everywhere."""
    return Constant(val)(tensor)


def ones_(tensor):
    """Ones."""
    return Constant(1.0)(tensor)


def zeros_(tensor):
    """Zeros."""
    return Constant(0.0)(tensor)


def dirac_(tensor, groups=1):
    """A convolution that is the identity; 3-D to 5-D."""
    return Dirac(groups)(tensor)


def eye_(tensor):
    """The identity matrix; AssertionError unless 2-D."""
    if len(tensor.shape) != 2:
        raise AssertionError(f"Only support 2 dimensional tensor, but got tensor.shape={tensor.shape}")
    return Assign(paddle.eye(tensor.shape[0], tensor.shape[1], dtype=tensor.dtype))(tensor)


def orthogonal_(tensor, gain=1):
    """An orthogonal matrix times `gain`."""
    return Orthogonal(gain)(tensor)


def xavier_uniform_(tensor, gain=1.0, fan_in=None, fan_out=None):
    """Uniform values of variance gain^2 * 2 / (fan_in + fan_out)."""
    return XavierUniform(fan_in, fan_out, gain)(tensor)


def xavier_normal_(tensor, gain=1.0, fan_in=None, fan_out=None):
    """Normal values of variance gain^2 * 2 / (fan_in + fan_out)."""
    return XavierNormal(fan_in, fan_out, gain)(tensor)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Uniform values of variance gain^2 / fan; `a` is the negative slope of leaky_relu."""
    return KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Normal values of variance gain^2 / fan; `a` is the negative slope of leaky_relu."""
    return KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)
