"""The Dirichlet distribution."""

from __future__ import annotations

import paddle

from ..base.core import _C_ops
from .exponential_family import ExponentialFamily

__all__ = []


class Dirichlet(ExponentialFamily):
    """Points of the simplex, densities proportional to the product of x_i^(concentration_i - 1).

    Args:
        concentration (Tensor): [..., n], above 0.

    Raises:
        ValueError: `concentration` has no axis.
    """

    def __init__(self, concentration):
        if len(concentration.shape) < 1:
            raise ValueError("`concentration` parameter must be at least one dimensional")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def variance(self):
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def sample(self, shape=()):
        shape = shape if isinstance(shape, (list, tuple)) else tuple(shape)
        with paddle.no_grad():
            return _C_ops.dirichlet(self.concentration.expand(self._extend_shape(shape)))

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def log_prob(self, value):
        a = self.concentration
        return (paddle.log(value) * (a - 1.0)).sum(-1) + paddle.lgamma(a.sum(-1)) - paddle.lgamma(a).sum(-1)

    def entropy(self):
        total, k = self.concentration.sum(-1), self.concentration.shape[-1]
        return (
            paddle.lgamma(self.concentration).sum(-1)
            - paddle.lgamma(total)
            - (k - total) * paddle.digamma(total)
            - ((self.concentration - 1.0) * paddle.digamma(self.concentration)).sum(-1)
        )

    @property
    def _natural_parameters(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return paddle.lgamma(x).sum(-1) - paddle.lgamma(x.sum(-1))

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError
