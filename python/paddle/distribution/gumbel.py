"""The Gumbel distribution."""

from __future__ import annotations

import math

import numpy as np

import paddle

from .distribution import Distribution, event, parameters, sample_shape

__all__ = []


class Gumbel(Distribution):
    """Densities exp(-z - exp(-z)) / scale, z = (x - loc) / scale.

    Args:
        loc, scale (float | Tensor): broadcast against each other.
    """

    def __init__(self, loc, scale):
        self.loc, self.scale = parameters(loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        return self.loc + self.scale * np.euler_gamma

    @property
    def variance(self):
        return self.scale.pow(2) * (math.pi**2 / 6)

    @property
    def stddev(self):
        """The standard deviation."""
        return paddle.sqrt(self.variance)

    def _standard(self, value):
        return (event(value, self.loc) - self.loc) / self.scale

    def prob(self, value):
        z = self._standard(value)
        return paddle.exp(-(z + paddle.exp(-z))) / self.scale

    def log_prob(self, value):
        z = self._standard(value)
        return -(z + paddle.exp(-z)) - paddle.log(self.scale)

    def cdf(self, value):
        """The probability of at most this value, of the broadcast shape."""
        return paddle.exp(-paddle.exp(-self._standard(value)))

    def entropy(self):
        return paddle.log(self.scale) + 1 + np.euler_gamma

    def rsample(self, shape=()):
        eps = paddle.finfo(self.loc.dtype).tiny
        u = paddle.rand(self._extend_shape(sample_shape(shape)), dtype=self.loc.dtype).clip(min=eps)
        return self.loc - self.scale * paddle.log(-paddle.log(u).clip(max=-eps))

    def sample(self, shape=()):
        with paddle.no_grad():
            return self.rsample(shape)
