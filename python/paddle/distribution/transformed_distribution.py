"""Distributions of transformed events."""

from __future__ import annotations

import paddle

from . import transform as _transform
from .distribution import Distribution
from .independent import Independent

__all__ = []


class TransformedDistribution(Distribution):
    """The distribution of t(x), x of `base` and t the chain of `transforms`.

    Raises:
        TypeError: `base` is no Distribution or a transform is none.
        ValueError: `base` has fewer axes than the transforms need.
    """

    def __init__(self, base, transforms):
        if not isinstance(base, Distribution):
            raise TypeError(f"Expected type of 'base' is Distribution, but got {type(base)}.")
        if not isinstance(transforms, (list, tuple)):
            raise TypeError(
                f"Expected type of 'transforms' is Sequence[Transform] or Chain, but got {type(transforms)}."
            )
        if not all(isinstance(t, _transform.Transform) for t in transforms):
            raise TypeError("All element of transforms must be Transform type.")
        chain = _transform.ChainTransform(transforms)
        rank = chain._domain.event_rank
        shape = tuple(base.batch_shape) + tuple(base.event_shape)
        if len(shape) < rank:
            raise ValueError(f"'base' needs to have shape with size at least {rank}, but got {len(shape)}.")
        extra = rank - len(base.event_shape)
        if extra > 0:
            base = Independent(base, extra)
        self._base, self._transforms = base, transforms
        out = chain.forward_shape(shape)
        event_rank = chain._codomain.event_rank + max(len(base.event_shape) - rank, 0)
        cut = len(out) - event_rank
        super().__init__(out[:cut], out[cut:])

    def sample(self, shape=()):
        with paddle.no_grad():
            x = self._base.sample(shape)
            for t in self._transforms:
                x = t.forward(x)
            return x

    def rsample(self, shape=()):
        x = self._base.rsample(shape)
        for t in self._transforms:
            x = t.forward(x)
        return x

    def log_prob(self, value):
        log_prob, y = 0.0, value
        event_rank = len(self.event_shape)
        for t in reversed(self._transforms):
            x = t.inverse(y)
            event_rank += t._domain.event_rank - t._codomain.event_rank
            log_prob = log_prob - _sum_rightmost(t.forward_log_det_jacobian(x), event_rank - t._domain.event_rank)
            y = x
        return log_prob + _sum_rightmost(self._base.log_prob(y), event_rank - len(self._base.event_shape))


def _sum_rightmost(value, n):
    """The last `n` axes summed."""
    return value.sum(list(range(-n, 0))) if n > 0 else value
