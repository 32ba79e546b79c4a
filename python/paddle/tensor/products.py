"""Products of vectors and matrices, and integrals by the trapezoidal rule."""

from __future__ import annotations

import builtins

from ..base.core import _C_ops
from ._common import (
    accepts,
    axis_in,
    finish,
)
from .sums import cumsum, diff


@accepts(x="input")
def trace(x, offset=0, axis1=0, axis2=1, name=None):
    """The sum of a diagonal."""
    return _C_ops.trace(x, offset, axis1, axis2)


@accepts(input="bias", x="mat1 batch1", y="mat2 batch2")
def addmm(input, x, y, beta=1.0, alpha=1.0, name=None, *, out=None):
    """beta input + alpha x @ y."""
    product = _C_ops.matmul(x, y, False, False)
    if alpha != 1.0:
        product = _C_ops.scale(product, alpha, 0.0, True)
    if beta == 0:
        return finish(product, out)
    return finish((input if beta == 1.0 else _C_ops.scale(input, beta, 0.0, True)) + product, out)


@accepts(input="bias", x="batch1", y="batch2")
def baddbmm(input, x, y, beta=1.0, alpha=1.0, name=None, *, out=None):
    """``addmm`` over batches of matrices."""
    return addmm(input, x, y, beta, alpha, out=out)


@accepts(x="input", y="other")
def inner(x, y, name=None, *, out=None):
    """Sums of products over the last axes."""
    if x.ndim == 0 or y.ndim == 0:
        return finish(x * y, out)
    left = _C_ops.reshape(x, [-1, x.shape[-1]])
    right = _C_ops.reshape(y, [-1, y.shape[-1]])
    return finish(_C_ops.reshape(_C_ops.matmul(left, right, False, True), [*x.shape[:-1], *y.shape[:-1]]), out)


@accepts(x="input", y="vec2")
def outer(x, y, name=None, *, out=None):
    """Products of each element of `x` with each of `y`, both flattened."""
    return finish(_C_ops.reshape(x, [-1, 1]) * _C_ops.reshape(y, [1, -1]), out)


ger = outer


@accepts(x="input", y="other")
def kron(x, y, name=None, *, out=None):
    """The Kronecker product."""
    rank = builtins.max(x.ndim, y.ndim)
    a, b = [1] * (rank - x.ndim) + list(x.shape), [1] * (rank - y.ndim) + list(y.shape)
    left = _C_ops.reshape(x, [n for s in a for n in (s, 1)])
    right = _C_ops.reshape(y, [n for s in b for n in (1, s)])
    return finish(_C_ops.reshape(left * right, [p * q for p, q in zip(a, b)]), out)


def _slice_axis(x, axis, begin, end):
    return _C_ops.slice(x, [axis], [begin], [end], [], [])


def _trapezoids(y, x, dx, axis):
    if x is not None and dx is not None:
        raise ValueError("Not permitted to specify both x and dx input args.")
    axis = axis_in(axis, y.ndim, "trapezoid")
    n = y.shape[axis]
    if x is None:
        width = 1.0 if dx is None else dx
    else:
        width = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            width = _C_ops.reshape(width, [-1 if a == axis else 1 for a in range(y.ndim)])
    both = _slice_axis(y, axis, 1, n) + _slice_axis(y, axis, 0, n - 1)
    return both * width / 2.0, axis


def trapezoid(y, x=None, dx=None, axis=-1, name=None):
    """The integral of `y` along `axis` by the trapezoid rule, at points `x` or distances `dx` (1 by default)."""
    parts, axis = _trapezoids(y, x, dx, axis)
    return _C_ops.sum(parts, [axis], None, False)


def cumulative_trapezoid(y, x=None, dx=None, axis=-1, name=None):
    """The running integral of ``trapezoid``."""
    parts, axis = _trapezoids(y, x, dx, axis)
    return cumsum(parts, axis)
