"""What a program assumed about Python values, found while tracing and checked at every later call.

Numbers, strings and flags that converted functions read from globals, closures and attributes of ``self`` are compared by value;
tensors, layers and functions they refer to by identity; every layer that was called keeps its ``training`` flag.
Values that the traced function itself changed are left out (a counter would make each call trace again).
"""

from __future__ import annotations

import ast
import types
import weakref
from typing import Any, NamedTuple

from . import _trace_api as api
from . import host
from .dy2static import analysis, kept

_SCALARS = (int, float, bool, str, type(None), bytes, complex)
_MISSING = object()


class Break(NamedTuple):
    """Where a capture was interrupted, and the segment that ended there."""

    why: str
    where: str
    operators: int = 0
    compiled: bool = False  # now; else it was known


class Guard:
    """One assumption: ``space[key]`` (a dict) or a closure cell still holds ``value``."""

    __slots__ = ("key", "space", "text", "value")

    def __init__(self, space, key, value, text: str) -> None:
        self.space, self.key, self.value, self.text = space, key, value, text

    def now(self) -> Any:
        if type(self.space) is dict:
            return self.space.get(self.key, _MISSING)
        try:
            return self.space.cell_contents
        except ValueError:
            return _MISSING

    def holds(self) -> bool:
        now = self.now()
        value = self.value
        if now is value:
            return True
        return type(now) is type(value) and isinstance(value, _SCALARS) and now == value

    def why(self) -> str:
        now = self.now()
        if isinstance(now, _SCALARS):
            return f"{self.text} was {self.value!r}, now {now!r}"
        return f"{self.text} is another object now"


class GuardSet:
    """All assumptions of one program. :meth:`hold` is on the path of every call."""

    def __init__(self, guards: list[Guard], tables: list[Table] = ()) -> None:
        self.runner: Any = None  # of a program that holds only for leaves with, or without, a .grad
        self.tables = list(tables)
        self.by_dict = [(g.space, g.key, g.value, g) for g in guards if type(g.space) is dict]
        self.others = [g for g in guards if type(g.space) is not dict]
        self.table_values = [(t.entries, t.kept) for t in self.tables]
        self.unchanged = api.unchanged()

    def hold(self) -> bool:
        if not self.unchanged(self.by_dict, self.table_values):
            # Another object may be an equal number.
            for space, key, value, guard in self.by_dict:
                if space.get(key, _MISSING) is not value and not guard.holds():
                    return False
            for table in self.tables:
                if tuple(map(id, table.entries.values())) != table.ids:
                    return False
        for guard in self.others:
            if not guard.holds():
                return False
        return self.runner is None or self.runner.grads_fit()

    def failures(self) -> list[str]:
        every = [*(g for *_, g in self.by_dict), *self.others]
        changed = [t.text for t in self.tables if tuple(map(id, t.entries.values())) != t.ids]
        if self.runner is not None and not self.runner.grads_fit():
            changed.append("gradients are there that were not, or the other way round")
        return [*(g.why() for g in every if not g.holds()), *changed]


class Table:
    """The parameters, buffers or sublayers of a layer that was called: they must stay the same objects."""

    __slots__ = ("entries", "ids", "kept", "text")

    def __init__(self, entries: dict, text: str) -> None:
        self.entries, self.text = entries, text
        self.kept = tuple(entries.values())  # alive, so that an id isn't given to another object
        self.ids = tuple(map(id, self.kept))


_chains: dict[types.CodeType, list[str]] = {}


def _self_chains(fn: types.FunctionType) -> list[str]:
    """``self.a.b`` chains that a method reads."""
    code = fn.__code__
    if code not in _chains:
        first = code.co_varnames[0] if code.co_argcount else None

        def chains(tree: ast.AST) -> set[str]:
            loads = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
            return {name for n in loads if (name := analysis.dotted(n)) is not None and name.split(".")[0] == first}

        _chains[code] = kept.names("chains of self", fn, chains) if first is not None else []
    return _chains[code]


def _attribute_space(owner: Any, path: list[str]) -> dict | None:
    """The ``__dict__`` in which the last attribute of ``path`` lies, without running properties."""
    for name in path[:-1]:
        space = getattr(owner, "__dict__", {})
        owner = space.get(name, _MISSING)
        if owner is _MISSING:
            owner = space.get("_sub_layers", {}).get(name, _MISSING)
        if owner is _MISSING:
            return None
    space = getattr(owner, "__dict__", None)
    return space if type(space) is dict and path[-1] in space else None


