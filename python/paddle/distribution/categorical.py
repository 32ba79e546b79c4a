"""The categorical distribution."""

from __future__ import annotations

import paddle

from .distribution import Distribution, as_parameter

__all__ = []


class Categorical(Distribution):
    """One of n categories.

    As official Paddle has it, ``sample``, ``entropy`` and ``kl_divergence`` take `logits` as unnormalised log-weights,
    while ``probs`` and ``log_prob`` take them as weights, divided by their sum.

    Args:
        logits (list | ndarray | Tensor): [..., n].
    """

    def __init__(self, logits, name=None):
        self.name = name or "Categorical"
        self.logits = as_parameter("logits", logits)
        self.dtype = self.logits.dtype
        self._prob = self.logits / self.logits.sum(-1, keepdim=True)
        super().__init__(self.logits.shape[:-1])

    def _log_softmax(self):
        return paddle.nn.functional.log_softmax(self.logits, -1)

    def sample(self, shape=()):
        """Indices of categories, int64, of shape `shape` + batch_shape."""
        import math

        with paddle.no_grad():
            shape = [int(s) for s in shape]
            weights = paddle.nn.functional.softmax(self.logits, -1)
            n, batch = self.logits.shape[-1], list(self.batch_shape)
            drawn = paddle.multinomial(weights.reshape([-1, n]) if batch else weights, math.prod(shape), True)
            if batch:
                drawn = drawn.transpose([1, 0])
            return drawn.reshape([*shape, *batch])

    def kl_divergence(self, other):
        """The divergence to another Categorical; the last axis stays, with size 1."""
        if not isinstance(other, Categorical):
            raise TypeError(f"[Categorical.kl_divergence] expected a Categorical, got {type(other)}")
        ours, theirs = self._log_softmax(), other._log_softmax()
        return (paddle.exp(ours) * (ours - theirs)).sum(-1, keepdim=True)

    def entropy(self):
        logs = self._log_softmax()
        return -(paddle.exp(logs) * logs).sum(-1)

    def probs(self, value):
        """The probabilities of the categories `value` (integers).

        Where there is a batch, `value` has its shape, or is one-dimensional and asked of each.
        """
        if len(self._prob.shape) == 1:
            return paddle.gather(self._prob, value.reshape([-1]), axis=0).reshape(value.shape)
        if len(value.shape) == 1:
            value = value.reshape([1] * (len(self._prob.shape) - 1) + [-1]).expand([*self.batch_shape, value.shape[0]])
        return paddle.take_along_axis(self._prob, value, axis=-1)

    def prob(self, value):
        return self.probs(value)

    def log_prob(self, value):
        return paddle.log(self.probs(value))
