"""Student's t-distribution."""

from __future__ import annotations

import math

import paddle

from .distribution import Distribution, event, parameters, sample_shape

__all__ = []


class StudentT(Distribution):
    """t-distribution with `df` degrees of freedom, moved by `loc` and stretched by `scale`.

    Args:
        df, loc, scale (float | Tensor): broadcast against each other; df and scale above 0.

    Raises:
        ValueError: `df` or `scale` is not above 0.
    """

    def __init__(self, df, loc, scale, name=None):
        self.name = name or "StudentT"
        self.df, self.loc, self.scale = parameters(df=df, loc=loc, scale=scale)
        if not bool((self.df > 0).all()):
            raise ValueError("All elements of `df` should be greater than 0")
        if not bool((self.scale > 0).all()):
            raise ValueError("All elements of `scale` should be greater than 0")
        super().__init__(self.df.shape)

    @property
    def mean(self):
        return paddle.where(self.df > 1.0, self.loc, paddle.full_like(self.loc, math.nan))

    @property
    def variance(self):
        finite = self.scale.pow(2) * self.df / (self.df - 2.0)
        infinite = paddle.full_like(finite, math.inf)
        value = paddle.where(self.df > 2.0, finite, infinite)
        return paddle.where(self.df > 1.0, value, paddle.full_like(finite, math.nan))

    def sample(self, shape=()):
        with paddle.no_grad():
            shape = self._extend_shape(sample_shape(shape))
            normal = paddle.randn(shape, dtype=self.df.dtype)
            chi2 = 2.0 * paddle.standard_gamma((self.df * 0.5).expand(shape))
            return self.loc + self.scale * normal * paddle.rsqrt(chi2 / self.df)

    def log_prob(self, value):
        y = (event(value, self.df) - self.loc) / self.scale
        z = (
            paddle.log(self.scale)
            + 0.5 * paddle.log(self.df)
            + 0.5 * math.log(math.pi)
            + paddle.lgamma(0.5 * self.df)
            - paddle.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * paddle.log1p(y.pow(2) / self.df) - z

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def entropy(self):
        half, more = 0.5 * self.df, 0.5 * (self.df + 1.0)
        log_beta = paddle.lgamma(half) + math.lgamma(0.5) - paddle.lgamma(more)
        return (
            paddle.log(self.scale)
            + more * (paddle.digamma(more) - paddle.digamma(half))
            + 0.5 * paddle.log(self.df)
            + log_beta
        )
