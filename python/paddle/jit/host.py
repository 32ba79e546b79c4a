"""Python's part of a captured program: numbers that it reads anew at every run, and actions that it repeats.

The library's own stateful objects use this (optimizers read their learning rate, schedulers step). Outside of a capture by
``to_static`` nothing here does anything special.
"""

from __future__ import annotations

from collections.abc import Callable

from . import _trace_api as api
from ._state import state


class HostNumber:
    """A Python number as a tensor of the program. Running the prologue gives the tensor the number's value of then."""

    def __init__(self, read: Callable[[], float], dtype: str) -> None:
        self.read, self.dtype = read, dtype
        self.value = read()
        with api.outside():
            self.tensor = api.constant(self.value, (), dtype)

    def __call__(self) -> None:
        value = self.read()
        if value != self.value:
            self.value = value
            api.rebind(self.tensor, api.constant(value, (), self.dtype))


def capturing() -> bool:
    """A static function is being captured on this thread."""
    return state.recorder is not None and api.tracing()


def number(read: Callable[[], float], owner: object, name: str, dtype: str = "float64"):
    """``read()``, or while a program is captured a 0-D tensor that is ``read()`` at each run.

    ``owner`` and ``name`` say which number it is: asked again, the same tensor is given, unless an action came in between.
    """
    if not capturing():
        return read()
    return state.recorder.host_number(read, (id(owner), name), dtype)


def action(run: Callable[[], object]) -> bool:
    """Have ``run`` called before each run of the program that is captured; False: nothing is captured, call it now."""
    return capturing() and state.recorder.host_action(run)
