"""Distributions of the exponential family."""

from __future__ import annotations

import paddle

from .distribution import Distribution

__all__ = []


class ExponentialFamily(Distribution):
    """Densities exp(<theta, t(x)> - F(theta) + k(x)), whose entropy follows from the log-normaliser F (Nielsen & Nock,
    "Entropies and cross-entropies of exponential families", 2010).
    """

    @property
    def _natural_parameters(self):
        """The tensors theta."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_parameters):
        """F."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        """The expectation of k."""
        raise NotImplementedError

    def entropy(self):
        with paddle.enable_grad():
            theta = [p.detach() for p in self._natural_parameters]
            for p in theta:
                p.stop_gradient = False
            normalizer = self._log_normalizer(*theta)
            slopes = paddle.grad(normalizer.sum(), theta, create_graph=True)
        value = normalizer - self._mean_carrier_measure
        for p, slope in zip(theta, slopes):
            term = p * slope
            axes = list(range(len(self.batch_shape), len(term.shape)))
            value = value - (term.sum(axes) if axes else term)
        return value
