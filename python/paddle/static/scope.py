"""Scopes: where a program's parameters and other state live, by name."""

from __future__ import annotations

import contextlib

import numpy as np

from .._core import to_tensor, trace

__all__ = ["Scope", "global_scope", "scope_guard"]


class DenseTensor:
    """The tensor in a variable of a scope; what is set is seen by the next run."""

    def __init__(self, variable: ScopeVariable) -> None:
        self._variable = variable

    @property
    def value(self):
        """The tensor itself, None before anything was set."""
        return self._variable.value

    def set(self, array, place=None) -> None:
        """Copies an array, or a tensor, into the variable."""
        with trace.outside():
            fresh = to_tensor(array, None, place)
            old = self._variable.value
            if old is not None and old.name:
                fresh.name = old.name
        self._variable.value = fresh

    def _needed(self):
        if self._variable.value is None:
            raise ValueError(f"[Scope] the variable '{self._variable.name}' has no value yet")
        return self._variable.value

    def shape(self) -> list:
        """The sizes; [0] before anything was set."""
        return [0] if self._variable.value is None else list(self._variable.value.shape)

    def numpy(self):
        """A copy of the elements."""
        with trace.outside():
            return np.array(self._needed().numpy())

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def _dtype(self):
        return self._needed().dtype

    def _is_initialized(self) -> bool:
        return self._variable.value is not None

    def _place(self):
        return self._needed().place

    # Levels of detail went with Paddle 2's ragged tensors: there are none, and setting none is fine.
    def lod(self) -> list:
        return []

    def set_lod(self, lod) -> None:
        """Only an empty list can be set.

        Raises:
            NotImplementedError: levels of detail are given.
        """
        if lod:
            raise NotImplementedError("[Scope] tensors have no levels of detail (LoD): pad, or use sequence masks")

    set_recursive_sequence_lengths = set_lod
    recursive_sequence_lengths = lod

    def __str__(self) -> str:
        with trace.outside():
            return str(self._variable.value)

    __repr__ = __str__


class ScopeVariable:
    """A named place in a scope."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.value = None
        self.shared = False  # a tensor of the user's: written in place, never replaced

    def get_tensor(self) -> DenseTensor:
        return DenseTensor(self)

    def is_initialized(self) -> bool:
        return self.value is not None


class Scope:
    """Variables by name; what a scope hasn't its parent may have."""

    def __init__(self, parent: Scope | None = None) -> None:
        self._parent = parent
        self._variables: dict[str, ScopeVariable] = {}
        self._kids: list[Scope] = []

    def var(self, name: str) -> ScopeVariable:
        """The variable of that name, made here if there is none."""
        found = self.find_var(name)
        if found is None:
            found = self._variables[name] = ScopeVariable(name)
        return found

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of that name here or in a parent, or None."""
        scope = self
        while scope is not None:
            if name in scope._variables:
                return scope._variables[name]
            scope = scope._parent
        return None

    def local_var_names(self) -> list:
        """Names of the variables of this scope alone."""
        return list(self._variables)

    def erase(self, names) -> None:
        """Forgets variables."""
        for name in names:
            self._variables.pop(name, None)

    def size(self) -> int:
        """How many variables there are."""
        return len(self._variables)

    def new_scope(self) -> Scope:
        """A scope whose parent is this one."""
        kid = Scope(self)
        self._kids.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Forgets the scopes made from this one."""
        self._kids.clear()


_global = Scope()
_current = _global


def global_scope() -> Scope:
    """The scope that is used where none is given."""
    return _current


@contextlib.contextmanager
def scope_guard(scope: Scope):
    """Inside the block ``scope`` is the global scope."""
    global _current
    before, _current = _current, scope
    try:
        yield
    finally:
        _current = before
