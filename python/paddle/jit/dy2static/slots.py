"""Slots: the places that a part of the code writes, as variables (cells or globals), attributes or tensors written in place.

Tracing a branch or loop runs it on the same slots as the rest of the function; what has changed afterwards becomes a result of
the region.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _trace_api as api
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
    """Values of slots, with the contents of lists and dicts, which parts may change in place."""

    def __init__(self, slots: list) -> None:
        self.slots = slots
        self.values = [s.get() for s in slots]
        self.contents = [_contents(v) for v in self.values]

    def restore(self) -> None:
        for slot, value, content in zip(self.slots, self.values, self.contents):
            if content is not None:
                _refill(value, content)
            if slot.get() is not value:
                slot.delete() if value is MISSING else slot.set(value)

    def seen(self) -> list:
        """The values as they were, independent of later in-place changes."""
        return [v if c is None else c for v, c in zip(self.values, self.contents)]


def _contents(value):
    if type(value) is list:
        return list(value)
    if type(value) is dict:
        return dict(value)
    if type(value) is TracedList:
        return TracedList(value.structure, list(value.arrays))
    return None


def _refill(value, content) -> None:
    if type(value) is list:
        value[:] = content
    elif type(value) is dict:
        value.clear()
        value.update(content)
    else:
        value.arrays = list(content.arrays)


def assign(slot, old, value) -> None:
    """Set a slot; a container that the slot holds since before keeps its identity."""
    if type(old) is type(value) and type(value) in (list, dict, TracedList):
        _refill(old, value)
        value = old
    if value is MISSING:
        slot.delete()
    elif slot.get() is not value:
        slot.set(value)
