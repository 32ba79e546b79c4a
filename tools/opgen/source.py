"""Reads ops/<family>.yaml into plain mappings that remember where each field stands.

Records are written for people, so two kinds of value need no quotes though YAML would want them: signatures
(`args: x: Tensor, axis: int = -1`) and the tensors of samples (`{x: f32[2,3]}`). They are quoted here, line by line,
before YAML reads the text, so that line numbers stay those of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from .errors import SchemaError

# Fields whose value is one string in a little language of ours.
TEXT_FIELDS = ("args", "out", "pir", "shape", "dtype", "expr", "spmd", "local", "loops")
_FIELD = re.compile(rf"^(\s+)({'|'.join(TEXT_FIELDS)}):[ \t]+(.*)$")
_TENSOR = re.compile(r"(?<![\w\"'])((?:bool|bf16|f8e4m3|f8e5m2|[fiuc]\d+)\[[-0-9, ]*\](?:\([^()]*\))?(?:\.\w+)*)")


@dataclass
class Raw:
    """One record as read: field -> (value, line)."""

    file: str
    line: int
    fields: dict[str, object] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def op(self) -> str | None:
        return self.fields.get("op")

    def wrong(self, name: str | None, message: str) -> SchemaError:
        return SchemaError(self.file, self.lines.get(name, self.line), self.op, message)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _prepare(text: str) -> str:
    """Quotes what our little languages leave bare; keeps the number of lines."""
    lines = text.split("\n")
    out: list[str] = []
    i = 0
    while i < len(lines):
        match = _FIELD.match(lines[i])
        if not match or match[3][:1] in "\"'|>{":
            out.append(lines[i] if lines[i].lstrip().startswith("#") else _TENSOR.sub(r'"\1"', lines[i]))
            i += 1
            continue
        indent, name, value = match.groups()
        block = [value]
        while i + 1 < len(lines) and re.match(rf"^{indent}\s+\S", lines[i + 1]):
            i += 1
            block.append(lines[i])
        block[-1] = block[-1].rstrip()
        quoted = "\n".join(part.replace("'", "''") for part in block)
        out.extend(f"{indent}{name}: '{quoted}'".split("\n"))
        i += 1
    return "\n".join(out)


def read_family(path: Path, root: Path) -> list[Raw]:
    """The records of one file, in order. Raises SchemaError with file and line for what is not YAML."""
    file = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    try:
        document = yaml.compose(_prepare(path.read_text()), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else 1
        raise SchemaError(file, line, None, f"not YAML: {fault.problem}") from None
    if document is None:
        return []
    if not isinstance(document, yaml.SequenceNode):
        raise SchemaError(file, 1, None, "expected a list of records")
    return [_record(node, file) for node in document.value]


def _record(node: yaml.Node, file: str) -> Raw:
    line = node.start_mark.line + 1
    if not isinstance(node, yaml.MappingNode):
        raise SchemaError(file, line, None, "expected a record: a mapping that starts with `op:`")
    raw = Raw(file, line)
    loader = yaml.SafeLoader("")
    for key, value in node.value:
        at = key.start_mark.line + 1
        name = key.value
        if name in raw.fields:
            raise SchemaError(file, at, raw.op, f"field {name!r} occurs twice")
        raw.fields[name] = loader.construct_object(value, deep=True)
        raw.lines[name] = at
    return raw
