"""Signatures as stub text."""

from __future__ import annotations

import ast
import inspect
import re

# Annotations are kept where every name in them means the same in any stub.
_BUILTIN = {"int", "float", "bool", "complex", "str", "bytes", "object", "list", "dict", "tuple", "set", "type", "None"}
_TYPING = {"Any", "Callable", "Iterable", "Iterator", "Literal", "Mapping", "Sequence", "Tensor"}
HEADER = """from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from paddle._core import Tensor as Tensor
from paddle._typing import DTypeLike, PlaceLike

"""


def annotation(text) -> str | None:
    """The annotation if it is understood everywhere, else None."""
    if text is inspect.Parameter.empty:
        return None
    text = text if isinstance(text, str) else getattr(text, "__name__", "")
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    plain = not any(isinstance(n, ast.Attribute) for n in ast.walk(tree))
    return text if text and plain and used <= _BUILTIN | _TYPING else None


def _parameter(p: inspect.Parameter) -> str:
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
    known = annotation(p.annotation)
    bare_self = p.name in ("self", "cls")
    text += f": {known or 'Any'}" if not bare_self else ""
    return text + (" = ..." if p.default is not p.empty else "")


def _parameters(parameters: list[inspect.Parameter]) -> str:
    parts, starred = [], False
    for i, p in enumerate(parameters):
        if p.kind == p.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)
        parts.append(_parameter(p))
        if p.kind == p.POSITIONAL_ONLY and (i + 1 == len(parameters) or parameters[i + 1].kind != p.POSITIONAL_ONLY):
            parts.append("/")
    return ", ".join(parts)


def function(name: str, value, method: bool = False) -> str:
    """`def name(...) -> ...: ...`; arguments without a known signature are anything."""
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return f"def {name}({'self, ' if method else ''}*args: Any, **kwargs: Any) -> Any: ...\n"
    parameters = list(signature.parameters.values())
    if method and parameters and parameters[0].kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD:
        parameters[0] = parameters[0].replace(name="self", annotation=inspect.Parameter.empty)
    returns = annotation(signature.return_annotation) or ("None" if name == "__init__" else "Any")
    return f"def {name}({_parameters(parameters)}) -> {returns}: ...\n"


def unshadowed(text: str, names) -> str:
    """Builtin types that the stub's own names hide (paddle.float is a dtype, Tensor.int a method) taken from builtins."""
    for name in ("int", "float", "bool", "complex", "str", "list", "tuple", "type", "object"):
        if name in names:
            text = re.sub(rf"(?:(?<=[:>|] )|(?<=\[)|(?<=, )(?=\w+[\],])){name}\b", f"builtins.{name}", text)
    return text
