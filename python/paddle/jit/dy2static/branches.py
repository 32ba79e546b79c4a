"""Trace both branches of an ``if`` into one region operator and merge what they leave in the slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _trace_api as api
from ..objects import opened_both
from ..structure import LEAF, flatten, leaf_paths, unflatten
from . import breaks
from .containers import TracedList
from .early_exit import EXIT_FLAGS, RETURN_FLAG, RETURN_VALUE
from .errors import BranchRankError, Dy2StaticNameError, Dy2StaticTypeError, Unusable, is_unusable, user_location
from .slots import MISSING, BoxSlot, Found, Snapshot, Watch, assign, note_kept
from .texts import TracedText, assert_traced
from .values import as_tensor, common_dtype, describe, is_leaf_value, is_number, same, truth, type_of, zero_like


class _Merge:
    """Pairs the values that two branches leave and collects what the operator must return."""

    def __init__(self, where: str, region_true, region_false) -> None:
        self.where = where
        self.regions = (region_true, region_false)
        self.outs: tuple[list, list] = ([], [])
        self.pred: Any = None
        self.names = True  # what is merged are variables, not elements that were written
        self.late: Sequence = ()  # variables of a loop's first round that are read after it
        self.asked_for: list[str] = []  # ... that it alone gives a value
        self.exits = (False, False)  # the branch leaves by break, continue or return (or may)
        self.returns = (False, False)  # ... by return: nobody reads its variables any more
        self.stays = (True, True)  # ... by nothing but return: what it gives a value is read nowhere else

    def note_exits(self, slots, *sides) -> None:
        """Read the flags of early exits: what a branch that exits leaves undefined is only read where the flag is unset."""
        flags = [(i, s.name == RETURN_FLAG) for i, s in enumerate(slots) if s.name.startswith(EXIT_FLAGS)]
        left = [{by_return for i, by_return in flags if v[i] is True or api.is_tensor(v[i])} for v in sides]
        self.exits = tuple(bool(ways) for ways in left)
        self.returns = tuple(ways == {True} for ways in left)
        self.stays = tuple(False not in ways for ways in left)

    def value(self, name: str, a, b) -> Callable[[list], Any]:
        """A function that picks the merged value out of the operator's results."""
        if a is b:
            return lambda results: a
        a, b = (MISSING if gone and is_unusable(v) else v for v, gone in zip((a, b), self.returns))
        if is_unusable(a) or is_unusable(b):
            bad = a if is_unusable(a) else b
            return lambda results: bad
        if a is MISSING or b is MISSING:
            return self._one_sided(name, a, b)
        if is_leaf_value(a) and is_leaf_value(b):
            return self._leaf(a, b)
        a, b = opened_both(a, b)
        la, lb = [], []
        sa, sb = flatten(a, la, _plain), flatten(b, lb, _plain)
        if sa == sb and sa != LEAF:
            parts = [self.value(name + p, x, y) for p, x, y in zip(leaf_paths(sa), la, lb)]
            return lambda results: unflatten(sa, [p(results) for p in parts])
        if self._growing(a, b):
            return self._lists(name, a, b)
        if type(a) is type(b) and same(a, b):
            return lambda results: a
        if self.returns[0] != self.returns[1]:
            return self._one_sided(name, *(MISSING if gone else v for v, gone in zip((a, b), self.returns)))
        return self._unusable(
            name, Dy2StaticTypeError, f"is {describe(a)} if the condition holds and {describe(b)} if not"
        )

    def _unusable(self, name, error, text):
        shown = "the function's result" if name.startswith(RETURN_VALUE) else f"variable '{name}'"
        message = f"{shown} {text}; the condition is a Tensor, so both must agree ({self.where})"
        if breaks.breakable():  # Python can have it
            raise error(message)
        bad = Unusable(error, message)
        return lambda results: bad

    def _one_sided(self, name, a, b):
        missing, given = (0, 1) if a is MISSING else (1, 0)
        # After a `break` or `continue` the other side's flags keep what it lacks from being read, as in Python.
        if name in self.late and missing == 1:
            self.asked_for.append(name)
        elif name != RETURN_VALUE and not self.exits[missing] and self.stays[given]:
            branch = "true" if b is MISSING else "false"
            return self._unusable(name, Dy2StaticNameError, f"is only given a value when the condition is {branch}")
        # The flag beside it says whether the value counts: the other branch yields zeros.
        known, side = (a, 1) if b is MISSING else (b, 0)
        leaves: list = []
        structure = flatten(known, leaves, _plain)
        with self.regions[side]:
            blank = [zero_like(v) if is_leaf_value(v) and not api.is_array(v) else v for v in leaves]
        pairs = [(v, z) if side == 1 else (z, v) for v, z in zip(leaves, blank)]
        parts = [self._leaf(x, y) if x is not y else lambda results, x=x: x for x, y in pairs]
        return lambda results: unflatten(structure, [p(results) for p in parts])

    def _leaf(self, a, b):
        if is_number(a) and type(a) is type(b) and not api.is_symint(a) and same(a, b):
            return lambda results: a
        if api.is_array(a) and api.is_array(b):
            return self.array(a, b)
        if self.names:
            api.check_choice(a, b)
        dtype = common_dtype(type_of(a), type_of(b))
        shapes = [tuple(v.shape) if api.is_tensor(v) else None for v in (a, b)]
        if None not in shapes and len(shapes[0]) != len(shapes[1]):
            raise BranchRankError(
                f"a Tensor has shape {list(shapes[0])} if the condition holds and {list(shapes[1])} if not: "
                f"the ranks must agree ({self.where})"
            )
        fill = next((s for s in shapes if s is not None), ())
        for region, out, v in zip(self.regions, self.outs, (a, b)):
            with region:
                out.append(as_tensor(v, dtype, fill))
        index = len(self.outs[0]) - 1
        return lambda results: self._chosen(results, index)

    def _chosen(self, results, index):
        """A variable's value: one of two tensors itself."""
        result, a, b = results[index], self.outs[0][index], self.outs[1][index]
        if self.names:
            api.note_choice(result, self.pred, a, b)
        return result

    def array(self, a, b):
        self.outs[0].append(a)
        self.outs[1].append(b)
        index = len(self.outs[0]) - 1
        return lambda results: results[index]

    @staticmethod
    def _growing(a, b) -> bool:
        return isinstance(a, (list, TracedList)) and isinstance(b, (list, TracedList)) and bool(_item(a) or _item(b))

    def _lists(self, name, a, b):
        example = (_item(a) or _item(b))[0] if not isinstance(b, TracedList) else b
        both = []
        for region, v in zip(self.regions, (a, b)):
            with region:
                both.append(v if isinstance(v, TracedList) else TracedList.like(example, v))
        if both[0].structure != both[1].structure:
            return self._unusable(name, Dy2StaticTypeError, "is a list whose items differ in structure")
        parts = [self.array(x, y) for x, y in zip(both[0].arrays, both[1].arrays)]
        return lambda results: TracedList(both[0].structure, [p(results) for p in parts])


