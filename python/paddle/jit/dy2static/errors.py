"""Errors of dynamic-to-static, values that must not be used, and tracebacks that show only the user's frames."""

from __future__ import annotations

import sys
from types import TracebackType


def _is_ours(frame) -> bool:
    """A frame of this package; transformed code runs with its author's globals, so it isn't one."""
    return (frame.f_globals.get("__name__") or "").startswith(("paddle.jit.", "paddle.static.nn."))


class Dy2StaticError(Exception):
    """Base of what can't be expressed as a program. The message names the user's file and line."""


class Dy2StaticTypeError(Dy2StaticError, TypeError):
    pass


class Dy2StaticValueError(Dy2StaticError, ValueError):
    pass


class Dy2StaticNameError(Dy2StaticError, UnboundLocalError):
    pass


class BranchError(Dy2StaticTypeError, ValueError):
    """Functions given to ``cond`` and its like return different structures."""


class BranchDtypeError(Dy2StaticTypeError, RuntimeError):
    """... or Tensors of different dtypes."""


class BranchRankError(Dy2StaticValueError, RuntimeError):
    """... or ranks."""


def user_location() -> str:
    """``file:line`` of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "<unknown>"


def trim_traceback(error: BaseException) -> BaseException:
    """Drop this package's frames from ``error``'s traceback, so that it reads as if the user's code had run untransformed."""
    kept = []
    tb = error.__traceback__
    while tb is not None:
        if not _is_ours(tb.tb_frame):
            kept.append(tb)
        tb = tb.tb_next
    head: TracebackType | None = None
    for tb in reversed(kept):
        head = TracebackType(head, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return error.with_traceback(head)


def _refuse(self, *args, **kwargs):
    raise object.__getattribute__(self, "_jst_error")()


class Unusable:
    """Stands for a variable that has no value a program could hold; any use raises an error that says why."""

    def __init__(self, error: type[Exception], message: str) -> None:
        object.__setattr__(self, "_jst_error", lambda: error(message))
        object.__setattr__(self, "_jst_message", message)

    def __repr__(self) -> str:
        return f"<unusable: {object.__getattribute__(self, '_jst_message')}>"

    __hash__ = object.__hash__


_DUNDERS = [
    "getattribute",
    "getattr",
    "setattr",
    "delattr",
    "call",
    "bool",
    "len",
    "iter",
    "next",
    "contains",
    "getitem",
    "setitem",
    "delitem",
    "index",
    "int",
    "float",
    "complex",
    "add",
    "radd",
    "iadd",
    "sub",
    "rsub",
    "isub",
    "mul",
    "rmul",
    "imul",
    "matmul",
    "rmatmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "neg",
    "pos",
    "abs",
    "invert",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "lshift",
    "rshift",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "enter",
    "exit",
    "str",
    "format",
    "array",
]
for _name in _DUNDERS:
    setattr(Unusable, f"__{_name}__", _refuse)


def raise_unusable(value: Unusable) -> None:
    _refuse(value)


def is_unusable(value: object) -> bool:
    return type(value) is Unusable
