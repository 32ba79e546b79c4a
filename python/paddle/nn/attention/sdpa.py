"""The names of attention's implementations. All of them compute the same values."""

from __future__ import annotations

import contextlib
from enum import IntEnum


class SDPBackend(IntEnum):
    """An implementation of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2


_enabled = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def _get_enabled_backends():
    """The implementations in force, in order of preference."""
    return list(_enabled)


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Restricts attention to `backends` inside the ``with``.

    Args:
        backends (SDPBackend | list of them): at least one.
        set_priority (bool): their order is an order of preference.

    Raises:
        TypeError: something else than SDPBackend.
        ValueError: none given.
    """
    global _enabled
    wanted = [backends] if isinstance(backends, SDPBackend) else list(backends)
    for backend in wanted:
        if not isinstance(backend, SDPBackend):
            raise TypeError(f"All backends must be SDPBackend instances, got {type(backend)}")
    if not wanted:
        raise ValueError("At least one backend must be specified")
    before = _enabled
    _enabled = wanted if set_priority else [b for b in before if b in wanted]
    try:
        yield
    finally:
        _enabled = before