def _plain(value) -> bool:
    """A container without anything of the program in it: it stays the object that it is."""
    if type(value) not in (list, dict):
        return False
    leaves: list = []
    flatten(value, leaves)
    return not any(is_leaf_value(v) for v in leaves)


def _item(v):
    """A one-element list with an example item, or an empty one."""
    if isinstance(v, TracedList):
        return [v]
    return v[-1:]


def trace_if(
    pred, then, orelse, slots: list, unread: Sequence = (), raises=(False, False), late: Sequence = ()
) -> None:
    """Trace both branches; afterwards the slots hold the merged values.

    ``unread`` are slots that branches write but nobody reads afterwards. ``raises``: the branch does nothing but raise. ``late``: variables
    that only the first branch gives a value, which the program asks for when it runs.
    Where the capture may be interrupted, a branch that can't be traced is left to Python.
    """
    if not breaks.here():
        return capture_if(pred, then, orelse, slots, unread, raises, late)
    before = Snapshot([*slots, *unread])
    try:
        return capture_if(pred, then, orelse, slots, unread, raises, late)
    except breaks.reasons() as error:
        before.restore()
        breaks.note(error)
        del before
    part = then if bool(pred) else orelse
    if part is not None:
        part()


def capture_if(pred, then, orelse, slots: list, unread: Sequence, raises, late: Sequence = ()) -> None:
    where = user_location()
    pred = truth(pred)
    if any(raises):
        _trace_raise(pred, then, orelse, raises)
        return
    found = Found()
    while True:
        all_slots = [*slots, *found.slots]
        before = Snapshot(all_slots)
        with Watch(all_slots) as watch:
            regions, after = _trace_parts((then, orelse), before, Snapshot(list(unread)))
        if not found.update(watch, all_slots):
            break
    slots = all_slots
    note_kept(slots)
    merge = _Merge(where, *regions)
    merge.late, merge.pred = late, pred
    merge.note_exits(slots, *after)
    seen = before.seen()
    pickers = []
    for slot, a, b, old in zip(slots, *after, seen):
        unchanged = _unchanged(a, old) and _unchanged(b, old)
        pickers.append(None if unchanged else merge.value(slot.name, a, b))
    merge.names = False
    writes = _merge_writes(merge)
    results = api.build_if(pred, regions[0], merge.outs[0], regions[1], merge.outs[1])
    if merge.asked_for:
        names = ", ".join(f"'{n}'" for n in merge.asked_for)
        api.assert_(pred, f"{names} is used after a loop that ran no round: give it a value before it ({where})")
    for handle, pick in writes:
        api.rebind(handle, pick(results))
    merge.names = True
    for slot, pick, old in zip(slots, pickers, before.values):
        if pick is not None:
            assign(slot, old, pick(results))


