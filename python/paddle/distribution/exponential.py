"""The exponential distribution."""

from __future__ import annotations

import paddle

from .distribution import as_parameter, event, sample_shape
from .exponential_family import ExponentialFamily

__all__ = []


class Exponential(ExponentialFamily):
    """Densities rate exp(-rate x), x > 0.

    Args:
        rate (float | Tensor): above 0.
    """

    def __init__(self, rate):
        self.rate = as_parameter("rate", rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, shape=()):
        shape = self._extend_shape(sample_shape(shape))
        return -paddle.log1p(-paddle.rand(shape, dtype=self.rate.dtype)) / self.rate

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def log_prob(self, value):
        return paddle.log(self.rate) - self.rate * event(value, self.rate)

    def entropy(self):
        return 1.0 - paddle.log(self.rate)

    def cdf(self, value):
        """The probability of at most this value, of the broadcast shape."""
        return 1.0 - paddle.exp(-self.rate * event(value, self.rate))

    def icdf(self, value):
        """The value below which lies this share of the distribution, of the broadcast shape."""
        return -paddle.log1p(-event(value, self.rate)) / self.rate

    def kl_divergence(self, other):
        if not isinstance(other, Exponential):
            raise TypeError(f"[Exponential.kl_divergence] expected an Exponential, got {type(other)}")
        ratio = other.rate / self.rate
        return ratio - paddle.log(ratio) - 1

    @property
    def _natural_parameters(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -paddle.log(-x)

    @property
    def _mean_carrier_measure(self):
        return 0
