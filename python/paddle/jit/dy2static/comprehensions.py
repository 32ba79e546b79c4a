"""Comprehensions whose sequences or conditions only running tells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from .. import _trace_api as api
from .branches import trace_if
from .containers import TracedList, as_traced_sequence, length_test
from .errors import Dy2StaticTypeError, user_location
from .loops import each_round
from .slots import BoxSlot


def comprehend_(iterable, comprehension: Callable):
    """``[... for x in iterable ...]``; ``comprehension`` is that of the items of what it is given."""
    sequence = as_traced_sequence(iterable)
    if sequence is None:
        return comprehension(iterable)
    return each_round(sequence, [], lambda out, item: (out.extend(comprehension([item])), out)[1])


def choose_(iterable, parts: Callable, several: bool = False):
    """``[... for x in iterable if ...]``; ``parts`` gives the test and the item for each of what it is given. With ``several`` an
    item is the list that the comprehension's other loops make."""
    sequence = as_traced_sequence(iterable)
    if sequence is None:
        return _chosen([], parts(iterable), several)
    return each_round(sequence, [], lambda out, item: _chosen(out, parts([item]), several))


def choose_lazily_(iterable, parts: Callable, several: bool = False):
    """``(... for x in iterable if ...)``."""
    sequence = as_traced_sequence(iterable)
    if sequence is None:
        return ChosenItems(parts(iterable), several)
    return each_round(sequence, [], lambda out, item: _chosen(out, parts([item]), several))


def _chosen(out, parts, several):
    for test, item in parts:
        holds = _truth_of(test)
        if not api.is_traced(holds):
            if holds:
                out = _with(out, item(), several)
            continue
        slot = BoxSlot("the list", out)
        trace_if(holds, lambda: slot.set(_with(slot.value, item(), several)), None, [slot])  # noqa: B023 - called in this round
        out = slot.value
    return out


def _truth_of(test: Callable):
    holds = test()
    return length_test(holds) if type(holds) is TracedList else holds


def _with(out, item, several: bool):
    if not several:
        out.append(item)
    elif isinstance(item, TracedList) and item.__jst_plain__() is None:
        out = out + item
    else:
        out.extend(item)
    return out


class ChosenItems:
    """What a generator expression with a condition gives. Python's tests are made one after the other, as somebody asks for
    items; where a tensor tests, the items become a list of traced length."""

    def __init__(self, parts: Iterator, several: bool) -> None:
        self._parts, self._several = parts, several
        self._inner: Iterator = iter(())
        self._list: TracedList | None = None

    def settled(self) -> TracedList | None:
        """The items, if a tensor chooses the first."""
        first = next(self._parts, None) if self._list is None else None
        if first is not None:
            holds = _truth_of(first[0])
            self._parts = itertools.chain([(lambda: holds, first[1])], self._parts)
            if api.is_traced(holds):
                items = _chosen([], self._parts, self._several)
                if isinstance(items, TracedList):
                    self._list = items
                else:
                    self._parts = iter([(lambda: True, lambda v=v: [v] if self._several else v) for v in items])
        return self._list

    def __iter__(self):
        return self

    def __next__(self):
        if self.settled() is not None:
            raise Dy2StaticTypeError(
                f"Tensors choose the items of this generator expression: Python code can't iterate over it ({user_location()})"
            )
        while True:
            for item in self._inner:
                return item
            test, item = next(self._parts)
            if test():
                self._inner = iter(item() if self._several else (item(),))

    def __jst_sequence__(self):
        items = self.settled()
        return None if items is None else as_traced_sequence(items)