def _trace_parts(parts, before: Snapshot, scratch: Snapshot) -> tuple[list, list]:
    """A region for each part, and what it leaves in the slots."""
    regions, after = [], []
    for part in parts:
        region = api.region()
        with region:
            try:
                if part is not None:
                    part()
                after.append(Snapshot(before.slots).seen(before))
            finally:
                before.restore()
                scratch.restore()
        regions.append(region)
    return regions, after


def _unchanged(new, old) -> bool:
    if new is old:
        return True
    if type(new) is type(old) and type(new) in (list, dict, TracedList):
        a, b = [], []
        return flatten(new, a) == flatten(old, b) and all(x is y for x, y in zip(a, b))
    return False


def _merge_writes(merge: _Merge):
    """Tensors overwritten in place by a branch become results too."""
    handles: dict[int, tuple] = {}
    for side, region in enumerate(merge.regions):
        for handle, value in region.writes:
            entry = handles.setdefault(id(handle), (handle, [handle, handle]))
            entry[1][side] = value
    return [(handle, merge._leaf(*values)) for handle, values in handles.values()]


def _trace_raise(pred, then, orelse, raises) -> None:
    """``if bad: raise E(text)`` is an assertion of the program."""
    bad, rest = (then, orelse) if raises[0] else (orelse, then)
    try:
        bad()
    except Exception as error:
        cond = api.logical_not(pred) if raises[0] else pred
        text = error.args[0] if len(error.args) == 1 else error
        assert_traced(cond, TracedText([f"{type(error).__name__}: "]) + text)
    if rest is not None:
        rest()


def trace_select(pred, then: Callable, orelse: Callable, name="value"):
    """The value of ``then() if pred else orelse()`` with both traced (conditional expressions, ``static.nn.cond``)."""
    box = BoxSlot(name)
    trace_if(pred, lambda: box.set(then()), lambda: box.set(orelse()), [box])
    return box.value
