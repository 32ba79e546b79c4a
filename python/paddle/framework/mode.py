"""Dynamic and static mode. Our own code never asks; programs do."""

from __future__ import annotations

import functools
import importlib
import sys

from ..base import core

_static_mode = False
# Called with True or False when static mode is entered or left, by whoever captures programs.
_listeners: list = []


def _switch(static: bool) -> None:
    global _static_mode
    if static != _static_mode:
        _static_mode = static
        for listener in _listeners:
            listener(static)


def on_mode_change(listener) -> None:
    """Registers ``listener(static: bool)``."""
    _listeners.append(listener)


def enable_static() -> None:
    """From here on operators are recorded into the default program."""
    importlib.import_module("..static.program", __package__)  # what records programs registers on import
    _switch(True)


def disable_static(place=None) -> None:
    """From here on operators run at once; ``place`` becomes the current device."""
    _switch(False)
    if place is not None:
        core.set_current_place(place)


def _tracing() -> bool:
    """Whether a function is being captured on this thread; nobody can be capturing while paddle.jit isn't loaded."""
    state = sys.modules.get(__package__.rsplit(".", 1)[0] + ".jit._state")
    return state is not None and state.state.recorder is not None


def in_static_mode() -> bool:
    """True between ``enable_static`` and ``disable_static``."""
    return _static_mode


def in_dynamic_mode() -> bool:
    """True where operators run at once: neither in static mode nor inside a function that is being captured."""
    return not _static_mode and not _tracing()


def in_pir_mode() -> bool:
    """True where operators are recorded into a program."""
    return not in_dynamic_mode()


def in_dynamic_or_pir_mode() -> bool:
    """True: programs are PIR."""
    return True


def use_pir_api() -> bool:
    """True: programs are PIR."""
    return True


def in_dygraph_mode() -> bool:
    """The old name of ``in_dynamic_mode``."""
    return in_dynamic_mode()


in_pir_executor_mode = in_pir_mode


def _only(func, wanted, message):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        if not wanted():
            raise AssertionError(message)
        return func(*args, **kwargs)

    return wrapper


def dygraph_only(func):
    """A function that raises in static mode."""
    return _only(func, in_dynamic_mode, f"We only support '{func.__name__}()' in dynamic graph mode")


def dygraph_not_support(func):
    """A function that raises in dynamic mode."""
    return _only(func, in_pir_mode, f"We don't support '{func.__name__}()' in dynamic graph mode")
