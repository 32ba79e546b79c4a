"""The geometric distribution."""

from __future__ import annotations

import numbers

import numpy as np

import paddle

from .distribution import Distribution, as_parameter, sample_shape

__all__ = []


class Geometric(Distribution):
    """The number of failures before the first success: probabilities (1 - probs)^k probs, k = 0, 1 ...

    Args:
        probs (float | Tensor): of success, in (0, 1].
    """

    def __init__(self, probs):
        self.probs = as_parameter("probs", probs)
        super().__init__(self.probs.shape)

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    @property
    def stddev(self):
        """The standard deviation."""
        return paddle.sqrt(self.variance)

    def _count(self, k):
        if isinstance(k, (numbers.Integral, paddle.Tensor)):
            return k if isinstance(k, paddle.Tensor) else paddle.to_tensor(k, dtype=self.probs.dtype)
        raise TypeError(f"Expected type of k is number.Real|framework.Variable|Value, but got {type(k)}")

    def pmf(self, k):
        """The probability of `k` failures."""
        return paddle.exp(self.log_pmf(k))

    def log_pmf(self, k):
        """The logarithm of ``pmf``."""
        k = self._count(k).astype(self.probs.dtype)
        return k * paddle.log1p(-self.probs) + paddle.log(self.probs)

    def log_prob(self, value):
        return self.log_pmf(value)

    def cdf(self, k):
        """The probability of at most this value, of the broadcast shape."""
        return 1.0 - paddle.pow(1.0 - self.probs, self._count(k).astype(self.probs.dtype) + 1)

    def entropy(self):
        p, q = self.probs, 1.0 - self.probs
        return -(q * paddle.log(q) + p * paddle.log(p)) / p

    def sample(self, shape=()):
        with paddle.no_grad():
            return self.rsample(shape)

    def rsample(self, shape=()):
        shape = self._extend_shape(sample_shape(shape))
        tiny = float(np.finfo(np.float32).tiny)
        u = paddle.uniform(list(shape), self.probs.dtype, tiny, 1.0)
        return paddle.floor(paddle.log(u) / paddle.log1p(-self.probs))

    def kl_divergence(self, other):
        if not isinstance(other, Geometric):
            raise TypeError(f"[Geometric.kl_divergence] expected a Geometric, got {type(other)}")
        p, q = self.probs, other.probs
        return paddle.log(p / q) + (1.0 / p - 1.0) * paddle.log((1.0 - p) / (1.0 - q))
