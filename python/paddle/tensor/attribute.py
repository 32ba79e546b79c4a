"""What a tensor is: rank, dtype class, emptiness."""

from __future__ import annotations

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import _COMPLEX, _FLOATS, _INTEGERS, Tensor, accepts


@accepts(input="x")
def rank(input):
    """The number of axes, as an int32 tensor."""
    return _core.to_tensor(input.ndim, core.int32, None, True)


def shape(input):
    """The sizes, as an int64 vector."""
    return _C_ops.shape64(input)


def _checked(x):
    if not isinstance(x, Tensor):
        raise TypeError(f"Expected Tensor, but received type of x: {type(x)}")
    return x


@accepts(x="input")
def is_floating_point(x):
    """Whether the elements are floats."""
    return _checked(x).dtype in _FLOATS


@accepts(x="input")
def is_complex(x):
    """Whether the elements are complex."""
    return _checked(x).dtype in _COMPLEX


@accepts(x="input")
def is_integer(x):
    """Whether the elements are integers."""
    return _checked(x).dtype in _INTEGERS


def is_empty(x, name=None):
    """Whether there are no elements, as a tensor."""
    return _core.to_tensor(x.size == 0, core.bool_, None, True)


def numel(x, name=None):
    """The number of elements, as a tensor."""
    return _C_ops.numel(x)


@accepts(x="input")
def real(x, name=None):
    """The real part: of complex numbers a view, to which writes reach `x`; of others `x` copied."""
    return _C_ops.as_real(x)[..., 0] if _checked(x).dtype in _COMPLEX else _C_ops.real(x)


@accepts(x="input")
def imag(x, name=None):
    """The imaginary part: of complex numbers a view, to which writes reach `x`; of others zeros."""
    return _C_ops.as_real(x)[..., 1] if _checked(x).dtype in _COMPLEX else _C_ops.imag(x)
