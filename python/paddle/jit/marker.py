"""Decorators that tell ``to_static`` how to treat a function."""

from __future__ import annotations

from collections.abc import Callable

from .api import not_to_static

__all__ = ["capture_control_flow", "force_dynamic", "not_to_static", "unified"]


def unified(fn: Callable | type | None = None, *, for_sot: bool = True, for_ast: bool = True):
    """Mark a function or Layer class as safe to run as it is under capture: its code isn't transformed, its operators are recorded."""
    if fn is None:
        return lambda target: unified(target, for_sot=for_sot, for_ast=for_ast)
    if for_ast:
        _mark(fn)
    return fn


def force_dynamic(fn):
    """Mark a function, Layer or Layer class whose code isn't transformed."""
    _mark(fn)
    return fn


def capture_control_flow(fn: Callable) -> Callable:
    """Control flow on tensors is always captured here, so this changes nothing."""
    return fn


def _mark(target) -> None:
    if isinstance(target, type) or hasattr(target, "forward"):
        cls = target if isinstance(target, type) else type(target)
        if "forward" in vars(cls):
            not_to_static(vars(cls)["forward"])
    else:
        not_to_static(target)
