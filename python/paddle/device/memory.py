"""How much memory tensors take, per device, in bytes."""

from __future__ import annotations

from ..base import core
from ..framework.place import convert_to_place


def _stat(kind, device, reset=False):
    place = core.current_place() if device is None else convert_to_place(f"gpu:{device}" if isinstance(device, int) else device)  # fmt: skip
    name = "reset_memory_peak" if reset else "memory_stat"
    ask = getattr(core._core, name, None)
    if ask is None:
        raise ValueError(f"[memory] no statistics are kept for {place}")
    return ask(place, kind)


def memory_allocated(device=None) -> int:
    """Bytes that tensors take now."""
    return _stat("allocated", device)


def memory_reserved(device=None) -> int:
    """Bytes that the allocator holds now, for tensors or for later."""
    return _stat("reserved", device)


def max_memory_allocated(device=None) -> int:
    """The most that ``memory_allocated`` has been."""
    return _stat("max_allocated", device)


def max_memory_reserved(device=None) -> int:
    """The most that ``memory_reserved`` has been."""
    return _stat("max_reserved", device)


def reset_max_memory_allocated(device=None) -> None:
    """Starts ``max_memory_allocated`` anew from what is allocated now."""
    _stat("max_allocated", device, reset=True)


def reset_max_memory_reserved(device=None) -> None:
    """Starts ``max_memory_reserved`` anew from what is reserved now."""
    _stat("max_reserved", device, reset=True)


def reset_peak_memory_stats(device=None) -> None:
    """Starts both maxima anew."""
    reset_max_memory_allocated(device)
    reset_max_memory_reserved(device)
