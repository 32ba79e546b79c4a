"""The Cauchy distribution."""

from __future__ import annotations

import math

import paddle

from .distribution import Distribution, event, parameters, sample_shape

__all__ = []


class Cauchy(Distribution):
    """Densities 1 / (pi scale (1 + ((x - loc) / scale)^2)). It has neither mean nor variance.

    Args:
        loc, scale (float | Tensor): broadcast against each other.
    """

    def __init__(self, loc, scale, name=None):
        self.name = name or "Cauchy"
        self.loc, self.scale = parameters(loc=loc, scale=scale)
        self.dtype = self.loc.dtype
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        raise ValueError("Cauchy distribution has no mean.")

    @property
    def variance(self):
        raise ValueError("Cauchy distribution has no variance.")

    @property
    def stddev(self):
        """Raises ValueError."""
        raise ValueError("Cauchy distribution has no stddev.")

    def sample(self, shape=(), name=None):
        with paddle.no_grad():
            return self.rsample(shape)

    def rsample(self, shape=(), name=None):
        shape = self._extend_shape(sample_shape(shape))
        return self.loc + self.scale * paddle.tan((paddle.rand(shape, dtype=self.dtype) - 0.5) * math.pi)

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def log_prob(self, value):
        value = event(value, self.loc)
        return -paddle.log1p(((value - self.loc) / self.scale).pow(2)) - math.log(math.pi) - paddle.log(self.scale)

    def cdf(self, value):
        """The probability of at most this value, of the broadcast shape."""
        return paddle.atan((event(value, self.loc) - self.loc) / self.scale) / math.pi + 0.5

    def entropy(self):
        return math.log(4 * math.pi) + paddle.log(self.scale)

    def kl_divergence(self, other):
        """Chyzak & Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions"
        (2019)."""
        if not isinstance(other, Cauchy):
            raise TypeError(f"[Cauchy.kl_divergence] expected a Cauchy, got {type(other)}")
        numerator = (self.scale + other.scale).pow(2) + (self.loc - other.loc).pow(2)
        return paddle.log(numerator / (4 * self.scale * other.scale))
