"""Arithmetic, sums, products and scans. What needs no argument normalised is an operator itself."""

from __future__ import annotations

import builtins
import math as _math

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import (
    _COMPLEX,
    _INTEGERS,
    Tensor,
    accepts,
    axes_list,
    axis_in,
    finish,
    in_place,
    is_inexact,
    tensor_of,
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


@accepts(x="input", axis="dim")
def prod(x, axis=None, keepdim=False, dtype=None, out=None, name=None):
    """The product over `axis` (by default all), in `dtype`."""
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    axes = axes_list(axis)
    return finish(_C_ops.prod(x, axes, keepdim, not axes), out)


@accepts(x="input", axis="dim")
def mean_form(x, axis=None, keepdim=False, name=None, *, dtype=None, out=None):
    """The mean over `axis` (by default all), in `dtype`."""
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    return finish(_C_ops.mean(x, axes_list(axis), keepdim), out)


@accepts(x="input", axis="dim")
def nansum(x, axis=None, dtype=None, keepdim=False, name=None):
    """The sum over `axis` of what is not NaN."""
    return _C_ops.sum(
        _C_ops.where(_C_ops.isnan(x), _C_ops.full_like(x, 0, None, None), x), axes_list(axis), dtype, keepdim
    )


@accepts(x="input", axis="dim")
def nanmean(x, axis=None, keepdim=False, name=None):
    """The mean over `axis` of what is not NaN."""
    count = _C_ops.sum(_C_ops.cast(_C_ops.logical_not(_C_ops.isnan(x)), x.dtype), axes_list(axis), None, keepdim)
    return nansum(x, axis, None, keepdim) / count


@accepts(x="input", axis="dim")
def count_nonzero(x, axis=None, keepdim=False, name=None):
    """How many elements along `axis` are not zero."""
    hit = _C_ops.not_equal(x, _C_ops.full([], 0, x.dtype, None))
    return _C_ops.sum(_C_ops.cast(hit, core.int64), axes_list(axis), core.int64, keepdim)


@accepts(x="input", axis="dim")
def cumsum(x, axis=None, dtype=None, name=None, *, out=None):
    """Running sums along `axis`; without one, of the flattened `x`."""
    if dtype is None and x.dtype in _INTEGERS:
        dtype = core.int64
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    return finish(_C_ops.cumsum(x, -1 if axis is None else axis, axis is None, False, False), out)


@accepts(x="input", dim="axis")
def cumprod(x, dim=None, *, dtype=None, out=None, name=None):
    """Running products along `dim`; without one, of the flattened `x`."""
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    if dim is None:
        x, dim = _C_ops.flatten(x, 0, -1), 0
    return finish(_C_ops.cumprod(x, dim, False, False), out)


def _running(name):
    operator = getattr(_C_ops, name)

    @accepts(x="input", axis="dim")
    def form(x, axis=None, dtype="int64", name=None, *, out=None):
        if axis is None:
            x, axis = _C_ops.flatten(x, 0, -1), 0
        return finish(operator(x, axis, dtype), out)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"The running {name[3:]}imum along `axis` (by default of the flattened `x`) and its index."
    return form


cummax, cummin = _running("cummax"), _running("cummin")


@accepts(x="input", axis="dim")
def logcumsumexp(x, axis=None, dtype=None, name=None, *, out=None):
    """log of the running sums of exp(x) along `axis`; without one, of the flattened `x`."""
    if dtype is None and not is_inexact(x.dtype):
        dtype = core.get_default_dtype()
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    return finish(_C_ops.logcumsumexp(x, -1 if axis is None else axis, axis is None, False, False), out)


@accepts(x="input", axis="dim")
def diff(x, n=1, axis=-1, prepend=None, append=None, name=None, *, out=None):
    """The `n`-th differences of neighbours along `axis`."""
    if n < 1:
        raise ValueError(f"The value of n must be a positive integer, but got {n}")
    axis = axis_in(axis, x.ndim, "diff")
    parts = [p for p in (prepend, x, append) if p is not None]
    if len(parts) > 1:
        x = _C_ops.concat(parts, axis)
    for _ in range(n):
        size = x.shape[axis]
        high = _C_ops.slice(x, [axis], [1], [builtins.max(size, 1)], [], [])
        low = _C_ops.slice(x, [axis], [0], [builtins.max(size - 1, 0)], [], [])
        x = _C_ops.logical_xor(high, low) if x.dtype == core.bool_ else high - low
    return finish(x, out)


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
    """|x| with the sign of `y`."""
    return finish(_C_ops.copysign(x, tensor_of(y, x)), out)


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
    if not is_inexact(x.dtype):
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
    norms = _C_ops.pow(_C_ops.sum(_C_ops.pow(_C_ops.abs(x), float(p)), others, None, True), 1.0 / p)
    factor = _C_ops.where(norms > max_norm, max_norm / (norms + 1e-7), _C_ops.full_like(norms, 1, None, None))
    return x * factor


@accepts(x="input")
def trace(x, offset=0, axis1=0, axis2=1, name=None):
    """The sum of a diagonal."""
    return _C_ops.sum(_C_ops.diagonal(x, offset, axis1, axis2), [-1], None, False)


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
    if x.dtype in _COMPLEX:
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
