"""Kinds of random variables: whether discrete, of what rank an event is, and in what set."""

from . import constraint as _constraint

__all__ = []


class Variable:
    """A kind of random variable."""

    def __init__(self, is_discrete=False, event_rank=0, constraint=None):
        self._is_discrete = is_discrete
        self._event_rank = event_rank
        self._constraint = constraint

    @property
    def is_discrete(self):
        """Whether the values are counted."""
        return self._is_discrete

    @property
    def event_rank(self):
        """The rank of one event."""
        return self._event_rank

    def constraint(self, value):
        """Whether `value` is possible."""
        return self._constraint(value)


class Real(Variable):
    """Real numbers."""

    def __init__(self, event_rank=0):
        super().__init__(False, event_rank, _constraint.real)


class Positive(Variable):
    """Positive numbers."""

    def __init__(self, event_rank=0):
        super().__init__(False, event_rank, _constraint.positive)


class Independent(Variable):
    """Variables of the kind `base`, of which some axes of a batch are one event."""

    def __init__(self, base, reinterpreted_batch_rank):
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value):
        ok = self._base.constraint(value)
        if len(ok.shape) < self._reinterpreted_batch_rank:
            raise ValueError(f"expected at least {self._reinterpreted_batch_rank} dimensions, got {len(ok.shape)}")
        return ok.all(list(range(-self._reinterpreted_batch_rank, 0)))


class Stack(Variable):
    """Variables of different kinds along an axis."""

    def __init__(self, vars, axis=0):  # noqa: A002 - the public name
        self._vars, self._axis = vars, axis
        super().__init__()

    @property
    def is_discrete(self):
        return any(v.is_discrete for v in self._vars)

    @property
    def event_rank(self):
        rank = max(v.event_rank for v in self._vars)
        return rank + 1 if self._axis + rank < 0 else rank


real, positive = Real(), Positive()
