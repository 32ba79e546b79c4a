"""Texts with tensors in them: put together when the program runs."""

from __future__ import annotations

import re
import string
import sys
from typing import Any

from .. import _trace_api as api
from .errors import Dy2StaticTypeError, Dy2StaticValueError, user_location

_CONVERT = {"": lambda v: v, "s": str, "r": repr, "a": ascii}


def formatted(value: Any, conversion: str, spec: str) -> str:
    """What an f-string makes of one of its values."""
    return format(_CONVERT[conversion](value), spec)


class TracedText:
    """What ``f"loss {x:.3f}"`` is while ``x`` is a value of the program. It may be printed, or be an assertion's message.

    ``parts`` are strings and (tensor, conversion, format).
    """

    def __init__(self, parts: list) -> None:
        self.parts = parts

    @classmethod
    def of(cls, parts) -> TracedText:
        out: list = []
        for p in parts:
            if type(p) is str:
                out.append(p)
            elif type(p[0]) is cls:
                out += p[0].parts
            elif not api.is_traced(p[0]):
                out.append(formatted(*p))
            elif type(p[2]) is not str:
                raise Dy2StaticTypeError(f"a format that depends on a Tensor can't be captured ({user_location()})")
            else:
                out.append(p)
        return cls(out)

    @classmethod
    def percent(cls, text: str, values: tuple) -> TracedText:
        """``text % values``."""
        parts, at, rest = [], 0, list(values)
        for m in _PERCENT.finditer(text):
            parts.append(text[at : m.start()].replace("%%", "%"))
            at = m.end()
            if m["kind"] == "%":
                parts.append("%")
                continue
            if not rest:
                raise TypeError("not enough arguments for format string")
            value = rest.pop(0)
            parts.append(_percent(value, m) if api.is_traced(value) else m[0] % (value,))
        if rest:
            raise TypeError("not all arguments converted during string formatting")
        return cls.of([*parts, text[at:].replace("%%", "%")])

    @classmethod
    def format_map(cls, text: str, args: tuple, kwargs: dict) -> TracedText:
        """``text.format(*args, **kwargs)``."""
        parts: list = []
        formatter, count = string.Formatter(), 0
        for literal, name, spec, conversion in formatter.parse(text):
            parts.append(literal)
            if name is None:
                continue
            if not name or name[0] in ".[":
                name, count = f"{count}{name}", count + 1
            value, _ = formatter.get_field(name, args, kwargs)
            parts.append((value, conversion or "", (spec or "").format(*args, **kwargs)))
        return cls.of(parts)

    def __add__(self, other) -> TracedText:
        return TracedText([*self.parts, *_parts(other)])

    def __radd__(self, other) -> TracedText:
        return TracedText([*_parts(other), *self.parts])

    def __format__(self, spec):
        return self._refuse()

    def _refuse(self, *args):
        raise Dy2StaticTypeError(
            f"a text with a Tensor's value in it can be printed or be an assertion's message; other uses can't be captured ({user_location()})"
        )

    __str__ = __repr__ = __eq__ = __hash__ = __len__ = __bool__ = __iter__ = __mod__ = __contains__ = _refuse


_PERCENT = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?P<precision>\.\d+)?(?P<kind>[a-zA-Z%])")


def _percent(value, m: re.Match) -> tuple:
    """A tensor in ``"%-8.3f" % tensor`` as a part."""
    if m["kind"] in "sra":
        align = "<" if "-" in m["flags"] else ">"
        return (value, m["kind"], f"{align}{m['width']}{m['precision'] or ''}" if m["width"] else "")
    sign = "+" if "+" in m["flags"] else " " if " " in m["flags"] else ""
    align = "<" if "-" in m["flags"] else "0" if "0" in m["flags"] else ">" if m["width"] else ""
    kind = "d" if m["kind"] in "iu" else m["kind"]
    first, zero = (sign, align) if align == "0" else (align + sign, "")
    return (value, "", f"{first}{zero}{m['width']}{m['precision'] or ''}{kind}")


def _parts(value) -> list:
    if type(value) is TracedText:
        return value.parts
    return [(value, "", None) if api.is_traced(value) else str(value)]


_STREAMS = ("stdout", "stderr")


def _stream(file) -> str:
    for name in _STREAMS:
        if file is getattr(sys, name) or file is getattr(sys, f"__{name}__"):
            return name
    raise Dy2StaticValueError(
        f"a captured print of a Tensor goes to sys.stdout or sys.stderr, not to {type(file).__name__} ({user_location()})"
    )


def print_traced(args, sep=None, end=None, file=None, flush=False) -> None:
    """``print`` as an operation of the program."""
    options = {
        "sep": " " if sep is None else sep,
        "end": "\n" if end is None else end,
        "file": "stdout" if file is None else _stream(file),
        "flush": bool(flush),
    }
    api.print_([_parts(a) for a in args], options)


def assert_traced(condition, message) -> None:
    """An assertion of the program; ``message`` may have tensors in it."""
    api.assert_(condition, [*_parts(message), f" ({user_location()})"])
