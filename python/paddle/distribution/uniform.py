"""The uniform distribution."""

from __future__ import annotations

import paddle

from .distribution import Distribution, event, parameters

__all__ = []


class Uniform(Distribution):
    """Uniform on [low, high).

    Args:
        low, high (float | list | ndarray | Tensor): broadcast against each other.
    """

    def __init__(self, low, high, name=None):
        self.name = name or "Uniform"
        self.low, self.high = parameters(low=low, high=high)
        self.dtype = self.low.dtype
        super().__init__(self.low.shape)

    @property
    def mean(self):
        return (self.low + self.high) / 2.0

    @property
    def variance(self):
        return (self.high - self.low).pow(2) / 12.0

    def sample(self, shape=(), seed=0):
        with paddle.no_grad():
            return self._draw(shape, seed)

    def rsample(self, shape=()):
        return self._draw(shape, 0)

    def _draw(self, shape, seed):
        noise = paddle.uniform(list(self._extend_shape(shape)), self.dtype, 0.0, 1.0, seed)
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value):
        return paddle.log(self.probs(value))

    def probs(self, value):
        value = event(value, self.low)
        inside = ((self.low < value) & (value < self.high)).astype(value.dtype)
        return inside / (self.high - self.low)

    def prob(self, value):
        return self.probs(value)

    def entropy(self):
        return paddle.log(self.high - self.low)
