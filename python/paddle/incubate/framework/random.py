"""States of the random generators, whole or by the numbers under which they are kept."""

from __future__ import annotations

from ...framework.random import default_generator
from ...framework.random import get_rng_state as _get
from ...framework.random import set_rng_state as _set

__all__ = []


def get_rng_state(device=None, use_index: bool = False) -> list:
    """States of the generators of ``device``; with ``use_index`` the numbers of those in use."""
    return [default_generator.get_state_index()] if use_index else _get(device)


def set_rng_state(state_list, device=None, use_index: bool = False) -> None:
    """Restores what ``get_rng_state`` gave with the same ``use_index``.

    Raises:
        ValueError: the number of states is not one, or no state has that number.
    """
    if not use_index:
        return _set(state_list, device)
    if len(state_list) != 1:
        raise ValueError(f"Length of state list should be 1 on a device of one generator, but got {len(state_list)}")
    return default_generator.set_state_index(state_list[0])


def register_rng_state_as_index(state_list=None, device=None) -> list:
    """Keeps the states in use (or ``state_list``) under new numbers, which it returns; they are in use from now on."""
    index = default_generator.register_state_index()
    if state_list is not None:
        _set(state_list, device)
    return [index]
