"""While a trace runs, calling a Layer runs the transformed form of its ``forward``.

Containers of the library (Sequential, LayerList users, Transformer blocks) call their sublayers from code that isn't transformed.
So the call itself looks: for the time of a trace ``Layer.__call__`` comes here, which puts the transformed ``forward`` on the
instance, calls on, and takes it away. Hooks keep working since what ``__call__`` does otherwise runs.
"""

from __future__ import annotations

import contextlib
import threading

from . import _trace_api as api
from ._state import state
from .dy2static.convert import convert_call, is_library_module

_lock = threading.Lock()
_users = 0


@contextlib.contextmanager
def converted():
    global _users
    with _lock:
        _users += 1
        api.layers_call(_call)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                api.layers_call(None)


def _call(self, inputs, kwargs):
    if state.recorder is None:  # another thread's eager call
        return self._call_untraced(inputs, kwargs)
    state.recorder.layer(self)
    if getattr(self, "_forward_pre_hooks", None) or getattr(self, "_forward_post_hooks", None):
        with _converted_hooks(self):
            return _run(self, inputs, kwargs)
    return _run(self, inputs, kwargs)


@contextlib.contextmanager
def _converted_hooks(layer):
    """The layer's hooks in their transformed form."""
    tables = [(hooks, dict(hooks)) for hooks in (layer._forward_pre_hooks, layer._forward_post_hooks)]
    for hooks, given in tables:
        hooks.update({key: convert_call(hook) for key, hook in given.items()})
    try:
        yield
    finally:
        for hooks, given in tables:
            hooks.update({key: hook for key, hook in given.items() if key in hooks})


def _run(self, inputs, kwargs):
    forward = self.forward
    if is_library_module(type(self).__module__) and "forward" not in self.__dict__:
        return self._call_untraced(inputs, kwargs)
    run = convert_call(forward)
    if run is forward:
        return self._call_untraced(inputs, kwargs)
    space = self.__dict__
    had = space.get("forward")
    space["forward"] = run
    try:
        return self._call_untraced(inputs, kwargs)
    finally:
        if had is None:
            space.pop("forward", None)
        else:
            space["forward"] = had
