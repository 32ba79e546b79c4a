"""Arithmetic, sums, products and scans. What needs no argument normalised is an operator itself."""

from __future__ import annotations

import builtins
import math as _math

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import (
    _COMPLEX,
    Tensor,
    accepts,
    finish,
    in_place,
    is_inexact,
    tensor_in,
    tensor_of,
)
from .products import (  # noqa: F401
    _slice_axis,
    _trapezoids,
    addmm,
    baddbmm,
    cumulative_trapezoid,
    ger,
    inner,
    kron,
    outer,
    trace,
    trapezoid,
)
from .special import (  # noqa: F401
    _in_degrees,
    copysign,
    deg2rad,
    frac,
    frexp,
    gcd,
    hypot,
    lcm,
    ldexp,
    logaddexp,
    logit,
    multigammaln,
    nan_to_num,
    neg,
    neg_,
    negative,
    positive,
    rad2deg,
    renorm,
    sgn,
    signbit,
    sinc,
)
from .sums import (  # noqa: F401
    _running,
    count_nonzero,
    cummax,
    cummin,
    cumprod,
    cumsum,
    diff,
    logcumsumexp,
    mean_form,
    nanmean,
    nansum,
    prod,
)


@accepts(x="input", y="other exponent")
def pow(x, y, name=None, *, out=None):  # noqa: A001 - the public name
    """`x` to the power `y` (a number or a tensor, broadcast)."""
    if not isinstance(x, Tensor):
        return finish(_C_ops.elementwise_pow(tensor_of(x, y), y), out)
    if isinstance(y, Tensor):
        return finish(_C_ops.elementwise_pow(x, y), out)
    if not isinstance(y, (int, float, complex)):
        raise TypeError(f"[pow] expected a number or a Tensor as y, got {type(y).__name__}")
    return finish(_C_ops.pow(x, y), out)


def pow_(x, y, name=None):
    """``pow`` that writes into `x`."""
    return _C_ops.pow_(x, y) if not isinstance(y, Tensor) else _C_ops.elementwise_pow_(x, y)


@accepts(x="input", y="other")
def floor_divide(x, y, name=None, *, out=None):
    """The largest whole number not above x / y."""
    return finish(_C_ops.floor_divide(x, y), out)


def _linear(kind):
    operator = getattr(_C_ops, kind)
    sign = 1 if kind == "add" else -1

    @accepts(x="input", y="other")
    def form(x, y, name=None, *, alpha=1, out=None):
        if not isinstance(x, Tensor):
            x = tensor_of(x, y)
        return finish(operator(x, y if alpha == 1 else y * alpha), out)

    form.__name__ = form.__qualname__ = kind
    form.__doc__ = f"x {'+' if sign > 0 else '-'} alpha y."
    return form


add_form, subtract_form = _linear("add"), _linear("subtract")


@accepts(x="input", y="other")
def divide_form(x, y, name=None, *, rounding_mode=None, out=None):
    """x / y; rounded towards zero with "trunc", down with "floor".

    Raises:
        ValueError: another mode.
    """
    if rounding_mode is None:
        return finish(_C_ops.divide(x, y), out)
    if rounding_mode == "floor":
        return finish(_C_ops.floor_divide(x, y), out)
    if rounding_mode != "trunc":
        raise ValueError(f"[divide] expected rounding_mode None, 'trunc' or 'floor', got {rounding_mode!r}")
    quotient = _C_ops.divide(x, y)
    result = _C_ops.trunc(quotient)
    return finish(result if is_inexact(x.dtype) else _C_ops.cast(result, x.dtype), out)


@accepts(x="input")
def scale(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None):
    """scale x + bias, or scale (x + bias); then the activation named `act`."""
    out = _C_ops.scale(x, scale, bias, bias_after_scale)
    if act is None:
        return out
    from ..nn import functional

    return getattr(functional, act)(out)


@accepts(x="input")
def clip(x, min=None, max=None, name=None, *, out=None):  # noqa: A002
    """`x` limited to [min, max]; None is no limit; either may be a tensor."""
    low, high = min, max
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        if (isinstance(low, Tensor) and low.size > 1) or (isinstance(high, Tensor) and high.size > 1):
            if low is not None:
                x = _C_ops.maximum(x, tensor_of(low, x))
            if high is not None:
                x = _C_ops.minimum(x, tensor_of(high, x))
            return finish(x, out)
    if not is_inexact(x.dtype) and (isinstance(low, float) or isinstance(high, float)):
        whole = builtins.all(v is None or isinstance(v, Tensor) or float(v).is_integer() for v in (low, high))
        if not whole:
            x = _C_ops.cast(x, core.get_default_dtype())
    if low is None or high is None:
        limit = _limits(x.dtype)
        low, high = limit[0] if low is None else low, limit[1] if high is None else high
    return finish(_C_ops.clip(x, low, high), out)


def _limits(dtype):
    if is_inexact(dtype):
        return -_math.inf, _math.inf
    from ..framework.dtype import iinfo

    info = iinfo(dtype)
    return info.min, info.max


clamp = clip


