"""Slots: the places that a part of the code writes, as variables (cells or globals), attributes or tensors written in place.

Tracing a branch or loop runs it on the same slots as the rest of the function; what has changed afterwards becomes a result of
the region.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from .. import _trace_api as api
from .._state import state
from ..structure import flatten
from .containers import TracedList


class _Missing:
    def __repr__(self) -> str:
        return "undefined"


MISSING = _Missing()


class Slot:
    rebound = True  # False: the code changes the object in the slot, not the slot


class CellSlot(Slot):
    def __init__(self, name: str, cell) -> None:
        self.name, self.cell = name, cell

    def get(self):
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def set(self, value) -> None:
        self.cell.cell_contents = value

    def delete(self) -> None:
        try:
            del self.cell.cell_contents
        except ValueError:
            pass


class GlobalSlot(Slot):
    def __init__(self, name: str, space: dict) -> None:
        self.name, self.space = name, space

    def get(self):
        return self.space.get(self.name, MISSING)

    def set(self, value) -> None:
        self.space[self.name] = value

    def delete(self) -> None:
        self.space.pop(self.name, None)


class AttributeSlot(Slot):
    def __init__(self, name: str, owner, attribute: str) -> None:
        self.name, self.owner, self.attribute = name, owner, attribute

    def get(self):
        return getattr(self.owner, self.attribute, MISSING)

    def set(self, value) -> None:
        setattr(self.owner, self.attribute, value)

    def delete(self) -> None:
        if hasattr(self.owner, self.attribute):
            delattr(self.owner, self.attribute)


def note_kept(slots: Sequence) -> None:
    """A tensor decides whether these attributes are assigned: else they stay what they are when the program runs."""
    for slot in slots:
        if isinstance(slot, AttributeSlot) and state.recorder is not None:
            state.recorder.keeps_on_a_path(slot.attribute)


class Watch:
    """Attributes that code assigns while it is in force, also in functions that it calls, with what they were before. Where that
    fails they are restored, but for those that are ``slots``: whoever traces restores these."""

    def __init__(self, slots: Sequence = ()) -> None:
        self.seen: dict[tuple, tuple] = {}
        self._restored = {(id(s.owner), s.attribute) for s in slots if isinstance(s, AttributeSlot)}

    def note(self, owner, attribute: str) -> None:
        key = (id(owner), attribute)
        if key not in self.seen:
            self.seen[key] = (owner, attribute, getattr(owner, attribute, MISSING))

    def __enter__(self) -> Watch:
        state.watches.append(self)
        return self

    def __exit__(self, failed, *rest) -> None:
        state.watches.remove(self)
        if failed is None:
            return
        for key, (owner, attribute, old) in self.seen.items():
            if key in self._restored:
                continue
            slot = AttributeSlot(attribute, owner, attribute)
            slot.delete() if old is MISSING else slot.set(old)


def in_reach(value) -> bool:
    """Not something that only exists inside of a loop or branch that was traced."""
    leaves: list = []
    flatten(value, leaves)
    try:
        for v in leaves:
            if api.is_tensor(v) and api.in_program(v):
                api.alias(v)
        return True
    except api.graph_break_error():
        return False


class Found:
    """Attributes that turn out to be slots of a branch or loop when it is traced. Objects that each round makes anew are none."""

    def __init__(self) -> None:
        self.slots: list[AttributeSlot] = []
        self.own: set[tuple] = set()  # (type, attribute)

    def update(self, watch: Watch, slots: list) -> bool:
        """Take note of what was assigned besides ``slots``, and undo it; True where the trace must be made again."""
        known = {(id(s.owner), s.attribute) for s in slots if isinstance(s, AttributeSlot)}
        before = len(self.slots), len(self.own)
        for s in list(self.slots):
            if (id(s.owner), s.attribute) not in watch.seen:
                self.slots.remove(s)
                self.own.add((type(s.owner), s.attribute))
        for key, (owner, attribute, old) in watch.seen.items():
            if key in known or (type(owner), attribute) in self.own or not in_reach(old):
                continue
            slot = AttributeSlot(f"{type(owner).__name__}.{attribute}", owner, attribute)
            slot.delete() if old is MISSING else slot.set(old)
            if key not in {(id(s.owner), s.attribute) for s in self.slots}:
                self.slots.append(slot)
        return (len(self.slots), len(self.own)) != before


class BoxSlot(Slot):
    """A variable of the run time itself."""

    def __init__(self, name: str, value=MISSING) -> None:
        self.name, self.value = name, value

    def get(self):
        return self.value

    def set(self, value) -> None:
        self.value = value

    def delete(self) -> None:
        self.value = MISSING


class HandleSlot(Slot):
    """A tensor that code overwrites in place, whatever names it goes by."""

    def __init__(self, handle) -> None:
        self.name, self.handle = "a Tensor written in place", handle

    def get(self):
        return api.alias(self.handle)

    def set(self, value) -> None:
        api.rebind(self.handle, value)

    def delete(self) -> None:
        pass


def slots_of(names: Sequence[str], *parts) -> list:
    """Slots for ``names``, found through the closures of the generated functions ``parts``."""
    cells: dict[str, Any] = {}
    space: dict = {}
    for fn in parts:
        if fn is not None:
            space = fn.__globals__
            cells.update(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    out: list = []
    for entry in names:
        name = entry.lstrip("*")
        base, *path = name.split(".")
        root = CellSlot(base, cells[base]) if base in cells else GlobalSlot(base, space)
        if not path:
            # A mutated name that isn't a cell and no global either lives inside the part: nobody else sees it.
            if base in cells or base in space:
                out.append(root)
                root.rebound = entry == name
            continue
        owner = root.get()
        for attribute in path[:-1]:
            owner = getattr(owner, attribute, MISSING)
        if owner is not MISSING and not isinstance(owner, type(api)) and not api.is_tensor(owner):
            out.append(AttributeSlot(name, owner, path[-1]))
            out[-1].rebound = entry == name
    return out


class Snapshot:
    """Values of slots, with the contents of lists and dicts in them, at any depth, which parts may change in place."""

    alive: weakref.WeakSet = weakref.WeakSet()  # what they hold is held by no name of the user's

    def __init__(self, slots: list) -> None:
        Snapshot.alive.add(self)
        self.slots = slots
        self.values = [s.get() for s in slots]
        self.contents: dict[int, tuple] = {}  # of each container, by its identity
        for v in self.values:
            self._record(v)

    def _record(self, value) -> None:
        cls = type(value)
        if cls is tuple:
            for v in value:
                self._record(v)
        elif cls in (list, dict, TracedList) and id(value) not in self.contents:
            content = _content(value)
            self.contents[id(value)] = (value, content)
            for v in content.values() if cls is dict else content if cls is list else ():
                self._record(v)

    def restore(self) -> None:
        for value, content in self.contents.values():
            _refill(value, content)
        for slot, value in zip(self.slots, self.values):
            if slot.get() is not value:
                slot.delete() if value is MISSING else slot.set(value)

    def seen(self, before: Snapshot | None = None) -> list:
        """The values as they were, independent of later in-place changes: those that ``before.restore()`` makes, or any."""
        return [self._copy(v, {}, before) for v in self.values]

    def _copy(self, value, made: dict, before):
        if type(value) is tuple and any(type(v) in (tuple, list, dict, TracedList) for v in value):
            parts = [self._copy(v, made, before) for v in value]
            return value if all(a is b for a, b in zip(parts, value)) else tuple(parts)
        if id(value) not in self.contents:
            return value
        if id(value) in made:
            return made[id(value)]
        content = self.contents[id(value)][1]
        kept = before is not None and before._unchanged(value, content)
        if isinstance(content, TracedList):
            return value if kept else content.copy()
        made[id(value)] = fresh = type(content)()
        if isinstance(content, dict):
            fresh.update({k: self._copy(v, made, before) for k, v in content.items()})
            kept = kept and all(fresh[k] is v for k, v in content.items())
        else:
            fresh.extend([self._copy(v, made, before) for v in content])
            kept = kept and all(a is b for a, b in zip(fresh, content))
        if kept:
            made[id(value)] = value
        return made[id(value)]

    def _unchanged(self, value, content) -> bool:
        """``restore`` leaves the container as it is."""
        if id(value) not in self.contents:
            return True
        old = self.contents[id(value)][1]
        if type(old) is not type(content):
            return False
        if isinstance(old, TracedList):
            return len(old.arrays) == len(content.arrays) and all(a is b for a, b in zip(old.arrays, content.arrays))
        if len(old) != len(content):
            return False
        if isinstance(old, dict):
            return list(old) == list(content) and all(old[k] is content[k] for k in old)
        return all(a is b for a, b in zip(old, content))


def _content(value):
    if type(value) is TracedList:
        items = value.__jst_plain__()
        return value.copy() if items is None else list(items)
    return value.copy()


def _refill(value, content) -> None:
    if type(value) is list:
        value[:] = content
    elif type(value) is dict:
        value.clear()
        value.update(content)
    else:
        value.become(content)


def assign(slot, old, value) -> None:
    """Set a slot; a container that the slot holds since before keeps its identity."""
    if type(old) is type(value) and type(value) in (list, dict, TracedList):
        _refill(old, value)
        value = old
    if value is MISSING:
        slot.delete()
    elif slot.get() is not value:
        slot.set(value)
