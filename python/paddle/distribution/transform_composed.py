"""Transforms made of other transforms."""

from __future__ import annotations

import paddle

from . import variable
from .transform_base import Transform


class IndependentTransform(Transform):
    """`base`, with the last axes of a batch as part of the event: its Jacobian is summed over them.

    Raises:
        TypeError: `base` is no Transform. ValueError: the rank is below 1.
    """

    def __init__(self, base, reinterpreted_batch_rank):
        if not isinstance(base, Transform):
            raise TypeError(f"Expected 'base' is Transform type, but get {type(base)}")
        if reinterpreted_batch_rank <= 0:
            raise ValueError(
                f"Expected 'reinterpreted_batch_rank' is grater than zero, but got {reinterpreted_batch_rank}"
            )
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank

    def _is_injective(self):
        return self._base._is_injective()

    def _forward(self, x):
        return self._base.forward(x)

    def _inverse(self, y):
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x):
        return self._base.forward_log_det_jacobian(x).sum(list(range(-self._reinterpreted_batch_rank, 0)))

    def _forward_shape(self, shape):
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape):
        return self._base.inverse_shape(shape)

    @property
    def _domain(self):
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self):
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)


class ChainTransform(Transform):
    """One transform after the other.

    Args:
        transforms (sequence of Transform): the first is applied first.

    Raises:
        TypeError: no sequence, or not all are transforms.
    """

    def __init__(self, transforms):
        if not isinstance(transforms, (list, tuple)):
            raise TypeError(f"Expected type of 'transforms' is Sequence, but got {type(transforms)}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise TypeError("All elements of transforms should be Transform type.")
        self.transforms = transforms

    def _is_injective(self):
        return all(t._is_injective() for t in self.transforms)

    def _forward(self, x):
        for t in self.transforms:
            x = t.forward(x)
        return x

    def _inverse(self, y):
        for t in reversed(self.transforms):
            y = t.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x):
        value = 0.0
        event_rank = self._domain.event_rank
        for t in self.transforms:
            value = value + _summed(t.forward_log_det_jacobian(x), event_rank - t._domain.event_rank)
            x = t.forward(x)
            event_rank += t._codomain.event_rank - t._domain.event_rank
        return value

    def _forward_shape(self, shape):
        for t in self.transforms:
            shape = t.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape):
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        return shape

    @property
    def _domain(self):
        """The first domain, with as many axes more as later transforms need."""
        base = self.transforms[0]._domain
        rank = self.transforms[-1]._codomain.event_rank
        for t in reversed(self.transforms):
            rank = max(rank + t._domain.event_rank - t._codomain.event_rank, t._domain.event_rank)
        return variable.Independent(base, rank - base.event_rank)

    @property
    def _codomain(self):
        base = self.transforms[-1]._codomain
        rank = self.transforms[0]._domain.event_rank
        for t in self.transforms:
            rank = max(rank + t._codomain.event_rank - t._domain.event_rank, t._codomain.event_rank)
        return variable.Independent(base, rank - base.event_rank)


def _summed(value, n):
    return value.sum(list(range(-n, 0))) if n > 0 else value


class StackTransform(Transform):
    """Another transform for each slice along an axis.

    Args:
        transforms (sequence of Transform): as many as slices.
        axis (int): which axis.

    Raises:
        TypeError: no sequence of transforms, or `axis` is no int.
    """

    def __init__(self, transforms, axis=0):
        if not transforms or not isinstance(transforms, (list, tuple)):
            raise TypeError(f"Expected 'transforms' is Sequence[Transform], but got {type(transforms)}.")
        if not all(isinstance(t, Transform) for t in transforms):
            raise TypeError("Expected all element in transforms is Transform Type.")
        if not isinstance(axis, int):
            raise TypeError(f"Expected 'axis' is int, but got{type(axis)}.")
        self._transforms, self._axis = transforms, axis

    def _is_injective(self):
        return all(t._is_injective() for t in self._transforms)

    @property
    def transforms(self):
        """The transforms."""
        return self._transforms

    @property
    def axis(self):
        """The axis."""
        return self._axis

    def _each(self, method, x):
        n = x.shape[self._axis]
        if n != len(self._transforms):
            raise ValueError(
                f"Input x's shape {x.shape[self._axis]} along axis {self._axis} does not match the number of "
                f"transforms {len(self._transforms)}"
            )
        slices = paddle.unstack(x, self._axis)
        return paddle.stack([getattr(t, method)(s) for t, s in zip(self._transforms, slices)], self._axis)

    def _forward(self, x):
        return self._each("forward", x)

    def _inverse(self, y):
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x):
        return self._each("forward_log_det_jacobian", x)

    @property
    def _domain(self):
        return variable.Stack([t._domain for t in self._transforms], self._axis)

    @property
    def _codomain(self):
        return variable.Stack([t._codomain for t in self._transforms], self._axis)
