"""Batch axes taken as part of an event."""

from __future__ import annotations

from .distribution import Distribution

__all__ = []


class Independent(Distribution):
    """The last `reinterpreted_batch_rank` batch axes of `base` belong to the event.

    Raises:
        TypeError: `base` is no Distribution.
        ValueError: the rank is not in [1, number of batch axes].
    """

    def __init__(self, base, reinterpreted_batch_rank):
        if not isinstance(base, Distribution):
            raise TypeError(f"Expected type of 'base' is Distribution, but got {type(base)}")
        if not 0 < reinterpreted_batch_rank <= len(base.batch_shape):
            raise ValueError(
                f"Expected 0 < reinterpreted_batch_rank <= {len(base.batch_shape)}, but got {reinterpreted_batch_rank}"
            )
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        shape = tuple(base.batch_shape) + tuple(base.event_shape)
        cut = len(base.batch_shape) - reinterpreted_batch_rank
        super().__init__(shape[:cut], shape[cut:])

    @property
    def mean(self):
        return self._base.mean

    @property
    def variance(self):
        return self._base.variance

    def sample(self, shape=()):
        return self._base.sample(shape)

    def rsample(self, shape=()):
        return self._base.rsample(shape)

    def log_prob(self, value):
        return self._summed(self._base.log_prob(value))

    def prob(self, value):
        return self.log_prob(value).exp()

    def entropy(self):
        return self._summed(self._base.entropy())

    def _summed(self, value):
        return value.sum(list(range(-self._reinterpreted_batch_rank, 0)))
