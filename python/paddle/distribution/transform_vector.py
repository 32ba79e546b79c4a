"""Transforms of whole vectors, and of their shapes."""

from __future__ import annotations

import math

import paddle

from . import variable
from .transform_base import Transform, Type, _shape


class _ToSimplex(Transform):
    """From vectors of real numbers to vectors that are positive and sum to 1."""

    @property
    def _domain(self):
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self):
        return variable.Variable(False, 1, variable._constraint.simplex)


class SoftmaxTransform(_ToSimplex):
    """y = softmax(x) along the last axis; its inverse is log(y)."""

    _type = Type.OTHER

    def _forward(self, x):
        y = (x - x.max(-1, keepdim=True)).exp()
        return y / y.sum(-1, keepdim=True)

    def _inverse(self, y):
        return y.log()

    def _forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError(f"Expected length of shape is grater than 1, but got {len(shape)}")
        return shape

    _inverse_shape = _forward_shape


class StickBreakingTransform(_ToSimplex):
    """n numbers to n + 1 that are positive and sum to 1: each takes a share of what those before left."""

    _type = Type.BIJECTION

    @staticmethod
    def _offset(n, dtype):
        return paddle.log(paddle.arange(n, 0, -1, dtype=dtype))

    def _forward(self, x):
        z = paddle.nn.functional.sigmoid(x - self._offset(x.shape[-1], x.dtype))
        one = paddle.ones([*x.shape[:-1], 1], dtype=x.dtype)
        left = paddle.concat([one, (1 - z).cumprod(-1)], -1)
        return paddle.concat([z, one], -1) * left

    def _inverse(self, y):
        head = y[..., :-1]
        left = 1 - head.cumsum(-1)
        return head.log() - left.log() + self._offset(head.shape[-1], y.dtype)

    def _forward_log_det_jacobian(self, x):
        y = self.forward(x)
        x = x - self._offset(x.shape[-1], x.dtype)
        return (-x + paddle.nn.functional.log_sigmoid(x) + y[..., :-1].log()).sum(-1)

    def _forward_shape(self, shape):
        if not shape:
            raise ValueError(f"Expected 'shape' is not empty, but got {shape}")
        return (*shape[:-1], shape[-1] + 1)

    def _inverse_shape(self, shape):
        if not shape:
            raise ValueError(f"Expected 'shape' is not empty, but got {shape}")
        return (*shape[:-1], shape[-1] - 1)


class ReshapeTransform(Transform):
    """Events reshaped.

    Args:
        in_event_shape, out_event_shape (sequence of int): of one size.

    Raises:
        TypeError: no sequences. ValueError: the sizes differ.
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape, out_event_shape):
        self._in_event_shape, self._out_event_shape = tuple(_shape(in_event_shape)), tuple(_shape(out_event_shape))
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise ValueError(
                f"The numel of 'in_event_shape' should be 'out_event_shape', but got {math.prod(in_event_shape)}!="
                f"{math.prod(out_event_shape)}"
            )

    @property
    def in_event_shape(self):
        """The shape of an event before."""
        return self._in_event_shape

    @property
    def out_event_shape(self):
        """The shape of an event after."""
        return self._out_event_shape

    @property
    def _domain(self):
        return variable.Independent(variable.real, len(self._in_event_shape))

    @property
    def _codomain(self):
        return variable.Independent(variable.real, len(self._out_event_shape))

    def _forward(self, x):
        return x.reshape([*x.shape[: len(x.shape) - len(self._in_event_shape)], *self._out_event_shape])

    def _inverse(self, y):
        return y.reshape([*y.shape[: len(y.shape) - len(self._out_event_shape)], *self._in_event_shape])

    def _forward_log_det_jacobian(self, x):
        return paddle.zeros(x.shape[: len(x.shape) - len(self._in_event_shape)], dtype=x.dtype)

    @staticmethod
    def _replaced(shape, old, new):
        cut = len(shape) - len(old)
        if cut < 0:
            raise ValueError(f"Expected length of 'shape' is not less than {len(old)}, but got {len(shape)}")
        if tuple(shape[cut:]) != old:
            raise ValueError(f"Event shape mismatch, expected: {old}, but got {tuple(shape[cut:])}")
        return tuple(shape[:cut]) + new

    def _forward_shape(self, shape):
        return self._replaced(shape, self._in_event_shape, self._out_event_shape)

    def _inverse_shape(self, shape):
        return self._replaced(shape, self._out_event_shape, self._in_event_shape)
