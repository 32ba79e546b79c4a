"""Transforms of single numbers."""

from __future__ import annotations

import math

import paddle

from . import variable
from .transform_base import Transform, Type, _tensors


class AbsTransform(Transform):
    """y = |x|. Its inverse is the pair (-y, y)."""

    _type = Type.SURJECTION

    def _forward(self, x):
        return x.abs()

    def _inverse(self, y):
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        zero = paddle.zeros([], dtype=y.dtype)
        return zero, zero

    @property
    def _codomain(self):
        return variable.positive


class AffineTransform(Transform):
    """y = loc + scale x.

    Args:
        loc, scale (Tensor): broadcast against x.
    """

    _type = Type.BIJECTION

    def __init__(self, loc, scale):
        _tensors(loc=loc, scale=scale)
        self._loc, self._scale = loc, scale

    @property
    def loc(self):
        """What is added."""
        return self._loc

    @property
    def scale(self):
        """What is multiplied with."""
        return self._scale

    def _forward(self, x):
        return self._loc + self._scale * x

    def _inverse(self, y):
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x):
        shape = paddle.broadcast_shape(paddle.broadcast_shape(x.shape, self._loc.shape), self._scale.shape)
        return paddle.log(paddle.abs(self._scale)).expand(shape)

    def _forward_shape(self, shape):
        return tuple(paddle.broadcast_shape(paddle.broadcast_shape(shape, self._loc.shape), self._scale.shape))

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """y = exp(x)."""

    _type = Type.BIJECTION

    @property
    def _codomain(self):
        return variable.positive

    def _forward(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def _forward_log_det_jacobian(self, x):
        return x


class PowerTransform(Transform):
    """y = x^power on positive numbers.

    Args:
        power (Tensor): broadcast against x.
    """

    _type = Type.BIJECTION

    def __init__(self, power):
        _tensors(power=power)
        self._power = power

    @property
    def power(self):
        """The exponent."""
        return self._power

    @property
    def _domain(self):
        return variable.real

    @property
    def _codomain(self):
        return variable.positive

    def _forward(self, x):
        return x.pow(self._power)

    def _inverse(self, y):
        return y.pow(1 / self._power)

    def _forward_log_det_jacobian(self, x):
        return (self._power * x.pow(self._power - 1)).abs().log()

    def _forward_shape(self, shape):
        return tuple(paddle.broadcast_shape(shape, self._power.shape))

    _inverse_shape = _forward_shape


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))."""

    _type = Type.BIJECTION

    @property
    def _codomain(self):
        return variable.Variable(False, 0, variable._constraint.Range(0.0, 1.0))

    def _forward(self, x):
        return paddle.nn.functional.sigmoid(x)

    def _inverse(self, y):
        return y.log() - (-y).log1p()

    def _forward_log_det_jacobian(self, x):
        softplus = paddle.nn.functional.softplus
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    _type = Type.BIJECTION

    @property
    def _codomain(self):
        return variable.Variable(False, 0, variable._constraint.Range(-1.0, 1.0))

    def _forward(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def _forward_log_det_jacobian(self, x):
        # log(1 - tanh^2), in a form that does not overflow.
        return 2.0 * (math.log(2.0) - x - paddle.nn.functional.softplus(-2.0 * x))
