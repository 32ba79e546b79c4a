"""Which program serves a call.

The *exact key* of a call (structure and values of its arguments, dtypes, shapes, state) finds the program in one look-up. On a miss
the *family* of the call (the same with ranks for shapes) says which sizes have differed so far: those are symbolic for good, so
that one program serves them all. Sizes 0 and 1 are never symbolic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Exact keys are remembered up to this many: a server that sees ever new sizes doesn't grow.
MAX_EXACT = 4096


class Family:
    """Calls that differ in sizes only."""

    def __init__(self, shapes: list[tuple], symbolic: set[tuple[int, int]]) -> None:
        self.sizes = [list(s) for s in shapes]  # the size first seen, 0 and 1 giving way to a larger one
        self.symbolic = set(symbolic)
        self.declared = set(symbolic)  # by an InputSpec: there also size 1 is symbolic
        self.programs: dict[tuple, list] = {}
        self.segmented = False  # a call was interrupted: others of the family will be, too
        self.closed = False  # a capture failed where sizes were symbolic, and not where they were known

    def widen(self, shapes: list[tuple]) -> list[tuple[int, int, int, int]]:
        """Make sizes that differ from those seen symbolic; returns (input, axis, old, new) for each that became so."""
        news = []
        for i, shape in enumerate(shapes):
            for axis, size in enumerate(shape):
                old = self.sizes[i][axis]
                if size in (0, 1) or size == old:
                    continue
                if old in (0, 1):
                    self.sizes[i][axis] = size
                elif (i, axis) not in self.symbolic:
                    self.symbolic.add((i, axis))
                    news.append((i, axis, old, size))
        return news

    def pattern(self, shapes: list[tuple], closed: bool = False) -> tuple:
        """The shapes with None for sizes that are symbolic in a program for them; where ``closed`` those alone that an InputSpec
        leaves open."""
        closed |= self.closed
        return tuple(
            tuple([None if self._is_symbolic(i, a, n, closed) else n for a, n in enumerate(s)])
            for i, s in enumerate(shapes)
        )

    def _is_symbolic(self, i: int, axis: int, size: int, closed: bool) -> bool:
        # No size is symbolic where there is nothing; 1 is where an InputSpec says so.
        open_ = not closed and (i, axis) in self.symbolic and size > 1
        return size > 0 and ((i, axis) in self.declared or open_)


class ProgramCache:
    """Exact keys and families of one static function."""

    def __init__(self) -> None:
        self.exact: dict[Any, list] = {}
        self.families: dict[Any, Family] = {}

    def remember(self, key: Any, entry: Any) -> None:
        if len(self.exact) >= MAX_EXACT:
            self.exact.clear()
        known = self.exact.setdefault(key, [])
        if entry in known:
            known.remove(entry)
        known.insert(0, entry)

    def find(self, family: Family, pattern: tuple, fits: Callable[[Any], bool]) -> Any:
        return next((e for e in family.programs.get(pattern, ()) if fits(e)), None)

    def add(self, family: Family, pattern: tuple, entry: Any) -> None:
        family.programs.setdefault(pattern, []).insert(0, entry)

    def entries(self) -> list:
        return [e for f in self.families.values() for p in f.programs.values() for e in p]

    def clear(self) -> None:
        self.exact.clear()
        self.families.clear()
