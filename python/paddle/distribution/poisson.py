"""The Poisson distribution."""

from __future__ import annotations

import math

import paddle

from .distribution import Distribution, as_parameter, event, sample_shape

__all__ = []


class Poisson(Distribution):
    """Probabilities rate^k exp(-rate) / k!.

    Args:
        rate (float | Tensor): not negative.
    """

    def __init__(self, rate):
        self.rate = as_parameter("rate", rate)
        self.dtype = self.rate.dtype
        super().__init__(self.rate.shape)

    @property
    def mean(self):
        return self.rate

    @property
    def variance(self):
        return self.rate

    def sample(self, shape=()):
        with paddle.no_grad():
            return paddle.poisson(self.rate.expand(self._extend_shape(sample_shape(shape))))

    def log_prob(self, value):
        value = event(value, self.rate)
        eps = paddle.finfo(self.dtype).eps
        return -self.rate + value * paddle.log(self.rate.clip(min=eps)) - paddle.lgamma(value + 1)

    def entropy(self):
        """By summation, as far as the probabilities count."""
        with paddle.no_grad():
            most = float(self.rate.max())
            n = int(most + 30 * math.sqrt(most) + 40)
        k = paddle.arange(n, dtype=self.dtype).reshape([n] + [1] * len(self.rate.shape))
        logs = self.log_prob(k)
        return -(paddle.exp(logs) * logs).sum(0)

    def kl_divergence(self, other):
        if not isinstance(other, Poisson):
            raise TypeError(f"[Poisson.kl_divergence] expected a Poisson, got {type(other)}")
        return self.rate * (paddle.log(self.rate) - paddle.log(other.rate)) - (self.rate - other.rate)
