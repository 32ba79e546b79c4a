"""Items of Python lists where a tensor says which, and displays with lists of traced length in them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .. import _trace_api as api
from ..structure import flatten
from . import breaks
from .branches import trace_select
from .containers import TracedList
from .errors import Dy2StaticTypeError, user_location
from .values import is_leaf_value


def _by_tensor(container: Any, index: Any) -> bool:
    """Python would ask the tensor which item of the list is meant, and the program can tell."""
    if type(container) not in (list, tuple) or not container or not api.is_tensor(index) or not api.is_traced(index):
        return False
    if not api.dtype_name(index.dtype).startswith(("int", "uint")) or any(n != 1 for n in index.shape):
        return False
    return not breaks.here()


def _alike(items) -> bool:
    """Items that one list of the program can hold."""
    first: list = []
    structure = flatten(items[0], first)
    if not all(is_leaf_value(v) and not api.is_array(v) for v in first):
        return False
    for item in items[1:]:
        leaves: list = []
        if flatten(item, leaves) != structure or not all(map(_same_type, first, leaves)):
            return False
    return True


def _same_type(a, b) -> bool:
    if api.is_tensor(a) and api.is_tensor(b):
        return a.dtype == b.dtype and len(a.shape) == len(b.shape)
    return type(a) is type(b)


def _position(container, index):
    """The index within the list, counted from its front; one beyond it is an error of the run."""
    index = api.cast(index.reshape([]) if len(index.shape) else index, "int64")
    size = len(container)
    inside = api.logical_and(index >= -size, index < size)
    api.assert_(inside, f"IndexError: list index out of range ({user_location()})")
    return index + size * api.cast(index < 0, "int64")


def item_(container, index):
    """``container[index]``."""
    if not _by_tensor(container, index):
        return container[index]
    at = _position(container, index)
    if _alike(container):
        return TracedList.like(container[0], list(container))[at]
    return _choose(container, at, 0)


def _choose(container, at, k: int):
    """Items of different kinds: a branch for each, if what is done with them allows that."""
    if k + 1 == len(container):
        return container[k]
    return trace_select(at == k, lambda: container[k], lambda: _choose(container, at, k + 1), "the item")


def held_item_(container, index):
    """``container[index]``, to be changed in place."""
    if _by_tensor(container, index):
        raise Dy2StaticTypeError(
            f"an item of a {type(container).__name__} that a Tensor chooses can't be changed in place: assign a new one "
            f"({user_location()})"
        )
    return container[index]


def set_item_(value, container, index) -> None:
    """``container[index] = value``."""
    if type(container) is not list or not _by_tensor(container, index):
        container[index] = value
        return
    at = _position(container, index)
    container[:] = [
        trace_select(at == k, lambda: value, lambda old=old: old, "the item") for k, old in enumerate(container)
    ]


def change_item_(container, index, change: str, value: Callable) -> None:
    """``container[index] += value()``, with ``change`` the name of the operator."""
    set_item_(getattr(operator, change)(item_(container, index), value()), container, index)


def display_(kind: str, *parts):
    """``[a, *b]`` or ``(a, *b)``: ``parts`` are (whether it is starred, value)."""
    traced = [v for starred, v in parts if starred and isinstance(v, TracedList) and v.__jst_plain__() is None]
    if not traced:
        made = [item for starred, v in parts for item in (v if starred else (v,))]
        return made if kind == "list" else tuple(made)
    out = TracedList.like(traced[0], [])
    for starred, v in parts:
        out.extend(v) if starred else out.append(v)
    return out
