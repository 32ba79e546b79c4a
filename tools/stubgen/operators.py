"""Entry points that the records make public as they are: their stubs come from the records."""

from __future__ import annotations

import inspect
from pathlib import Path

from opgen import derive, emit_python, schema


class Operators:
    """The records by operator name, and the class of their entry points."""

    def __init__(self, root: Path, kind: type):
        families = schema.load(root)
        derive.complete(families, root)
        self._records = {r.name: r for records in families.values() for r in records}
        self._kind = kind

    def is_operator(self, value) -> bool:
        return isinstance(value, self._kind)

    def stub(self, name: str, value, method: bool = False) -> str:
        """The function's stub under `name`; as a method its first argument is self."""
        op = value.__name__
        record = self._records.get(op) or self._records[op.removesuffix("_")]
        text = emit_python.stub(record, name, True).split(":\n    \"\"\"")[0] + ": ...\n"
        further = [p for p in inspect.signature(value).parameters.values() if p.kind is p.KEYWORD_ONLY and p.name != "out"]
        text = text.replace("*, out:", "*, " + "".join(f"{p.name}: Any = {p.default!r}, " for p in further) + "out:")
        if not method:
            return text
        head, _, rest = text.partition("(")
        first, comma, others = rest.partition(", ")
        closing = "" if comma else ")" + rest.partition(")")[2]
        return f"{head}(self{comma}{others}{closing}"
