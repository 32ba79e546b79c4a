"""`args` and `out` of a record: `x: Tensor, axis: int = -1, data_format: str = "NCHW"`."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass

from .errors import did_you_mean
from .kinds import DTYPES, IDENTIFIER, KINDS, Kind

REQUIRED = object()


@dataclass
class Arg:
    """One argument or output. default: REQUIRED, or the Python value (numbers, str, None, list)."""

    name: str
    kind: Kind
    default: object = REQUIRED
    saved: str = "kNo"  # SaveKind
    operand: bool = True
    pir_name: str = ""
    nondifferentiable: bool = False
    linear: bool = False
    host: bool = False
    promotes: bool = False
    wide: bool = False
    follows_layout: bool = False
    intermediate: bool = False
    inplace_of: int = -1
    view_of: int = -1

    @property
    def has_default(self) -> bool:
        return self.default is not REQUIRED


def split_top(text: str, separator: str = ",") -> list[str]:
    """text cut at separators outside brackets and strings; parts are stripped, an empty last one is dropped."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return parts[:-1] if parts[-1] == "" else parts


def parse_signature(text: str, allow_default: bool = True) -> list[Arg]:
    """Raises ValueError with a message for people."""
    args: list[Arg] = []
    for part in split_top(" ".join(str(text).split())):
        match = re.fullmatch(r"(\w+)\s*:\s*([\w\[\]?]+)\s*(?:=\s*(.+))?", part)
        if not match:
            raise ValueError(f"expected `name: kind` or `name: kind = default`, got {part!r}")
        name, kind, default = match.groups()
        if kind not in KINDS:
            raise ValueError(f"{name}: unknown kind {kind!r}{did_you_mean(kind, KINDS)}; known are {', '.join(KINDS)}")
        if not IDENTIFIER.match(name):
            raise ValueError(f"{name!r} is not a name")
        if any(a.name == name for a in args):
            raise ValueError(f"{name!r} occurs twice")
        arg = Arg(name, KINDS[kind])
        if default is not None:
            if not allow_default:
                raise ValueError(f"{name}: an output has no default")
            arg.default = _default(name, arg.kind, default)
        elif allow_default and args and args[-1].has_default:
            raise ValueError(f"{name} has no default but follows {args[-1].name}, which has one")
        args.append(arg)
    return args


def _default(name: str, kind: Kind, text: str) -> object:
    if text in ("inf", "-inf"):
        value: object = math.inf if text == "inf" else -math.inf
    elif kind.text.startswith("dtype") and text in DTYPES:
        value = text
    else:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise ValueError(f"{name}: {text!r} is not a default value") from None
    accepts: dict[str, tuple] = {
        "Scalar": (bool, int, float), "Ints": (int, list), "int": (int,), "float": (int, float), "bool": (bool,),
        "str": (str,),
        "int[]": (list,), "float[]": (list,), "bool[]": (list,), "str[]": (list,), "Scalar[]": (list,), "int?": (int,),
        "float?": (int, float), "bool?": (bool,), "dtype": (str,), "dtype?": (str,), "Tensor[]": (list,),
    }  # fmt: skip
    none_ok = kind.optional or kind.text in ("dtype", "place")
    if value is None:
        if not none_ok:
            raise ValueError(f"{name}: None is no default for {kind.text}")
    elif not isinstance(value, accepts.get(kind.text, ())) or (
        isinstance(value, bool) and kind.text in ("int", "int?")
    ):
        raise ValueError(f"{name}: {text} is no default for {kind.text}")
    return value


def default_text(arg: Arg) -> str:
    """The default as Python text ('' if there is none)."""
    if not arg.has_default:
        return ""
    if isinstance(arg.default, float) and math.isinf(arg.default):
        return "inf" if arg.default > 0 else "-inf"
    if isinstance(arg.default, str) and not arg.kind.text.startswith("dtype"):
        return '"' + arg.default + '"'
    return str(arg.default)


def cpp_number(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isinf(value):
        infinity = "std::numeric_limits<double>::infinity()"
        return infinity if value > 0 else "-" + infinity
    return repr(value)


def cpp_default(arg: Arg) -> str:
    """The default as C++ text."""
    value, kind = arg.default, arg.kind.text
    if value is None:
        return {"dtype": "DType::kUndefined", "int?": "std::nullopt", "float?": "std::nullopt", "bool?": "std::nullopt",
                "dtype?": "std::nullopt"}.get(kind, "{}")  # fmt: skip
    if kind.startswith("dtype"):
        return f"DType::{DTYPES[value]}"
    if isinstance(value, str):
        return '"' + value + '"'
    if isinstance(value, list):
        return "{" + ", ".join(cpp_number(v) for v in value) + "}"
    if kind == "Ints":
        return "{" + cpp_number(value) + "}"
    if kind in ("float", "float?"):
        return cpp_number(float(value))
    return cpp_number(value)
