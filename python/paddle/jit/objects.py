"""Objects of the user's classes that a function makes and returns: their attributes are results of the program, and each run makes
such an object anew."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from . import _trace_api as api
from .structure import flatten

_OTHERS = (type, types.FunctionType, types.MethodType, types.ModuleType, str, bytes, int, float, complex)


class Attributes:
    """Stands for an object in the structure of a program's results."""

    def __init__(self, owner: Any, values: dict[str, Any]) -> None:
        self.owner, self.values = owner, values

    def __jst_flatten__(self):
        return list(self.values.values()), (type(self.owner), tuple(self.values))

    @staticmethod
    def __jst_unflatten__(values, extra):
        cls, names = extra
        made = object.__new__(cls)
        for name, value in zip(names, values):
            object.__setattr__(made, name, value)
        return made


def opened(value: Any) -> Any:
    """``value`` with :class:`Attributes` in place of objects that hold tensors of the program under construction."""
    cls = type(value)
    if cls in (list, tuple):
        return cls([opened(v) for v in value])
    if cls is dict:
        return {k: opened(v) for k, v in value.items()}
    if not _opens(value):
        return value
    values = _attributes(value)
    leaves: list = []
    flatten(list(values.values()), leaves)
    if not any(api.is_tensor(v) and api.in_program(v) for v in leaves):
        return value
    return Attributes(value, {k: opened(v) for k, v in values.items()})


def opened_both(a: Any, b: Any) -> tuple[Any, Any]:
    """Two objects of one class, of which a tensor decides, by their attributes; other values as they are."""
    if type(a) is not type(b) or not _opens(a):
        return a, b
    both = opened(a), opened(b)
    if not any(isinstance(v, Attributes) for v in both):
        return a, b
    return tuple(v if isinstance(v, Attributes) else Attributes(v, _attributes(v)) for v in both)


def _opens(value: Any) -> bool:
    """An object that its attributes make."""
    cls = type(value)
    if isinstance(value, (*_OTHERS, api.layer_class())) or value is None or api.is_tensor(value):
        return False
    if not hasattr(value, "__dict__") and not dataclasses.is_dataclass(value):
        return False
    return getattr(cls, "__jst_flatten__", None) is None and cls.__new__ is object.__new__


def _attributes(value: Any) -> dict[str, Any]:
    if hasattr(value, "__dict__"):
        return dict(vars(value))
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if hasattr(value, f.name)}
