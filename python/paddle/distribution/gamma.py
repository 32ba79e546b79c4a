"""The gamma distribution."""

from __future__ import annotations

import paddle

from .distribution import event, parameters, sample_shape
from .exponential_family import ExponentialFamily

__all__ = []


class Gamma(ExponentialFamily):
    """Densities proportional to x^(concentration - 1) exp(-rate x), x > 0.

    Args:
        concentration, rate (float | Tensor): above 0; broadcast against each other.
    """

    def __init__(self, concentration, rate):
        self.concentration, self.rate = parameters(concentration=concentration, rate=rate)
        super().__init__(self.concentration.shape)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def log_prob(self, value):
        value = event(value, self.rate)
        a, b = self.concentration, self.rate
        return a * paddle.log(b) + (a - 1) * paddle.log(value) - b * value - paddle.lgamma(a)

    def entropy(self):
        a = self.concentration
        return a - paddle.log(self.rate) + paddle.lgamma(a) + (1.0 - a) * paddle.digamma(a)

    def sample(self, shape=()):
        with paddle.no_grad():
            return self.rsample(shape)

    def rsample(self, shape=()):
        """Events through which gradients reach `rate`."""
        shape = self._extend_shape(sample_shape(shape))
        return paddle.standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)

    def kl_divergence(self, other):
        if not isinstance(other, Gamma):
            raise TypeError(f"[Gamma.kl_divergence] expected a Gamma, got {type(other)}")
        a, b, c, d = self.concentration, self.rate, other.concentration, other.rate
        return (
            c * paddle.log(b / d)
            + paddle.lgamma(c)
            - paddle.lgamma(a)
            + (a - c) * paddle.digamma(a)
            + (d - b) * (a / b)
        )

    @property
    def _natural_parameters(self):
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, x, y):
        return paddle.lgamma(x + 1) + (x + 1) * paddle.log(-y.reciprocal())

    @property
    def _mean_carrier_measure(self):
        return 0
