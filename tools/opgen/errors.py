"""What a wrong record raises."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SchemaError(Exception):
    """A record is wrong: `ops/math.yaml:12: [softmax] unknown field 'shap' (did you mean 'shape'?)`."""

    def __init__(self, file: str, line: int, op: str | None, message: str):
        super().__init__(f"{file}:{line}: " + (f"[{op}] " if op else "") + message)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' (did you mean 'shape'?)' for the nearest known name, else the empty string."""
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
