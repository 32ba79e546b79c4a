"""The Kullback-Leibler divergence between two distributions, and how pairs of classes register theirs."""

from __future__ import annotations

import paddle

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exponential import Exponential
from .exponential_family import ExponentialFamily
from .gamma import Gamma
from .geometric import Geometric
from .laplace import Laplace
from .lognormal import LogNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .poisson import Poisson
from .uniform import Uniform

__all__ = ["register_kl", "kl_divergence"]

_TABLE = {}


def kl_divergence(p, q):
    """The divergence from `p` to `q`, in nats, of their batch shape.

    Raises:
        NotImplementedError: nothing is registered for the two classes or their bases.
    """
    return _dispatch(type(p), type(q))(p, q)


def register_kl(cls_p, cls_q):
    """Decorator of a function (p, q) that computes the divergence between instances of two classes.

    Raises:
        TypeError: a class is no Distribution.
    """
    if not issubclass(cls_p, Distribution) or not issubclass(cls_q, Distribution):
        raise TypeError("cls_p and cls_q must be subclass of Distribution")

    def register(function):
        _TABLE[cls_p, cls_q] = function
        return function

    return register


def _dispatch(cls_p, cls_q):
    """The function of the nearest bases."""
    near = [
        (cls_p.__mro__.index(a) + cls_q.__mro__.index(b), a, b)
        for a, b in _TABLE
        if issubclass(cls_p, a) and issubclass(cls_q, b)
    ]
    if not near:
        raise NotImplementedError(f"no kl_divergence is registered for {cls_p.__name__} and {cls_q.__name__}")
    _, a, b = min(near, key=lambda item: item[0])
    return _TABLE[a, b]


for _cls in (Bernoulli, Binomial, Categorical, Cauchy, ContinuousBernoulli, Exponential, Gamma, Geometric, Laplace,
             LogNormal, MultivariateNormal, Normal, Poisson):  # fmt: skip
    _TABLE[_cls, _cls] = _cls.kl_divergence


@register_kl(Beta, Beta)
def _beta(p, q):
    total_p, total_q = p.alpha + p.beta, q.alpha + q.beta
    return (
        (paddle.lgamma(q.alpha) + paddle.lgamma(q.beta) + paddle.lgamma(total_p))
        - (paddle.lgamma(p.alpha) + paddle.lgamma(p.beta) + paddle.lgamma(total_q))
        + (p.alpha - q.alpha) * paddle.digamma(p.alpha)
        + (p.beta - q.beta) * paddle.digamma(p.beta)
        + (total_q - total_p) * paddle.digamma(total_p)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    return (
        paddle.lgamma(total)
        - paddle.lgamma(b.sum(-1))
        - (paddle.lgamma(a) - paddle.lgamma(b)).sum(-1)
        + ((a - b) * (paddle.digamma(a) - paddle.digamma(total).unsqueeze(-1))).sum(-1)
    )


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    value = paddle.log((q.high - q.low) / (p.high - p.low))
    outside = (q.low > p.low) | (q.high < p.high)
    return paddle.where(outside, paddle.full_like(value, float("inf")), value)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    """The Bregman divergence of the log-normaliser (Nielsen & Nock, 2010)."""
    if type(p) is not type(q):
        raise NotImplementedError(f"no kl_divergence is registered for {type(p).__name__} and {type(q).__name__}")
    with paddle.enable_grad():
        ours = [t.detach() for t in p._natural_parameters]
        for t in ours:
            t.stop_gradient = False
        normalizer = p._log_normalizer(*ours)
        slopes = paddle.grad(normalizer.sum(), ours, create_graph=True)
    theirs = q._natural_parameters
    value = q._log_normalizer(*theirs) - normalizer
    for a, b, slope in zip(ours, theirs, slopes):
        term = (b - a) * slope
        axes = list(range(len(q.batch_shape), len(term.shape)))
        value = value - (term.sum(axes) if axes else term)
    return value
