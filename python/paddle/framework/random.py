"""The global random generator: a seed and how many numbers were drawn from it."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..base import core

__all__ = ["seed", "get_rng_state", "set_rng_state", "get_cuda_rng_state", "set_cuda_rng_state", "manual_seed"]


class GeneratorState(NamedTuple):
    """All there is to a generator; ``offset`` counts what was drawn since the seed was set."""

    seed: int
    offset: int

    def current_seed(self) -> int:
        return self.seed


class Generator:
    """A handle on the process's generator; all devices draw from it, so `device` is for callers that name one."""

    def __init__(self, device=None) -> None:
        pass

    def manual_seed(self, seed: int):
        """Restarts at ``seed``; returns itself."""
        core.seed(int(seed) % 2**64)
        return self

    def seed(self) -> int:
        """Restarts at a seed from the operating system, and returns it."""
        value = int.from_bytes(os.urandom(8), "little") >> 1
        core.seed(value)
        return value

    def initial_seed(self) -> int:
        """The seed that was set last."""
        return self.get_state().seed

    def get_state(self) -> GeneratorState:
        """What ``set_state`` takes to replay from here."""
        return GeneratorState(*core.get_rng_state())

    def set_state(self, state) -> None:
        """Goes back to a state of ``get_state``."""
        core.set_rng_state((int(state[0]), int(state[1])))

    def register_state_index(self) -> int:
        """Keeps the state and starts a further one at the same seed; returns the new one's number."""
        state = self.get_state()
        _parked[_current[0]] = state
        _current[0] = max(_parked) + 1
        return _current[0]

    def get_state_index(self) -> int:
        """The number of the state in use."""
        return _current[0]

    def set_state_index(self, index: int) -> None:
        """Goes on where the state of that number was left.

        Raises:
            ValueError: there is none.
        """
        _parked[_current[0]] = self.get_state()
        if index not in _parked:
            raise ValueError(f"there is no state {index}: expected one of {sorted(_parked)}")
        _current[0] = index
        self.set_state(_parked[index])

    def __deepcopy__(self, memo):
        return self

    def __repr__(self) -> str:
        return f"Generator({self.get_state()})"


_parked: dict = {}  # states by number, as they were left
_current = [0]  # the number of the state in use
default_generator = Generator()


def seed(seed: int) -> Generator:
    """Sets the seed of the random operators; returns the generator.

    Raises:
        ValueError: ``seed`` is not a whole number.
    """
    return default_generator.manual_seed(int(seed))


def manual_seed(seed: int) -> Generator:
    """``seed`` under the name that other frameworks use."""
    return default_generator.manual_seed(int(seed))


def get_rng_state(device: str | None = None) -> list:
    """States of the generators of ``device`` (one here: all devices draw from one generator)."""
    return [default_generator.get_state()]


def set_rng_state(state_list, device: str | None = None) -> None:
    """Restores states of ``get_rng_state``.

    Raises:
        ValueError: the number of states is not one.
    """
    if len(state_list) != 1:
        raise ValueError(
            f"Length of state list should be equal to the cpu device count: expected 1, got {len(state_list)}"
        )
    default_generator.set_state(state_list[0])


def get_cuda_rng_state() -> list:
    """States of the CUDA generators; empty without CUDA devices."""
    return get_rng_state() if core.is_compiled_with_cuda() else []


def set_cuda_rng_state(state_list) -> None:
    """Restores states of ``get_cuda_rng_state``.

    Raises:
        ValueError: the number of states is not what that function gives here.
    """
    if not core.is_compiled_with_cuda():
        if len(state_list):
            raise ValueError(
                f"Length of cuda state list should be equal to the cuda device count: expected 0, got {len(state_list)}"
            )
        return
    set_rng_state(state_list)