def clip_(x, min=None, max=None, name=None):  # noqa: A002
    """``clip`` that writes into `x`."""
    if isinstance(min, Tensor) or isinstance(max, Tensor) or not is_inexact(x.dtype):
        return x._write_back(_C_ops.cast(clip(x, min, max), x.dtype))
    return _C_ops.clip_(x, -_math.inf if min is None else min, _math.inf if max is None else max)


clamp_ = clip_


def scale_(x, scale=1.0, bias=0.0, bias_after_scale=True, act=None, name=None):
    """``scale`` that writes into `x`."""
    return _C_ops.scale_(x, scale, bias, bias_after_scale)


def increment(x, value=1.0, name=None):
    """Adds `value` to the one element of `x`, in place."""
    return _C_ops.scale_(x, 1.0, value, True)


def add_n(inputs, name=None):
    """The sum of tensors of one shape."""
    return _C_ops.add_n([inputs] if isinstance(inputs, Tensor) else list(inputs))


@accepts(x="input")
def lerp(x, y, weight, name=None):
    """x + weight (y - x)."""
    return _C_ops.lerp(x, y, tensor_of(weight, x))


def lerp_(x, y, weight, name=None):
    """``lerp`` that writes into `x`."""
    return _C_ops.lerp_(x, y, tensor_of(weight, x))


@accepts(x="input")
def isneginf(x, name=None, *, out=None):
    """Whether each element is minus infinity."""
    return finish(x == -_math.inf, out)


@accepts(x="input")
def isposinf(x, name=None, *, out=None):
    """Whether each element is infinity."""
    return finish(x == _math.inf, out)


@accepts(x="input")
def isreal(x, name=None):
    """Whether each element has no imaginary part."""
    if tensor_in(x, "isreal").dtype in _COMPLEX:
        return _C_ops.imag(x) == 0
    return _C_ops.full(x.shape, True, core.bool_, None)


def broadcast_tensors(input, name=None):
    """Tensors broadcast to their common shape."""
    return _C_ops.broadcast_tensors(list(input))


@accepts(x="input", y="other")
def gammaincc(x, y, name=None, *, out=None):
    """The upper regularised incomplete gamma function Q(x, y)."""
    return finish(1 - gammainc(x, y), out)


@accepts(x="input", y="other")
def gammainc(x, y, name=None, *, out=None):
    """The lower regularised incomplete gamma function P(x, y): series below x + 1, continued fraction above."""
    a, b = _C_ops.cast(x, core.float64), _C_ops.cast(y, core.float64)
    a, b = _C_ops.broadcast_tensors([a, b])
    front = _C_ops.exp(a * _C_ops.log(b) - b - _C_ops.lgamma(a))
    term = 1.0 / a
    total = term
    for k in range(1, 300):
        term = term * b / (a + k)
        total = total + term
    series = front * total
    tiny = 1e-300
    low = b + 1.0 - a
    c, d = _C_ops.full_like(a, 1 / tiny, None, None), 1.0 / _C_ops.where(low == 0, low + tiny, low)
    h = d
    for i in range(1, 300):
        an = -i * (i - a)
        low = low + 2.0
        d = an * d + low
        d = 1.0 / _C_ops.where(_C_ops.abs(d) < tiny, _C_ops.full_like(d, tiny, None, None), d)
        c = low + an / c
        c = _C_ops.where(_C_ops.abs(c) < tiny, _C_ops.full_like(c, tiny, None, None), c)
        h = h * (c * d)
    small = b < a + 1
    result = _C_ops.where(small, series, 1 - front * h)
    result = _C_ops.where(b == 0, _C_ops.full_like(b, 0, None, None), result)
    return finish(_C_ops.cast(result, x.dtype), out)


def multiply_(x, y, name=None):
    """``multiply`` that writes into `x`."""
    return _C_ops.multiply_(x, y)


mul_ = multiply_


def add_(x, y, name=None, *, alpha=1):
    """x + alpha y written into `x`."""
    return _C_ops.add_(x, y if alpha == 1 else y * alpha)


def subtract_(x, y, name=None, *, alpha=1):
    """x - alpha y written into `x`."""
    return _C_ops.subtract_(x, y if alpha == 1 else y * alpha)


sub_ = subtract_


def divide_(x, y, name=None, *, rounding_mode=None):
    """``divide`` that writes into `x`."""
    return (
        _C_ops.divide_(x, y) if rounding_mode is None else x._write_back(divide_form(x, y, rounding_mode=rounding_mode))
    )


div_ = divide_


def true_divide(input, other, *, out=None):
    """input / other."""
    return finish(_C_ops.divide(input, other), out)


cumsum_, cumprod_, nan_to_num_, frac_, gcd_, lcm_, hypot_, ldexp_, sinc_, renorm_, multigammaln_, addmm_, baddbmm_ = (
    in_place(f)
    for f in (cumsum, cumprod, nan_to_num, frac, gcd, lcm, hypot, ldexp, sinc, renorm, multigammaln, addmm, baddbmm)
)
gammainc_, gammaincc_, floor_divide_, logit_, copysign_ = (
    in_place(f) for f in (gammainc, gammaincc, floor_divide, logit, copysign)
)
_ = _core
