"""The multinomial distribution."""

from __future__ import annotations

import paddle

from .binomial import Binomial
from .distribution import Distribution

__all__ = []


class Multinomial(Distribution):
    """How often each of n categories occurs among `total_count` draws.

    Args:
        total_count (int): at least 1.
        probs (Tensor): [..., n], weights; divided by their sum.

    Raises:
        ValueError: `total_count` below 1, or `probs` without an axis.
    """

    def __init__(self, total_count, probs):
        if not isinstance(total_count, int) or total_count < 1:
            raise ValueError("input parameter total_count must be int type and grater than zero.")
        if len(probs.shape) < 1:
            raise ValueError("probs parameter should not be none and over one dimension")
        self.probs = probs / probs.sum(-1, keepdim=True)
        self.total_count = total_count
        super().__init__(probs.shape[:-1], probs.shape[-1:])

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def log_prob(self, value):
        value = value.astype(self.probs.dtype) if value.dtype != self.probs.dtype else value
        logits, value = paddle.broadcast_tensors([paddle.log(self.probs), value])
        logits = paddle.where((value == 0) & paddle.isinf(logits), paddle.zeros_like(logits), logits)
        return paddle.lgamma(value.sum(-1) + 1) - paddle.lgamma(value + 1).sum(-1) + (value * logits).sum(-1)

    def sample(self, shape=()):
        if not isinstance(shape, (list, tuple)):
            raise TypeError("sample shape must be Iterable object.")
        with paddle.no_grad():
            n = self.probs.shape[-1]
            shape = self._extend_shape(shape)
            weights = self.probs.expand(shape).reshape([-1, n])
            drawn = paddle.multinomial(weights, self.total_count, True)
            counts = paddle.nn.functional.one_hot(drawn, n).sum(-2)
            return counts.astype(self.probs.dtype).reshape(list(shape))

    def entropy(self):
        n = paddle.to_tensor(self.total_count, dtype=self.probs.dtype)
        p = self.probs.clip(min=paddle.finfo(self.probs.dtype).eps)
        support = paddle.arange(1, self.total_count + 1, dtype=self.probs.dtype)
        support = support.reshape([-1] + [1] * len(self.probs.shape))
        mass = paddle.exp(Binomial(self.total_count, self.probs).log_prob(support))
        outcomes = (mass * paddle.lgamma(support + 1)).sum([0, -1])
        return -n * (p * paddle.log(p)).sum(-1) - paddle.lgamma(n + 1) + outcomes
