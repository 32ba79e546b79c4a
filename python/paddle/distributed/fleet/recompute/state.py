"""What a function may read besides its arguments, noted when it runs and put back when it runs again."""

from __future__ import annotations

import contextlib
import random

import numpy as np

from ....base import core

__all__ = ["custom_state_manager", "register_state", "Surroundings"]


class CustomStatesManager:
    """A user's own state: a function that gives it, and one that sets it. Each may be set once.

    Raises:
        AssertionError: it was set before.
    """

    def __init__(self) -> None:
        self.custom_get_state_func = None
        self.custom_set_state_func = None

    def set_custom_get_state_func(self, custom_get_state_func) -> None:
        assert self.custom_get_state_func is None, "The custom_state_manager does not support duplicate settings."
        self.custom_get_state_func = custom_get_state_func

    def set_custom_set_state_func(self, custom_set_state_func) -> None:
        assert self.custom_set_state_func is None, "The custom_state_manager does not support duplicate settings."
        self.custom_set_state_func = custom_set_state_func


custom_state_manager = CustomStatesManager()

# (get, set) of everything random numbers come from. The counter-based generator of the core is all that operators use.
_random_states = [
    (core.get_rng_state, core.set_rng_state),
    (random.getstate, random.setstate),
    (np.random.get_state, np.random.set_state),
]


def register_state(get, set_) -> None:
    """One more random state that recompute replays (say, named generators of tensor-parallel ranks)."""
    _random_states.append((get, set_))


def _random_pairs():
    own = (custom_state_manager.custom_get_state_func, custom_state_manager.custom_set_state_func)
    return [*_random_states, own] if own[0] is not None and own[1] is not None else list(_random_states)


class Surroundings:
    """The state at the time of its making; ``restored()`` is a context in which it holds again."""

    def __init__(self, random_numbers: bool) -> None:
        pairs = _random_pairs() if random_numbers else []
        self._setters = [set_ for _, set_ in pairs]
        self._getters = [get for get, _ in pairs]
        self._values = [get() for get in self._getters]
        self._amp = core.amp_state()

    @contextlib.contextmanager
    def restored(self):
        before = [get() for get in self._getters]
        amp, grad = core.amp_state(), core.set_grad_enabled(True)
        core.set_amp_state(*self._amp)
        try:
            for set_, value in zip(self._setters, self._values):
                set_(value)
            yield
        finally:
            for set_, value in zip(self._setters, before):
                set_(value)
            core.set_amp_state(*amp)
            core.set_grad_enabled(grad)
