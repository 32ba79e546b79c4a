"""What a record says for its tests: `samples`, `errors`, `exempt`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import did_you_mean

if TYPE_CHECKING:
    from .schema import Record

# What the generated tests check of every record, and a record may be exempt from with a reason.
CHECKS = ("values", "first_order", "second_order", "modes")
RAISES = ("ValueError", "TypeError", "IndexError", "KeyError", "RuntimeError", "NotImplementedError")
SAMPLE_TENSOR = re.compile(r"(bool|bf16|f8e4m3|f8e5m2|[fiuc]\d+)\[([-0-9, ]*)\](?:\(([^()]*)\))?((?:\.\w+)*)\Z")


def read(r: Record) -> None:
    """Fills in samples, errors and exempt. Raises SchemaError."""
    _exemptions(r)
    for name in ("samples", "errors"):
        rows = r.raw.fields.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise r.wrong(name, f"{name}: expected a list of {{argument: value}}")
        for row in rows:
            _row(r, name, row)
        setattr(r, name, rows)


def _exemptions(r: Record) -> None:
    value = r.raw.fields.get("exempt", {})
    if not isinstance(value, dict):
        raise r.wrong("exempt", f"exempt: expected {{check: reason}}, got {value!r}")
    for check, reason in value.items():
        if check not in CHECKS:
            raise r.wrong("exempt", f"exempt: {check!r} is no check{did_you_mean(check, CHECKS)}")
        if not isinstance(reason, str) or not reason.strip():
            raise r.wrong("exempt", f"exempt: {check}: expected a reason")
    r.exempt = value


def _row(r: Record, name: str, row: dict) -> None:
    known = [a.name for a in r.args] + (["raises", "match"] if name == "errors" else [])
    for key in row:
        if key not in known:
            raise r.wrong(name, f"{name}: {key!r} is no argument{did_you_mean(key, known)}")
    if name == "errors" and row.get("raises") not in RAISES:
        raise r.wrong(name, f"errors: raises: expected one of {', '.join(RAISES)}, got {row.get('raises')!r}")
    for arg in r.args:
        if arg.name not in row:
            if not arg.has_default and not arg.kind.optional and name == "samples":
                raise r.wrong(name, f"samples: {row}: {arg.name!r} is missing")
            continue
        if not arg.kind.tensor or row[arg.name] is None:
            continue
        items = row[arg.name] if isinstance(row[arg.name], list) else [row[arg.name]]
        for item in items:
            if item is not None and not SAMPLE_TENSOR.match(str(item)):
                raise r.wrong(name, f"{name}: {arg.name}: {item!r} is no tensor; expected e.g. f32[2,3] or i64[4](0,5)")
