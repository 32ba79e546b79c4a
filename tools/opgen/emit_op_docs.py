"""paddle/_op_docs.py: the docstring of every operator, read by `help()` when somebody asks."""

from __future__ import annotations

import inspect

from .schema import Record
from .signature import default_text


def _dtypes(r: Record) -> str:
    text = r.raw.fields.get("dtype")
    return f"\nDtypes: ``{text}``\n" if text and not r.synthetic else ""


def _argument(r: Record, index: int) -> str:
    a = r.args[index]
    names = " or ".join([a.name, *r.alias.get(a.name, [])])
    default = f", default {default_text(a)}" if a.has_default else ""
    return f"    {names} ({a.kind.py}{default})\n"


def _raises(r: Record) -> str:
    kinds = sorted({e["raises"] for e in r.errors})
    kinds = kinds or ["ValueError", "TypeError"]
    return f"\nRaises:\n    {', '.join(kinds)}: a bad argument; the message names it, what was expected, what came.\n"


def text_of(r: Record, returns: str) -> str:
    """Summary, arguments with other names, dtypes, result, errors, source."""
    arguments = "".join(_argument(r, i) for i in range(len(r.args)))
    parts = [
        r.doc.strip() + "\n",
        f"\nArgs:\n{arguments}" if arguments else "",
        _dtypes(r),
        f"\nReturns:\n    {returns}\n",
    ]
    parts.append(_raises(r))
    if not r.synthetic:
        parts.append(f"\nSource: Paddle 3's operator ``pd_op.{r.name}``.\n")
    return inspect.cleandoc("".join(parts)) + "\n"
