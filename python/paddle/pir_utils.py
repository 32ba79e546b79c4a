"""Switches to programs and back, as tests of official Paddle do."""

from __future__ import annotations

__all__ = ["DygraphOldIrGuard", "DygraphPirGuard", "IrGuard", "OldIrGuard"]


class IrGuard:
    """Static mode inside the block."""

    def __enter__(self):
        from .framework import mode

        self._was_static = mode.in_static_mode()
        mode.enable_static()
        return self

    def __exit__(self, *args) -> None:
        from .framework import mode

        if not self._was_static:
            mode.disable_static()


class DygraphPirGuard:
    """Dynamic mode inside the block."""

    def __enter__(self):
        from .framework import mode

        self._was_static = mode.in_static_mode()
        mode.disable_static()
        return self

    def __exit__(self, *args) -> None:
        from .framework import mode

        if self._was_static:
            mode.enable_static()


class OldIrGuard:
    """Not available.

    Raises:
        NotImplementedError: always: there is one representation of programs.
    """

    def __init__(self) -> None:
        raise NotImplementedError("[OldIrGuard] there is one representation of programs, PIR")


DygraphOldIrGuard = OldIrGuard
