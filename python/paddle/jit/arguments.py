"""One form for all spellings of a call."""

from __future__ import annotations

from typing import Any

from .structure import flatten


def positional_names(function, bound: bool) -> list[str]:
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    return list(code.co_varnames[int(bound) : code.co_argcount])


def _defaults(function) -> dict[str, Any]:
    values = getattr(function, "__defaults__", None) or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount] if hasattr(function, "__code__") else ()
    return dict(zip(names[len(names) - len(values) :], values))


def fewest(names: list[str], function) -> int:
    """How many arguments a call gives at least, if those left out are plain values: its other arguments then say what it is."""
    defaults, count = _defaults(function), len(names)
    while count and isinstance(defaults.get(names[count - 1], ...), (int, float, str, type(None))):
        count -= 1
    return count


def canonical(args: tuple, kwargs: dict, names: list[str], function) -> tuple[tuple, dict]:
    """Parameters by position, defaults filled in, the rest by name."""
    defaults = _defaults(function)
    if len(args) < len(names) and names:
        filled = list(args)
        rest = dict(kwargs)
        for name in names[len(args) :]:
            if name in rest:
                filled.append(rest.pop(name))
            elif name in defaults:
                filled.append(defaults[name])
            else:
                return args, kwargs  # the call itself raises
        return tuple(filled), dict(sorted(rest.items()))
    return args, dict(sorted(kwargs.items()))


def declared_axes(input_spec: list | None, args: tuple, tensors: list) -> set[tuple[int, int]]:
    """Axes that the InputSpecs leave open, as (tensor, axis)."""
    if input_spec is None:
        return set()
    out: set[tuple[int, int]] = set()
    position = {id(t): i for i, t in reversed(list(enumerate(tensors)))}
    for spec, arg in zip(input_spec, args):
        specs: list = []
        values: list = []
        flatten(spec, specs)
        flatten(arg, values)
        for s, v in zip(specs, values):
            if id(v) in position and hasattr(s, "shape"):
                out |= {(position[id(v)], a) for a, n in enumerate(s.shape) if n in (None, -1)}
    return out
