"""States of the generators by number."""

from .random import get_rng_state, register_rng_state_as_index, set_rng_state

__all__ = ["get_rng_state", "set_rng_state", "register_rng_state_as_index"]
