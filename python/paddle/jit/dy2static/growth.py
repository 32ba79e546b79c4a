"""Containers that a loop's body makes longer, at any depth of a variable: lists become lists of traced length, dicts get the keys
that a round gives them before the loop."""

from __future__ import annotations

from typing import Any

from .. import _trace_api as api
from ..structure import flatten, unflatten
from .containers import TracedList
from .values import is_leaf_value, zero_like


class NewKeys:
    """Keys that a dict has after a round and not before it."""

    def __init__(self, values: dict) -> None:
        self.values = values


def growths(entry: Any, new: Any, path: tuple = ()) -> list[tuple[tuple, Any]]:
    """Where ``new``, what ``entry`` is after a round, has grown: (path, an item or the keys)."""
    if type(entry) is list and isinstance(new, (list, TracedList)):
        if isinstance(new, TracedList) or len(new) > len(entry):
            return [(path, new if isinstance(new, TracedList) else new[-1])]
    elif type(entry) is dict and type(new) is dict:
        fresh = {k: v for k, v in new.items() if k not in entry}
        if fresh and len(fresh) + len(entry) == len(new) and _has_zeros(fresh):
            return [(path, NewKeys(fresh))]
    elif not (type(entry) is tuple and type(new) is tuple):
        return []
    if len(entry) != len(new):
        return []
    keys = list(entry) if type(entry) is dict else range(len(entry))
    if type(entry) is dict and list(new) != keys:
        return []
    return [g for k in keys for g in growths(entry[k], new[k], (*path, k))]


def grown(entry: Any, found: list[tuple[tuple, Any]]) -> Any:
    """``entry`` as it must be before the loop."""
    here = [example for path, example in found if not path]
    for example in here:
        if isinstance(example, NewKeys):
            entry = {**entry, **{k: _zeros(v) for k, v in example.values.items()}}
        elif type(entry) is list:
            entry = TracedList.like(example, entry)
    deeper: dict = {}
    for path, example in found:
        if path:
            deeper.setdefault(path[0], []).append((path[1:], example))
    if not deeper or isinstance(entry, TracedList):
        return entry
    if type(entry) is dict:
        return {k: grown(v, deeper.get(k, [])) for k, v in entry.items()}
    return type(entry)([grown(v, deeper.get(k, [])) for k, v in enumerate(entry)])


def has_symbolic_size(v) -> bool:
    return api.is_tensor(v) and any(api.is_symint(n) or n is None or n < 0 for n in v.shape)


def _has_zeros(value) -> bool:
    leaves: list = []
    flatten(value, leaves)
    return bool(leaves) and all(
        (is_leaf_value(v) and not api.is_array(v) and not has_symbolic_size(v)) or v is None for v in leaves
    )


def _zeros(value):
    leaves: list = []
    structure = flatten(value, leaves)
    return unflatten(structure, [v if v is None else zero_like(v) for v in leaves])
