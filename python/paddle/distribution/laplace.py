"""The Laplace distribution."""

from __future__ import annotations

import math

import paddle

from .distribution import Distribution, event, parameters, sample_shape

__all__ = []


class Laplace(Distribution):
    """Densities exp(-|x - loc| / scale) / (2 scale).

    Args:
        loc, scale (float | Tensor): broadcast against each other.
    """

    def __init__(self, loc, scale):
        self.loc, self.scale = parameters(loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        return self.loc

    @property
    def stddev(self):
        """The standard deviation."""
        return math.sqrt(2.0) * self.scale

    @property
    def variance(self):
        return self.stddev.pow(2)

    def log_prob(self, value):
        value = event(value, self.loc)
        return -paddle.log(2 * self.scale) - paddle.abs(value - self.loc) / self.scale

    def entropy(self):
        return 1 + paddle.log(2 * self.scale)

    def cdf(self, value):
        """The probability of at most this value, of the broadcast shape."""
        z = (event(value, self.loc) - self.loc) / self.scale
        return 0.5 - 0.5 * paddle.sign(z) * paddle.expm1(-paddle.abs(z))

    def icdf(self, value):
        """The value below which lies this share of the distribution, of the broadcast shape."""
        term = event(value, self.loc) - 0.5
        return self.loc - self.scale * paddle.sign(term) * paddle.log1p(-2 * paddle.abs(term))

    def sample(self, shape=()):
        shape = shape if isinstance(shape, (list, tuple)) else tuple(shape)
        with paddle.no_grad():
            return self.rsample(shape)

    def rsample(self, shape):
        eps = paddle.finfo(self.loc.dtype).eps
        u = paddle.uniform(list(self._extend_shape(sample_shape(shape))), self.loc.dtype, -1 + eps, 1.0)
        return self.loc - self.scale * paddle.sign(u) * paddle.log1p(-paddle.abs(u))

    def kl_divergence(self, other):
        if not isinstance(other, Laplace):
            raise TypeError(f"[Laplace.kl_divergence] expected a Laplace, got {type(other)}")
        ratio = self.scale / other.scale
        shift = paddle.abs(self.loc - other.loc)
        return -paddle.log(ratio) + ratio * paddle.exp(-shift / self.scale) + shift / other.scale - 1
