"""The Bernoulli distribution."""

from __future__ import annotations

import paddle

from .distribution import as_parameter, event, sample_shape
from .exponential_family import ExponentialFamily

__all__ = []


def clipped(probs):
    """Probabilities moved away from 0 and 1 by the dtype's precision, so that their logarithms are finite."""
    eps = paddle.finfo(probs.dtype).eps
    return probs.clip(min=eps, max=1 - eps)


class Bernoulli(ExponentialFamily):
    """1 with probability `probs`, else 0.

    Args:
        probs (float | Tensor): in [0, 1].
    """

    def __init__(self, probs, name=None):
        self.name = name or "Bernoulli"
        self.probs = as_parameter("probs", probs)
        self.dtype = self.probs.dtype
        self.logits = self._to_logits(self.probs)
        super().__init__(self.probs.shape)

    @staticmethod
    def _to_logits(probs):
        p = clipped(probs)
        return paddle.log(p) - paddle.log1p(-p)

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, shape=()):
        with paddle.no_grad():
            return paddle.bernoulli(self.probs.expand(self._extend_shape(sample_shape(shape))))

    def rsample(self, shape=(), temperature=1.0):
        """Logits of a relaxed draw (Maddison et al., "The concrete distribution", 2017), divided by `temperature`."""
        if not temperature > 0:
            raise ValueError(f"[Bernoulli.rsample] expected temperature above 0, got {temperature}")
        shape = self._extend_shape(sample_shape(shape))
        u = clipped(paddle.rand(shape, dtype=self.dtype))
        return (self.logits.expand(shape) + paddle.log(u) - paddle.log1p(-u)) / temperature

    def cdf(self, value):
        """The probability of at most this value, of the broadcast shape."""
        value = event(value, self.probs)
        zero, one = paddle.zeros_like(self.probs), paddle.ones_like(self.probs)
        value, p, zero, one = paddle.broadcast_tensors([value, self.probs, zero, one])
        return paddle.where(value < 0, zero, paddle.where(value < 1, 1 - p, one))

    def log_prob(self, value):
        value = event(value, self.probs)
        return -paddle.nn.functional.binary_cross_entropy_with_logits(
            *paddle.broadcast_tensors([self.logits, value]), reduction="none"
        )

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def entropy(self):
        return paddle.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def kl_divergence(self, other):
        if not isinstance(other, Bernoulli):
            raise TypeError(f"[Bernoulli.kl_divergence] expected a Bernoulli, got {type(other)}")
        softplus = paddle.nn.functional.softplus
        p = self.probs
        return p * (self.logits - other.logits) + softplus(other.logits) - softplus(self.logits)

    @property
    def _natural_parameters(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        return paddle.log(1 + paddle.exp(x))

    @property
    def _mean_carrier_measure(self):
        return 0
