"""The beta distribution."""

from __future__ import annotations

import paddle

from .dirichlet import Dirichlet
from .distribution import parameters
from .exponential_family import ExponentialFamily

__all__ = []


class Beta(ExponentialFamily):
    """Densities proportional to x^(alpha - 1) (1 - x)^(beta - 1) on (0, 1).

    Args:
        alpha, beta (float | Tensor): above 0; broadcast against each other.
    """

    def __init__(self, alpha, beta):
        self.alpha, self.beta = parameters(alpha=alpha, beta=beta)
        self._dirichlet = Dirichlet(paddle.stack([self.alpha, self.beta], -1))
        super().__init__(self._dirichlet._batch_shape)

    @property
    def mean(self):
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self):
        total = self.alpha + self.beta
        return self.alpha * self.beta / (total.pow(2) * (total + 1))

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def log_prob(self, value):
        value = value if isinstance(value, paddle.Tensor) else paddle.to_tensor(value, dtype=self.alpha.dtype)
        return self._dirichlet.log_prob(paddle.stack([value, 1.0 - value], -1))

    def sample(self, shape=()):
        shape = shape if isinstance(shape, (list, tuple)) else tuple(shape)
        return paddle.squeeze(self._dirichlet.sample(shape)[..., :1], -1)

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def _natural_parameters(self):
        return (self.alpha, self.beta)

    def _log_normalizer(self, x, y):
        return paddle.lgamma(x) + paddle.lgamma(y) - paddle.lgamma(x + y)

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError
