"""The binomial distribution."""

from __future__ import annotations

import paddle

from .bernoulli import clipped
from .distribution import Distribution, as_parameter, event, sample_shape

__all__ = []


class Binomial(Distribution):
    """The number of successes among `total_count` trials that each succeed with probability `probs`.

    Args:
        total_count (int | Tensor): not negative.
        probs (float | Tensor): in [0, 1].
    """

    def __init__(self, total_count, probs):
        probs = as_parameter("probs", probs)
        self.dtype = probs.dtype
        if not isinstance(total_count, paddle.Tensor):
            total_count = paddle.to_tensor(total_count, dtype="int64")
        self.total_count, self.probs = paddle.broadcast_tensors([total_count.astype(self.dtype), probs])
        super().__init__(self.probs.shape)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape=()):
        with paddle.no_grad():
            shape = self._extend_shape(sample_shape(shape))
            drawn = paddle.binomial(self.total_count.astype("int64").expand(shape), self.probs.expand(shape))
            return drawn.astype(self.dtype)

    def _log_choose(self, k):
        n = self.total_count
        return paddle.lgamma(n + 1.0) - paddle.lgamma(n - k + 1.0) - paddle.lgamma(k + 1.0)

    def log_prob(self, value):
        value = event(value, self.probs)
        p = clipped(self.probs)
        return self._log_choose(value) + value * paddle.log(p) + (self.total_count - value) * paddle.log1p(-p)

    def prob(self, value):
        return paddle.exp(self.log_prob(value))

    def entropy(self):
        """By summation over all outcomes."""
        n = int(self.total_count.max())
        k = paddle.arange(n + 1, dtype=self.dtype).reshape([n + 1] + [1] * len(self.probs.shape))
        logs = self.log_prob(k)
        possible = paddle.logical_and(k <= self.total_count, paddle.isfinite(logs))
        logs = paddle.where(possible, logs, paddle.zeros_like(logs))
        return -(paddle.exp(logs) * logs).sum(0)

    def kl_divergence(self, other):
        """The divergence to another Binomial with the same number of trials.

        Raises:
            ValueError: the numbers of trials differ.
        """
        if not isinstance(other, Binomial):
            raise TypeError(f"[Binomial.kl_divergence] expected a Binomial, got {type(other)}")
        if not bool((self.total_count == other.total_count).all()):
            raise ValueError("KL divergence of two binomial distributions should share the same `total_count` and "
                             "`batch_shape`.")  # fmt: skip
        p, q = clipped(self.probs), clipped(other.probs)
        ours = paddle.log(p) - paddle.log(q)
        return self.total_count * (p * ours + (1 - p) * (paddle.log1p(-p) - paddle.log1p(-q)))
