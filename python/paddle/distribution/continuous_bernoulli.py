"""The continuous Bernoulli distribution."""

from __future__ import annotations

import paddle

from .distribution import Distribution, as_parameter, event, sample_shape

__all__ = []


class ContinuousBernoulli(Distribution):
    """Densities C(p) p^x (1 - p)^(1 - x) on [0, 1] (Loaiza-Ganem & Cunningham, 2019).

    Args:
        probs (float | Tensor): in (0, 1).
        lims (pair of float): between them, where C is 0 / 0, Taylor series are used.
    """

    def __init__(self, probs, lims=(0.499, 0.501)):
        probs = as_parameter("probs", probs)
        eps = paddle.finfo(probs.dtype).eps
        self.probs = probs.clip(min=eps, max=1 - eps)
        self.dtype = self.probs.dtype
        self.lims = lims
        super().__init__(self.probs.shape)

    def _outside(self):
        return (self.probs < self.lims[0]) | (self.probs > self.lims[1])

    def _safe(self):
        """p, or the lower limit where p is between the limits."""
        return paddle.where(self._outside(), self.probs, self.lims[0] * paddle.ones_like(self.probs))

    def _log_constant(self):
        p = self._safe()
        exact = paddle.log(paddle.abs(2 * paddle.atanh(1 - 2 * p))) - paddle.log(paddle.abs(1 - 2 * p))
        x = (self.probs - 0.5).square()
        series = paddle.log(paddle.full_like(x, 2.0)) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return paddle.where(self._outside(), exact, series)

    @property
    def mean(self):
        p = self._safe()
        exact = p / (2 * p - 1) + 1 / (2 * paddle.atanh(1 - 2 * p))
        x = self.probs - 0.5
        return paddle.where(self._outside(), exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x)

    @property
    def variance(self):
        p = self._safe()
        exact = p * (p - 1) / (1 - 2 * p).square() + 1 / (2 * paddle.atanh(1 - 2 * p)).square()
        x = (self.probs - 0.5).square()
        return paddle.where(self._outside(), exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, shape=()):
        shape = self._extend_shape(sample_shape(shape))
        return self.icdf(paddle.rand(shape, dtype=self.dtype))

    def log_prob(self, value):
        value = event(value, self.probs)
        entropy = value * paddle.log(self.probs) + (1 - value) * paddle.log1p(-self.probs)
        inside = ((value >= 0) & (value <= 1)).astype(self.dtype)
        return self._log_constant() + entropy + paddle.log(inside)

    def entropy(self):
        log_p, log_q = paddle.log(self.probs), paddle.log1p(-self.probs)
        return self.mean * (log_q - log_p) - self._log_constant() - log_q

    def cdf(self, value):
        """The probability of at most this value, of the broadcast shape."""
        value = event(value, self.probs)
        p = self._safe()
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inner = paddle.where(self._outside() & (value == value), exact, value * paddle.ones_like(exact))
        return inner.clip(0.0, 1.0)

    def icdf(self, value):
        """The value below which lies this share of the distribution, of the broadcast shape."""
        value = event(value, self.probs)
        p = self._safe()
        odds = paddle.log(p) - paddle.log1p(-p)
        exact = (paddle.log1p(-p + value * (2 * p - 1)) - paddle.log1p(-p)) / odds
        return paddle.where(self._outside() & (value == value), exact, value * paddle.ones_like(exact))

    def kl_divergence(self, other):
        if not isinstance(other, ContinuousBernoulli):
            raise TypeError(f"[ContinuousBernoulli.kl_divergence] expected a ContinuousBernoulli, got {type(other)}")
        t = self.mean * (paddle.log(other.probs) - paddle.log1p(-other.probs))
        return -self.entropy() - t - other._log_constant() - paddle.log1p(-other.probs)
