"""Sets that parameters and events belong to: what ``check`` answers is whether a tensor does, elementwise."""

import paddle

__all__ = []


class Constraint:
    """A set of values."""

    def __call__(self, value):
        return self.check(value)

    def check(self, value):
        """Whether `value` belongs to the set."""
        raise NotImplementedError


class Real(Constraint):
    """Numbers that are not NaN."""

    def check(self, value):
        return value == value


class Range(Constraint):
    """Numbers of [lower, upper]."""

    def __init__(self, lower, upper):
        self._lower, self._upper = lower, upper

    def check(self, value):
        return (self._lower <= value) & (value <= self._upper)


class Positive(Constraint):
    """Numbers of at least 0."""

    def check(self, value):
        return value >= 0.0


class Simplex(Constraint):
    """Vectors of numbers of at least 0 whose sum is 1."""

    def check(self, value):
        return paddle.all(value >= 0, -1) & (paddle.abs(value.sum(-1) - 1) < 1e-6)


real, positive, simplex = Real(), Positive(), Simplex()
