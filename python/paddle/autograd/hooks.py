"""Hooks on what the graph keeps for its backward pass."""

from __future__ import annotations

from ..base import core

__all__ = ["saved_tensors_hooks"]

_stack: list = []


def current_hooks():
    """(pack, unpack) in force, or (None, None)."""
    return _stack[-1] if _stack else (None, None)


class saved_tensors_hooks:  # noqa: N801 - the public name
    """Inside, each tensor kept for backward goes through ``pack_hook(tensor)``, whose result is kept instead (say, a
    copy on disk), and through ``unpack_hook(result)`` when backward needs it."""

    def __init__(self, pack_hook, unpack_hook) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        _stack.append((self.pack_hook, self.unpack_hook))
        push = getattr(core._core, "saved_tensors_hooks_push", None)
        if push is not None:
            push(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception) -> None:
        _stack.pop()
        pop = getattr(core._core, "saved_tensors_hooks_pop", None)
        if pop is not None:
            pop()
