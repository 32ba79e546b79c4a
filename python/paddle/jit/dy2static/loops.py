"""Trace a loop's body into one region operator, once the types of its variables are known.

The types are found by trying: the body is traced under the types at entry; where a variable comes out different, its type is
widened (a number becomes a tensor, a size symbolic, a list one of traced length) and the body is traced again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from .. import _trace_api as api
from .._state import state
from ..objects import opened
from ..structure import flatten, unflatten
from . import breaks
from .branches import capture_if
from .errors import Dy2StaticNameError, Dy2StaticTypeError, Unusable, is_unusable, raise_unusable, user_location
from .growth import NewKeys, grown, growths
from .slots import MISSING, AttributeSlot, BoxSlot, CellSlot, Found, HandleSlot, Snapshot, Watch, assign, note_kept
from .values import (
    as_tensor,
    common_dtype,
    describe,
    is_leaf_value,
    is_tensor_like,
    same_object,
    truth,
    type_of,
)  # fmt: skip


class _Carry:
    """How one slot goes through a loop, found out by tracing the body (again, until it is stable)."""

    def __init__(self, slot, value) -> None:
        self.slot = slot
        self.entry = value
        self.late = value is MISSING  # no value before the loop
        self.born = False  # ... but zeros now stand in for it
        self.assigned = False  # ... and the body gives it one
        self.unusable: Unusable | None = None
        self.structure: Any = None
        self.leaves: list[_Leaf] = []
        self.growths: list = []  # what the last trial made longer (see growth)
        self.grown: list = []  # ... and all trials before
        self.opened = False  # objects in it go through the loop by their attributes: each round makes others
        if not self.late:
            self._take(value)

    def _take(self, value) -> None:
        leaves: list = []
        self.structure = flatten(value, leaves)
        self.leaves = [_Leaf(v) for v in leaves]
        if not self.slot.rebound and api.is_tensor(value):
            self.leaves[0].kept = True  # if it is written, region.writes says so

    def prepare(self) -> None:
        """Make the inputs that the last trial asked for (outside the region)."""
        if self.growths:
            self.entry = grown(self.entry, self.growths)
            self.grown, self.growths = self.grown + self.growths, []
            self._take(opened(self.entry) if self.opened else self.entry)

    def needs_round(self) -> bool:
        """Zeros stand in for something that the first round makes."""
        return self.born or any(isinstance(example, NewKeys) for _, example in self.grown)

    def carried(self) -> list[_Leaf]:
        return [leaf for leaf in self.leaves if not leaf.kept]

    def place(self, values) -> Any:
        """The slot's value with the carried leaves taken from the iterator ``values``."""
        if self.late:
            return MISSING
        return unflatten(self.structure, [leaf.value if leaf.kept else next(values) for leaf in self.leaves])

    def compare(self, new, where: str) -> list | None:
        """The leaves to yield, or None when the plan changed and the body must be traced again."""
        name = self.slot.name
        if is_unusable(new):
            if not self.late:
                raise_unusable(new)
            self.unusable = new
            return []
        if self.late:
            return self._first_value(new)
        self.growths = growths(self.entry, new)
        if self.growths or self._opens(new):
            return None
        new = opened(new) if self.opened else new
        leaves: list = []
        if flatten(new, leaves) != self.structure:
            _loop_error(name, where, f"is {describe(self.entry)} before and {describe(new)} after a round")
        out, again = [], False
        for leaf, n in zip(self.leaves, leaves):
            fits = leaf.value is n or same_object(leaf.value, n) if leaf.kept else is_leaf_value(n)
            if not fits:
                _loop_error(name, where, f"is {describe(leaf.value)} before and {describe(n)} after a round")
            if not leaf.kept:
                again |= leaf.widen(n, name, where)
                out.append(n)
        return None if again else out

    def _opens(self, new) -> bool:
        """Does a round put other objects in place of those before it?"""
        before, after = [], []
        if self.opened or flatten(self.entry, before) != flatten(new, after):
            return False
        if all(a is b or is_leaf_value(b) for a, b in zip(before, after)):
            return False
        if flatten(opened(self.entry), []) != flatten(opened(new), []):
            return False
        self._open()
        return self.opened

    def _open(self) -> None:
        entry, structure = opened(self.entry), self.structure
        self._take(entry)
        self.opened = self.structure != structure

    def signature(self) -> tuple:
        """The entry type."""
        return (self.slot.name, self.structure, *(leaf.signature() for leaf in self.leaves))

    def plan(self) -> tuple:
        """What the trials found, for :meth:`adopt`."""
        return (
            self.opened,
            self.born,
            self.grown,
            self.structure,
            [(leaf.kept, leaf.dtype, leaf.shape, leaf.widened, leaf.needs_grad) for leaf in self.leaves],
        )

    def adopt(self, plan: tuple) -> None:
        opens, born, longer, structure, leaves = plan
        if opens:
            self._open()
        if longer:
            self.growths = longer
            return
        if born:
            self.structure, self.late, self.born, self.assigned = structure, False, True, True
            self.leaves = [_Leaf.blank(None) for _ in leaves]
        for leaf, (kept, dtype, shape, widened, needs_grad) in zip(self.leaves, leaves):
            if born and not kept:
                leaf.value, leaf.kept = 0, False
            leaf.dtype, leaf.shape, leaf.widened, leaf.needs_grad = dtype, shape, widened, needs_grad

    def _first_value(self, new) -> list | None:
        self.assigned = new is not MISSING
        leaves: list = []
        structure = flatten(new, leaves) if self.assigned else None
        fits = all((is_leaf_value(v) and not api.is_array(v)) or v is None for v in leaves)
        if not leaves or not fits:
            return []
        self.structure, self.late, self.born = structure, False, True
        self.leaves = [_Leaf.blank(v) for v in leaves]
        return None


