"""The multivariate normal distribution."""

from __future__ import annotations

import math

import paddle

from .distribution import Distribution, as_parameter, event, sample_shape

__all__ = []


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc`, and one of covariance, precision and Cholesky factor of the covariance.

    Args:
        loc (float | Tensor): [..., n].
        covariance_matrix, precision_matrix, scale_tril (Tensor, optional): [..., n, n].

    Raises:
        ValueError: not just one of the three, or shapes that don't fit.
    """

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None):
        loc = as_parameter("loc", loc)
        if len(loc.shape) < 1:
            loc = loc.reshape([1])
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {k: v for k, v in given.items() if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = next(iter(given.items()))
        if len(matrix.shape) < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        self.dtype = matrix.dtype
        loc = loc.astype(self.dtype) if loc.dtype != self.dtype else loc
        batch = list(paddle.broadcast_shape(matrix.shape[:-2], loc.shape[:-1]))
        n = loc.shape[-1]
        matrix = matrix.expand([*batch, n, n])
        setattr(self, name, matrix)
        self.loc = loc.expand([*batch, n])
        if scale_tril is not None:
            self._factor = matrix
        elif covariance_matrix is not None:
            self._factor = paddle.linalg.cholesky(matrix)
        else:
            self._factor = _factor_of_inverse(matrix)
        super().__init__(batch, [n])

    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return self._factor.pow(2).sum(-1).expand([*self.batch_shape, *self.event_shape])

    def rsample(self, shape=()):
        shape = self._extend_shape(sample_shape(shape))
        noise = paddle.randn(shape, dtype=self.dtype)
        return self.loc + paddle.matmul(self._factor, noise.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return paddle.log(paddle.diagonal(self._factor, axis1=-2, axis2=-1)).sum(-1)

    def log_prob(self, value):
        difference = event(value, self.loc) - self.loc
        squares = _squared_length(self._factor, difference)
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + squares) - self._half_log_det()

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def entropy(self):
        h = 0.5 * self.event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return h.expand(list(self.batch_shape)) if self.batch_shape else h

    def kl_divergence(self, other):
        if not isinstance(other, MultivariateNormal):
            raise TypeError(f"[MultivariateNormal.kl_divergence] expected a MultivariateNormal, got {type(other)}")
        whitened = _solve(other._factor, self._factor)
        trace = whitened.pow(2).sum([-2, -1])
        squares = _squared_length(other._factor, other.loc - self.loc)
        logs = other._half_log_det() - self._half_log_det()
        return logs + 0.5 * (trace + squares - self.event_shape[0])


def _solve(factor, right):
    batch = list(paddle.broadcast_shape(factor.shape[:-2], right.shape[:-2]))
    return paddle.linalg.triangular_solve(
        factor.expand([*batch, *factor.shape[-2:]]), right.expand([*batch, *right.shape[-2:]]), upper=False
    )


def _squared_length(factor, difference):
    """|L^-1 d|^2."""
    return _solve(factor, difference.unsqueeze(-1)).pow(2).sum([-2, -1])


def _factor_of_inverse(precision):
    """The Cholesky factor of the inverse, by that of the matrix read backwards."""
    reversed_factor = paddle.linalg.cholesky(paddle.flip(precision, [-2, -1]))
    upper = paddle.flip(reversed_factor, [-2, -1]).mT
    return _solve(upper, paddle.eye(precision.shape[-1], dtype=precision.dtype).expand(precision.shape))