class Recorder:
    """Collects, during one trace, what the program will depend on and what it changes outside."""

    def __init__(self) -> None:
        self._candidates: dict[tuple[int, str], Guard] = {}
        self._seen: set[tuple[int, int]] = set()
        self._keep: list = []
        self.attributes: dict[tuple[int, str], AttributeWrite] = {}
        self.functions: list[str] = []
        self.prologue: list = []  # what Python does before each run of the program, in order
        self.breakable = False  # the capture may be interrupted
        self.segmented = False  # ... and is, or was
        self.breaks: list[Break] = []
        self.why = ""  # what led to the next break
        self._numbers: dict = {}
        self._kept_on_a_path: set[str] = set()  # attributes that a branch or loop on a tensor may leave as they are
        self._tables: dict[int, tuple[dict, Table]] = {}

    def function(self, fn: types.FunctionType, owner: Any) -> None:
        """``fn`` is about to run as part of the trace, bound to ``owner``."""
        mark = (id(fn), id(owner))
        if mark in self._seen or self.segmented:  # nothing is assumed where Python runs at every call
            return
        self._seen.add(mark)
        self._keep.append((fn, owner))
        self.functions.append(fn.__qualname__)
        code = fn.__code__
        for name in code.co_names:
            if name in fn.__globals__:
                self._add(fn.__globals__, name, fn.__globals__[name], f"global {name}")
        for name, cell in zip(code.co_freevars, fn.__closure__ or ()):
            try:
                self._add(cell, name, cell.cell_contents, f"variable {name} of {fn.__qualname__}'s closure")
            except ValueError:
                pass
        if owner is not None:
            for chain in _self_chains(fn):
                path = chain.split(".")[1:]
                space = _attribute_space(owner, path)
                if space is not None:
                    self._add(space, path[-1], space[path[-1]], chain)

    def on_break(self, why: str, where: str) -> None:
        """A segment is about to run."""
        for step in self.prologue:
            step()
        self.prologue.clear()
        self._numbers.clear()
        self.segmented = True
        self.breaks.append(Break(self.why or why, where))
        self.why = ""

    def on_run(self, operators: int, compiled: bool) -> None:
        self.breaks[-1] = self.breaks[-1]._replace(operators=operators, compiled=compiled)

    def host_number(self, read, key, dtype: str):
        """See :mod:`.host`."""
        key = (key, dtype, self._actions())
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = host.HostNumber(read, dtype)
            if not self.segmented:  # Python runs at every call: what it reads now is right
                self.prologue.append(known)
        return known.tensor

    def host_action(self, run) -> bool:
        if self.segmented:
            return False
        self.prologue.append(run)
        return True

    def _actions(self) -> int:
        return sum(type(p) is not host.HostNumber for p in self.prologue)

    def layer(self, layer: Any) -> None:
        if self.segmented:
            return
        space = layer.__dict__
        if "training" in space:
            self._add(space, "training", space["training"], f"{type(layer).__name__}.training")
        for name in ("_parameters", "_buffers", "_sub_layers"):
            entries = space.get(name)
            if entries and id(entries) not in self._tables:
                what = f"{name[1:].replace('_', '')} of {type(layer).__name__} were replaced"
                self._tables[id(entries)] = (space, Table(entries, what))

    def _add(self, space, key: str, value, text: str) -> None:
        by_identity = isinstance(value, (types.FunctionType, api.layer_class())) or api.is_tensor(value)
        if isinstance(value, _SCALARS) or by_identity:
            self._candidates.setdefault((id(space), key), Guard(space, key, value, text))

    def attribute(self, owner: Any, name: str) -> None:
        """The trace is about to assign ``owner.name``."""
        mark = (id(owner), name)
        if mark not in self.attributes:
            self.attributes[mark] = AttributeWrite(owner, name)

    def keeps_on_a_path(self, attribute: str) -> None:
        self._kept_on_a_path.add(attribute)

    def reads(self, attribute: str) -> bool:
        """Whether any function of the trace loads an attribute of that name, or it may go on as it is."""
        return attribute in self._kept_on_a_path or any(attribute in _loaded_attributes(fn) for fn, _ in self._keep)

    def guards(self) -> GuardSet:
        """To be taken after the trace: assumptions that it broke itself are dropped."""
        written = {(id(w.space), w.name) for w in self.attributes.values()}
        kept = [g for k, g in self._candidates.items() if g.holds() and k not in written]
        tables = [
            t for space, t in self._tables.values() if not any((id(space), name) in written for name in t.entries)
        ]
        return GuardSet(kept, tables)


_loaded: dict[types.CodeType, frozenset[str]] = {}


def _loaded_attributes(fn: types.FunctionType) -> frozenset[str]:
    code = fn.__code__
    if code not in _loaded:

        def names(tree: ast.AST) -> set[str]:
            every = list(ast.walk(tree))
            loads = {n.attr for n in every if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
            return loads | {
                n.target.attr for n in every if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Attribute)
            }

        _loaded[code] = frozenset(kept.names("attributes read", fn, names))
    return _loaded[code]


class AttributeWrite:
    """An attribute that traced code assigns, with its value before the trace."""

    holds_tensors = False

    def __init__(self, owner: Any, name: str) -> None:
        self.name = name
        self.before = getattr(owner, name, _MISSING)
        self.space = getattr(owner, "__dict__", None)
        try:
            self._owner = weakref.ref(owner)
        except TypeError:
            self._owner = lambda: owner

    @property
    def owner(self) -> Any:
        return self._owner()

    @property
    def existed(self) -> bool:
        return self.before is not _MISSING

    def restore(self) -> None:
        owner = self.owner
        if owner is None:
            return
        if self.existed:
            setattr(owner, self.name, self.before)
        elif hasattr(owner, self.name):
            delattr(owner, self.name)
