"""Elementwise functions beside arithmetic: signs, degrees, divisors, gamma functions of several arguments."""

from __future__ import annotations

import math as _math

from ..base import core
from ..base.core import _C_ops
from ._common import (
    _COMPLEX,
    Tensor,
    accepts,
    axis_in,
    finish,
    is_inexact,
    tensor_in,
    tensor_of,
)


@accepts(x="input")
def nan_to_num(x, nan=0.0, posinf=None, neginf=None, name=None, *, out=None):
    """`x` with NaN and infinities replaced; infinities by the largest finite numbers by default."""
    from ..framework.dtype import finfo

    info = finfo(x.dtype)
    posinf, neginf = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    y = _C_ops.where(_C_ops.isnan(x), _C_ops.full_like(x, nan, None, None), x)
    infinite = _C_ops.isinf(y)
    y = _C_ops.where(infinite & (y > 0), _C_ops.full_like(x, posinf, None, None), y)
    return finish(_C_ops.where(infinite & (y < 0), _C_ops.full_like(x, neginf, None, None), y), out)


@accepts(x="input")
def logit(x, eps=None, name=None, *, out=None):
    """log(x / (1 - x)), `x` first limited to [eps, 1 - eps]."""
    return finish(_C_ops.logit(x, 0.0 if eps is None else eps), out)


@accepts(x="input")
def copysign(x, y, name=None, *, out=None):
    """|x| with the sign of `y`; of integers an integer."""
    signs = tensor_of(y, x)
    if is_inexact(x.dtype) or (isinstance(y, Tensor) and is_inexact(y.dtype)):
        return finish(_C_ops.copysign(x, signs), out)
    return finish(_signed(x, y < 0 if isinstance(y, Tensor) else tensor_of(y < 0)), out)


def _signed(x, negative):
    """|x| of integers or booleans, negated where `negative`."""
    if x.dtype == core.bool_:
        return x | (negative & False)  # of their common shape
    size = _C_ops.abs(x)
    return _C_ops.where(negative, -size, size)


def neg(x=None, name=None, *, out=None, input=None):
    """-x."""
    return finish(_C_ops.scale(input if x is None else x, -1.0, 0.0, True), out)


negative = neg


def neg_(x, name=None):
    """``neg`` that writes into `x`."""
    return _C_ops.scale_(x, -1.0, 0.0, True)


def positive(x, name=None):
    """`x`."""
    return x


@accepts(x="input")
def frac(x, name=None, *, out=None):
    """x - trunc(x)."""
    return finish(x - _C_ops.trunc(x), out)


def _in_degrees(x):
    return x if is_inexact(x.dtype) else _C_ops.cast(x, core.get_default_dtype())


@accepts(x="input")
def rad2deg(x, name=None, *, out=None):
    """Radians as degrees."""
    return finish(_in_degrees(x) * (180.0 / _math.pi), out)


@accepts(x="input")
def deg2rad(x, name=None, *, out=None):
    """Degrees as radians."""
    return finish(_in_degrees(x) * (_math.pi / 180.0), out)


@accepts(x="input", y="other")
def hypot(x, y, name=None, *, out=None):
    """sqrt(x^2 + y^2), without overflow."""
    a, b = _C_ops.abs(x), _C_ops.abs(y)
    big, small = _C_ops.maximum(a, b), _C_ops.minimum(a, b)
    safe = _C_ops.where(big == 0, _C_ops.full_like(big, 1, None, None), big)
    ratio = small / safe
    return finish(_C_ops.where(_C_ops.isinf(big), big, big * _C_ops.sqrt(1 + ratio * ratio)), out)


@accepts(x="input", y="other")
def logaddexp(x, y, name=None, *, out=None):
    """log(exp(x) + exp(y))."""
    x, y = _in_degrees(x), _in_degrees(y)
    big = _C_ops.maximum(x, y)
    rest = _C_ops.log1p(_C_ops.exp(-_C_ops.abs(x - y)))
    return finish(_C_ops.where(_C_ops.isinf(big) & (x == y), big, big + rest), out)


@accepts(x="input", y="other")
def ldexp(x, y, name=None, *, out=None):
    """x times 2 to the power y."""
    x = _in_degrees(x)
    return finish(x * _C_ops.elementwise_pow(_C_ops.full([], 2, x.dtype, None), _C_ops.cast(y, x.dtype)), out)


