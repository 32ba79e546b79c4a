"""Flatten nested Python containers into leaves and back.

A structure is described by a hashable value: ``LEAF`` or ``(kind, extra, children)``. Known kinds are list, tuple, dict
(insertion order kept), namedtuple. Anything else is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

LEAF = "*"


def flatten(value: Any, leaves: list, whole: Callable[[Any], bool] | None = None) -> Any:
    """Append the leaves of ``value`` to ``leaves``; returns the structure. Containers that are ``whole`` count as leaves."""
    cls = type(value)
    if whole is not None and cls is not tuple and whole(value):
        leaves.append(value)
        return LEAF
    if whole is not None and cls in (list, tuple):
        return (cls, None, tuple([flatten(v, leaves, whole) for v in value]))
    if whole is not None and cls is dict:
        return (cls, tuple(value), tuple([flatten(v, leaves, whole) for v in value.values()]))
    if cls is list or cls is tuple:
        return (cls, None, tuple([flatten(v, leaves) for v in value]))
    if cls is dict or cls is OrderedDict:
        return (cls, tuple(value), tuple([flatten(v, leaves) for v in value.values()]))
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return (cls, "namedtuple", tuple([flatten(v, leaves) for v in value]))
    rebuild = getattr(cls, "__jst_flatten__", None)
    if rebuild is not None:
        plain = getattr(cls, "__jst_plain__", None)
        if plain is not None and (known := plain(value)) is not None:
            return flatten(known, leaves)
        children, extra = rebuild(value)
        return (cls, ("custom", extra), tuple([flatten(v, leaves) for v in children]))
    leaves.append(value)
    return LEAF


def unflatten(structure: Any, leaves: Any) -> Any:
    """Inverse of :func:`flatten`; ``leaves`` is an iterable."""
    return _build(structure, iter(leaves))


def _build(structure: Any, it) -> Any:
    if structure is LEAF or structure == LEAF:
        return next(it)
    cls, extra, children = structure
    if cls is list:
        return [_build(c, it) for c in children]
    if cls is tuple:
        return tuple([_build(c, it) for c in children])
    if cls is dict or cls is OrderedDict:
        return cls(zip(extra, [_build(c, it) for c in children]))
    if extra == "namedtuple":
        return cls(*[_build(c, it) for c in children])
    return cls.__jst_unflatten__([_build(c, it) for c in children], extra[1])


def map_leaves(fn: Callable[[Any], Any], value: Any) -> Any:
    leaves: list = []
    structure = flatten(value, leaves)
    return unflatten(structure, [fn(v) for v in leaves])


def leaf_paths(structure: Any, prefix: str = "") -> list[str]:
    """A readable path for each leaf: ``[0]['mask']``."""
    if structure == LEAF:
        return [prefix]
    cls, extra, children = structure
    if cls is dict or cls is OrderedDict:
        names = [f"[{k!r}]" for k in extra]
    elif extra == "namedtuple":
        names = [f".{f}" for f in cls._fields]
    else:
        names = [f"[{i}]" for i in range(len(children))]
    return [p for n, c in zip(names, children) for p in leaf_paths(c, prefix + n)]
