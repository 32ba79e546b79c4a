"""How much memory tensors take, per device, in bytes."""

from __future__ import annotations

from ..base import core
from ..framework.place import convert_to_place


def _place(device):
    if device is None:
        return core.current_place()
    return convert_to_place(f"gpu:{device}" if isinstance(device, int) else device)


def memory_allocated(device=None) -> int:
    """Bytes that tensors take now."""
    return core._core.memory_stats(_place(device))["in_use"]


def memory_reserved(device=None) -> int:
    """Bytes that the allocator holds now, for tensors or for later."""
    return core._core.memory_stats(_place(device))["reserved"]


def max_memory_allocated(device=None) -> int:
    """The most that ``memory_allocated`` has been."""
    return core._core.memory_stats(_place(device))["peak_in_use"]


def max_memory_reserved(device=None) -> int:
    """The most that ``memory_reserved`` has been."""
    return core._core.memory_stats(_place(device))["peak_reserved"]


def reset_peak_memory_stats(device=None) -> None:
    """Starts both maxima anew from what is taken now."""
    core._core.reset_peak_memory(_place(device))


def reset_max_memory_allocated(device=None) -> None:
    """Starts the maxima anew (of both kinds: they are kept together)."""
    reset_peak_memory_stats(device)


def reset_max_memory_reserved(device=None) -> None:
    """Starts the maxima anew (of both kinds: they are kept together)."""
    reset_peak_memory_stats(device)