def _part_signature(fn: Callable | None) -> list:
    """A function's code, and the types of what it sees of the function around it."""
    out: list = [getattr(fn, "__code__", None) or getattr(fn, "__jst_key__", None)]
    for cell in getattr(fn, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:
            out.append(None)
            continue
        out.append(_Leaf(value).signature() if is_tensor_like(value) else type(value))
    return out


def _is_open(n) -> bool:
    return api.is_symint(n) or n is None or n < 0


def _has_symbolic_size(v) -> bool:
    return api.is_tensor(v) and any(_is_open(n) for n in v.shape)


class _Leaf:
    """One tensor or number of a loop variable, and the type that holds before and after each round."""

    def __init__(self, value) -> None:
        self.value = value
        self.kept = not is_leaf_value(value)  # any other object: must not change
        self.dtype, self.number = type_of(value) if is_tensor_like(value) else (None, False)
        self.shape: tuple = tuple(value.shape) if api.is_tensor(value) or api.is_array(value) else ()
        self.widened = False
        self.needs_grad = _needs_grad(value)

    @classmethod
    def blank(cls, like) -> _Leaf:
        """Zeros of ``like``'s type; made where the loop's inputs are made, not in the region being traced."""
        leaf = cls(like)
        if not leaf.kept:
            leaf.value = 0
            leaf.number = False
            leaf.needs_grad = False
            if _has_symbolic_size(like):  # it may be one that only the loop knows
                leaf.shape = tuple([None if _is_open(n) else n for n in leaf.shape])
                leaf.widened = True
        return leaf

    def signature(self) -> tuple:
        if self.kept or self.dtype is None:
            return (type(self.value), self.needs_grad)
        shape = tuple([None if api.is_symint(n) else n for n in self.shape])
        return (self.dtype, self.number, shape, self.needs_grad)

    def init(self):
        if api.is_tensor(self.value):
            return as_tensor(self.value, self.dtype, self.shape)
        return as_tensor(self.value, self.dtype, tuple([0 if n is None else n for n in self.shape]))

    def argument_shape(self):
        return self.shape if self.widened else None

    def widen(self, n, name: str, where: str) -> bool:
        """Adjust the type to ``n``, the value after a round; True if that changed anything."""
        changed = _needs_grad(n) and not self.needs_grad
        self.needs_grad |= changed
        if api.is_array(n):
            return self._widen_shape(tuple(n.shape), name, where) or changed
        if not is_tensor_like(n) or self.dtype is None:
            return changed
        dtype = common_dtype((self.dtype, self.number), type_of(n))
        changed |= dtype != self.dtype
        self.dtype = dtype
        if not api.is_tensor(n):
            return changed
        return self._widen_shape(tuple(n.shape), name, where) or changed

    def _widen_shape(self, new: tuple, name: str, where: str) -> bool:
        if len(new) != len(self.shape):
            if api.is_tensor(self.value) or self.shape:
                text = f"has shape {list(self.shape)} before and {list(new)} after a round: ranks must agree"
                _loop_error(name, where, text)
            self.shape = new
            return True
        joined = [a if a is None or api.same_size(a, b) else None for a, b in zip(self.shape, new)]
        if any(j is None and a is not None for j, a in zip(joined, self.shape)):
            self.shape, self.widened = tuple(joined), True
            return True
        return False


def _needs_grad(v) -> bool:
    return not getattr(v, "stop_gradient", True) if api.is_tensor(v) or api.is_array(v) else False


def _loop_error(name: str, where: str, text: str):
    raise Dy2StaticTypeError(
        f"variable '{name}' {text}, in a loop whose number of rounds depends on a Tensor: it must keep its type ({where})"
    )


def trace_while(
    first_cond,
    test: Callable,
    body: Callable,
    slots: list,
    late: Sequence[str] = (),
    parts: Sequence = (),
    peeled: bool = False,
) -> None:
    """Trace ``while test(): body()`` as one operator. ``first_cond`` is the test's value now (a traced tensor or a bool);
    ``late`` names the variables that are read after the loop, ``parts`` are the functions cut from the user's source.
    ``peeled``: the first round was traced apart. Where the capture may be interrupted, a loop that can't be traced is left to Python."""
    if not breaks.here():
        return _trace_while(first_cond, test, body, slots, late, parts, peeled)
    before = Snapshot(list(slots))
    try:
        return _trace_while(first_cond, test, body, slots, late, parts, peeled)
    except breaks.reasons() as error:
        before.restore()
        breaks.note(error)
        del before
    cond = first_cond
    while bool(cond):
        body()
        cond = test()


class _Once:
    """A part of a loop that is like no other: plans made for it don't hold for others."""

    def __init__(self) -> None:
        self.__jst_key__ = object()


def each_round(sequence, first, step: Callable):
    """``step(...step(step(first, item 0), item 1)..., last item)`` over a sequence of traced length, as one loop."""
    counter, total = BoxSlot("_jst_counter", 0), BoxSlot("the result", first)
    rounds = sequence.length()

    def body():
        total.value = step(total.value, sequence.item(counter.value))
        counter.value = counter.value + 1

    trace_while(counter.value < rounds, lambda: counter.value < rounds, body, [counter, total], (), (_Once(),))
    return total.value


def _peel(first_cond, test: Callable, body: Callable, slots: list, late: Sequence[str], parts: Sequence) -> None:
    """The first round apart: what it writes in place of the variables, it writes of what they are before the loop, whatever other
    names that has. Later rounds find what the first one left."""

    def rounds():
        body()
        cond = test()
        if api.is_tensor(cond):
            trace_while(cond, test, body, slots, late, parts, peeled=True)
            return
        while cond:
            body()
            cond = test()

    if api.is_tensor(first_cond):
        capture_if(first_cond, rounds, None, slots, (), (False, False), late)
    elif first_cond:
        rounds()


def _trace_while(
    first_cond, test: Callable, body: Callable, slots: list, late: Sequence[str], parts: Sequence, peeled: bool = False
) -> None:
    where = user_location()
    slots = list(slots)
    asked = list(slots)
    before = Snapshot(slots)
    carries = [_Carry(s, v) for s, v in zip(slots, before.seen())]
    # A loop inside a loop is traced anew with each trial of the outer one. What was found for the same entry types holds again.
    entry = (*(c.signature() for c in carries), *(t for p in parts or (body, test) for t in _part_signature(p)))
    for c, plan in zip(carries, state.loop_plans.get(entry, ())):
        c.adopt(plan)
    given, found = list(slots), Found()
    for _ in range(12):
        before.restore()
        trial = _Trial(carries, before, late)
        with Watch(slots) as watch:
            fits = trial.run(test, body, where)
        if found.update(watch, slots):
            slots = [*given, *found.slots]
            before = Snapshot(slots)
            known = {id(c.slot): c for c in carries}
            carries = [known.get(id(s)) or _Carry(s, v) for s, v in zip(slots, before.seen())]
        elif fits:
            note_kept(slots)
            state.loop_plans[entry] = [c.plan() for c in carries]
            known = {id(s.handle) for s in slots if isinstance(s, HandleSlot)}
            written = [HandleSlot(h) for h, _ in trial.region.writes if id(h) not in known]
            if not written:
                sharing = trial.sharing()
                if sharing is None:
                    return trial.finish(first_cond, where)
                if sharing == "first" and not peeled:
                    before.restore()
                    return _peel(first_cond, test, body, asked, late, parts)
                raise Dy2StaticTypeError(
                    f"a Tensor is written in place that is more than one variable of this loop, or one of them and a Tensor outside, in "
                    f"some rounds: whether it is depends on a Tensor, so write to a copy (clone()) instead ({where})"
                )
            slots, given = slots + written, given + written
            before = Snapshot(slots)
            carries += [_Carry(s, s.get()) for s in written]
    raise Dy2StaticTypeError(f"the types of this loop's variables don't settle ({where})")


def _measured(value) -> int:
    kept = [None]
    return sys.getrefcount(value) - 2 * sum(v is value for v in kept)


_NOBODY = _measured(object())  # what is left where only the calls on the way hold the value


class _Trial:
    """One trace of a loop's body under the types that ``carries`` assume."""

    def __init__(self, carries: list[_Carry], before: Snapshot, late: Sequence[str]) -> None:
        self.carries, self.before = carries, before
        for c in carries:
            c.prepare()
        leaves = [leaf for c in carries for leaf in c.carried()]
        self.inits = [leaf.init() for leaf in leaves]
        shapes = [leaf.argument_shape() for leaf in leaves]
        needs_grad = [leaf.needs_grad for leaf in leaves]
        # Variables without a value before the loop start as zeros. Those that the user reads afterwards need a round to have run.
        self.guarded = [
            c.slot.name for c in carries if c.needs_round() and c.slot.name in late and c.slot.name[:5] != "_jst_"
        ]
        if self.guarded:
            self.inits.append(api.constant(False, (), "bool"))
            shapes.append(None)
            needs_grad.append(False)
        self.region = api.region(self.inits, shapes, needs_grad)
        self.outs: list = []
        self.cond: Any = None

    def run(self, test, body, where: str) -> bool:
        """Trace one round; False when the types turned out different."""
        with self.region:
            try:
                args = iter(self.region.args)
                for c, old in zip(self.carries, self.before.values):
                    assign(c.slot, old, c.place(args))
                try:
                    body()
                    cond = test()
                except api.graph_break_error():
                    if not self._lists_grew():
                        raise
                    return False  # as a list of the program it may be indexed by a tensor
                found = [
                    c.compare(v, where) for c, v in zip(self.carries, Snapshot(self.before.slots).seen(self.before))
                ]
                if any(f is None for f in found):
                    return False
                outs = [v for f in found for v in f]
                self.outs = [_like(v, a) for v, a in zip(outs, self.region.args)]
                if self.guarded:
                    self.outs.append(api.constant(True, (), "bool"))
                self.cond = _condition(cond)
                return True
            finally:
                self.before.restore()

    def sharing(self) -> str | None:
        """See :func:`api.loop_sharing`."""
        values = [
            (c.slot, leaf)
            for c in self.carries
            for leaf in c.carried()
            if c.slot.rebound and not c.born and not leaf.kept
        ]
        own = {id(leaf) for slot, leaf in values if not isinstance(slot, HandleSlot) and api.is_tensor(leaf.value)}
        leaves = [leaf for c in self.carries for leaf in c.carried()]
        entries = [leaf.value if id(leaf) in own else None for leaf in leaves]
        if api.loop_sharing(self.region, entries, self.outs, [True] * len(leaves)) is None:
            return None
        del entries
        held = {id(leaf): self._held_elsewhere(leaf.value) for leaf in leaves if id(leaf) in own}
        entries = [leaf.value if id(leaf) in own else None for leaf in leaves]
        return api.loop_sharing(self.region, entries, self.outs, [held.get(id(leaf), False) for leaf in leaves])

    def _held_elsewhere(self, value) -> bool:
        """Do others than the slots, and what is kept here of them, hold it?"""
        kept = [v for snapshot in list(Snapshot.alive) for v in snapshot.values]
        kept += [*self.inits, *(c.entry for c in self.carries)]
        kept += [leaf.value for c in self.carries for leaf in c.leaves]
        kept += [s.get() for s in self.before.slots if isinstance(s, CellSlot)]
        return sys.getrefcount(value) - 2 * sum(v is value for v in kept) > _NOBODY

    def _lists_grew(self) -> bool:
        grew = False
        for c, v in zip(self.carries, Snapshot(self.before.slots).seen(self.before)):
            c.growths = growths(c.entry, v)
            grew |= bool(c.growths)
        return grew

    def finish(self, first_cond, where: str) -> None:
        self._check_choices(first_cond)
        results = list(api.build_while(_condition(first_cond), self.inits, self.region, self.cond, self.outs))
        self._note_choices(first_cond, results)
        if self.guarded:
            names = ", ".join(f"'{n}'" for n in self.guarded)
            api.assert_(
                results.pop(), f"{names} is used after a loop that ran no round: give it a value before it ({where})"
            )
        values = iter(results)
        for c, old in zip(self.carries, self.before.values):
            if not c.late:
                assign(c.slot, old, c.place(values))
            elif c.unusable is not None:
                c.slot.set(c.unusable)
            elif c.assigned and not isinstance(c.slot, AttributeSlot):
                text = f"variable '{c.slot.name}' only has a value inside a loop whose number of rounds depends on a Tensor"
                c.slot.set(Unusable(Dy2StaticNameError, f"{text}; give it a value before the loop ({where})"))

    def _variables(self, first_cond):
        """(position, what it is before) of those that are a tensor before and after: without a round it is the one, else the other."""
        if not api.is_tensor(first_cond):
            return
        pairs = [(carry.slot, leaf) for carry in self.carries for leaf in carry.carried()]
        for at, (slot, leaf) in enumerate(pairs):
            if not isinstance(slot, HandleSlot) and api.is_tensor(leaf.value) and api.is_tensor(self.outs[at]):
                yield at, leaf.value

    def _check_choices(self, first_cond) -> None:
        for at, entry in self._variables(first_cond):
            api.check_choice(self.outs[at], entry)

    def _note_choices(self, first_cond, results) -> None:
        entries = [
            c.slot.handle if isinstance(c.slot, HandleSlot) else leaf.value for c in self.carries for leaf in c.carried()
        ]
        for at, entry in self._variables(first_cond):
            if api.is_tensor(results[at]):
                around = api.looked_into(self.region, entries, self.outs, self.outs[at])
                api.note_choice(results[at], _condition(first_cond), self.outs[at], entry, around)


def _condition(c):
    return truth(c) if api.is_tensor(c) else api.constant(bool(c), (), "bool")


def _like(value, argument):
    if not api.is_tensor(argument):
        return value
    return as_tensor(value, api.dtype_name(argument.dtype), tuple(argument.shape))
