"""Parts of a model that are computed again in the backward pass instead of being kept."""

from .recompute import recompute, recompute_sequential  # noqa: F401
from .recompute_hybrid import recompute_hybrid  # noqa: F401
from .state import custom_state_manager  # noqa: F401

__all__ = []
