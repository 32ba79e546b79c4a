"""Functions of single elements that are 0 at 0, so that the coordinates stay."""

from __future__ import annotations

import math

import paddle

from .tensor import SparseCooTensor, SparseCsrTensor, expect_sparse

__all__ = []


def _elementwise(name, function, what):
    def f(x, name=None):
        return expect_sparse(op, x).with_values(function(x.values()))

    op = name
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"""{what}, of the elements that are stored.

    Args:
        x (SparseTensor): of either format.

    Returns:
        a sparse tensor with the same coordinates.

    Raises:
        TypeError: x is dense.
    """
    return f


abs = _elementwise("abs", paddle.abs, "The absolute value")
asin = _elementwise("asin", paddle.asin, "The arc sine")
asinh = _elementwise("asinh", paddle.asinh, "The inverse hyperbolic sine")
atan = _elementwise("atan", paddle.atan, "The arc tangent")
atanh = _elementwise("atanh", paddle.atanh, "The inverse hyperbolic tangent")
expm1 = _elementwise("expm1", paddle.expm1, "exp(x) - 1")
isnan = _elementwise("isnan", paddle.isnan, "Which are no numbers")
log1p = _elementwise("log1p", paddle.log1p, "log(1 + x)")
neg = _elementwise("neg", paddle.neg, "-x")
sin = _elementwise("sin", paddle.sin, "The sine")
sinh = _elementwise("sinh", paddle.sinh, "The hyperbolic sine")
sqrt = _elementwise("sqrt", paddle.sqrt, "The square root")
square = _elementwise("square", paddle.square, "The square")
tan = _elementwise("tan", paddle.tan, "The tangent")
tanh = _elementwise("tanh", paddle.tanh, "The hyperbolic tangent")


def _scaled(factor):
    def f(v):
        return (v if paddle.is_floating_point(v) else v.astype("float32")) * factor

    return f


deg2rad = _elementwise("deg2rad", _scaled(math.pi / 180), "Degrees as radians")
rad2deg = _elementwise("rad2deg", _scaled(180 / math.pi), "Radians as degrees")


def pow(x, factor, name=None):
    """The elements that are stored, to the power `factor`."""
    return expect_sparse("pow", x).with_values(paddle.pow(x.values(), factor))


def cast(x, index_dtype=None, value_dtype=None, name=None):
    """Other dtypes of the coordinates and of the values; None leaves them."""
    expect_sparse("cast", x)
    values = x.values() if value_dtype is None else x.values().astype(value_dtype)

    def index(t):
        return t if index_dtype is None else t.astype(index_dtype)

    if x.is_sparse_coo():
        return SparseCooTensor.make(index(x.indices()), values, x.shape, x.is_coalesced())
    return SparseCsrTensor.make(index(x.crows()), index(x.cols()), values, x.shape)
