"""Fields as protocol buffers' text form has them: ``name: value`` lines, and blocks for nested ones."""

from __future__ import annotations

import json
import re

__all__ = []

_TOKEN = re.compile(r'\s*(?:#[^\n]*\n\s*)*("(?:[^"\\]|\\.)*"|[{}:]|[^\s{}:"]+)')


def _value(v) -> str:
    if isinstance(v, bool):
        return str(v).lower()
    return json.dumps(v) if isinstance(v, str) else repr(v)


def written(fields, indent="") -> str:
    """The text of a dict of numbers, strings, lists of them, and dicts; other values are left out."""
    lines = []
    for name, value in fields.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(v, dict):
                lines.append(f"{indent}{name} {{\n{written(v, indent + '  ')}{indent}}}\n")
            elif isinstance(v, (bool, int, float, str)):
                lines.append(f"{indent}{name}: {_value(v)}\n")
    return "".join(lines)


def _tokens(text):
    position, found = 0, []
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"not in protocol buffers' text form: {text[position : position + 40]!r}")
        found.append(match[1])
        position = match.end()
    return found


def _number(token):
    if token[:1] == '"':
        return json.loads(token)
    if token in ("true", "false"):
        return token == "true"
    try:
        return int(token)
    except ValueError:
        return float(token)


def read(text, like) -> dict:
    """The fields of a text; what is a list in ``like`` is one here too."""
    tokens = _tokens(text)
    fields, rest = _read(tokens, 0, like)
    if rest != len(tokens):
        raise ValueError("a block ends that did not begin")
    return fields


def _read(tokens, at, like):
    fields: dict = {}
    while at < len(tokens) and tokens[at] != "}":
        name, sign = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
        inner = like.get(name) if isinstance(like, dict) else None
        if sign == "{":
            value, at = _read(tokens, at + 2, inner)
            if at >= len(tokens):
                raise ValueError(f"the block of {name} does not end")
            at += 1
        elif sign == ":" and at + 2 < len(tokens):
            value, at = _number(tokens[at + 2]), at + 3
        else:
            raise ValueError(f"expected a value after {name}, got {sign!r}")
        if isinstance(inner, list):
            fields.setdefault(name, []).append(value)
        elif name in fields:
            raise ValueError(f"{name} comes twice")
        else:
            fields[name] = value
    return fields, at
