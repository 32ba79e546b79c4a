"""Operators as layers, so that quantisation finds them among a model's parts."""

from __future__ import annotations

import paddle

from ..layer.layers import Layer

__all__ = []


class FloatFunctionalLayer(Layer):
    """What the operators below have in common: no parameters."""


def _layer(name, function, what):
    def forward(self, *args, **kwargs):
        return function(*args, **kwargs)

    return type(
        name, (FloatFunctionalLayer,), {"forward": forward, "__doc__": f"``paddle.{name}`` as a layer: {what}."}
    )


add = _layer("add", paddle.add, "x + y")
subtract = _layer("subtract", paddle.subtract, "x - y")
multiply = _layer("multiply", paddle.multiply, "x * y")
divide = _layer("divide", paddle.divide, "x / y")
matmul = _layer("matmul", paddle.matmul, "the matrix product")
reshape = _layer("reshape", paddle.reshape, "other sizes")
transpose = _layer("transpose", paddle.transpose, "axes in another order")
concat = _layer("concat", paddle.concat, "tensors joined along an axis")
flatten = _layer("flatten", paddle.flatten, "several axes as one")