def frexp(x, name=None):
    """Mantissas in [0.5, 1) and exponents with x = mantissa times 2 to the power exponent.

    Raises:
        TypeError: not float32 or float64.
    """
    if str(x.dtype).rsplit(".", 1)[-1] not in ("float32", "float64"):
        raise TypeError(f"The data type of input must be one of ['float32', 'float64'], but got {x.dtype}")
    size = _C_ops.abs(x)
    zero = size == 0
    exponent = _C_ops.floor(_C_ops.log2(_C_ops.where(zero, _C_ops.full_like(x, 1, None, None), size))) + 1
    mantissa = x / _C_ops.elementwise_pow(_C_ops.full([], 2, x.dtype, None), exponent)
    # log2 rounds next to powers of two.
    high = _C_ops.abs(mantissa) >= 1
    mantissa, exponent = _C_ops.where(high, mantissa / 2, mantissa), _C_ops.where(high, exponent + 1, exponent)
    none = _C_ops.full_like(x, 0, None, None)
    return _C_ops.where(zero, none, mantissa), _C_ops.where(zero, none, exponent)


@accepts(x="input", y="other")
def gcd(x, y, name=None, *, out=None):
    """The greatest common divisor."""
    a, b = _C_ops.broadcast_tensors([_C_ops.abs(x), _C_ops.abs(y)])
    while bool(_C_ops.any(b != 0, [], False)):
        rest = _C_ops.where(
            b == 0, _C_ops.full_like(b, 0, None, None), a % _C_ops.where(b == 0, _C_ops.full_like(b, 1, None, None), b)
        )
        a, b = _C_ops.where(b == 0, a, b), rest
    return finish(a, out)


@accepts(x="input", y="other")
def lcm(x, y, name=None, *, out=None):
    """The least common multiple."""
    d = gcd(x, y)
    one = _C_ops.full_like(d, 1, None, None)
    return finish(_C_ops.abs(x * y) // _C_ops.where(d == 0, one, d), out)


@accepts(x="input")
def sgn(x, name=None, *, out=None):
    """The sign; of a complex number, the number of size 1 in its direction."""
    if x.dtype not in _COMPLEX:
        return finish(_C_ops.sign(x), out)
    size = _C_ops.abs(x)
    safe = _C_ops.where(size == 0, _C_ops.full_like(size, 1, None, None), size)
    return finish(x / _C_ops.cast(safe, x.dtype), out)


@accepts(x="input")
def signbit(x, name=None, *, out=None):
    """Whether the sign bit is set, that of -0.0 too."""
    if not is_inexact(tensor_in(x, "signbit").dtype):
        return finish(x < 0, out)
    return finish(_C_ops.copysign(_C_ops.full_like(x, 1, None, None), x) < 0, out)


@accepts(x="input")
def sinc(x, name=None, *, out=None):
    """sin(pi x) / (pi x), 1 at 0."""
    y = x * _math.pi
    zero = y == 0
    one = _C_ops.full_like(y, 1, None, None)
    safe = _C_ops.where(zero, one, y)
    return finish(_C_ops.where(zero, one, _C_ops.sin(safe) / safe), out)


@accepts(x="input")
def multigammaln(x, p, name=None):
    """log of the multivariate gamma function with `p` dimensions."""
    if p < 1:
        raise AssertionError("The p must be greater than or equal to 1.")
    total = 0.25 * p * (p - 1) * _math.log(_math.pi)
    for i in range(p):
        total = total + _C_ops.lgamma(x - 0.5 * i)
    return total


def renorm(x, p, axis, max_norm):
    """`x` with each slice along `axis` whose p-norm exceeds `max_norm` scaled to it."""
    axis = axis_in(axis, x.ndim, "renorm")
    others = [a for a in range(x.ndim) if a != axis]
    total = _C_ops.sum(_C_ops.pow(_C_ops.abs(x), float(p)), others, None, True)
    one = _C_ops.full_like(total, 1, None, None)
    positive = total > 0  # a root has no slope at 0
    norms = _C_ops.where(positive, _C_ops.pow(_C_ops.where(positive, total, one), 1.0 / p), total)
    factor = _C_ops.where(norms > max_norm, max_norm / (norms + 1e-7), one)
    return x * factor
