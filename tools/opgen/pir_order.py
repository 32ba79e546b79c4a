"""`pir` of a record: pd_op's operands and attributes, in its order and by its names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import did_you_mean
from .signature import split_top

if TYPE_CHECKING:
    from .schema import Record


def read(r: Record) -> None:
    """`pir: "x, shape; axis, official_name=ours"`, or {order: ..., version: n}: operands; attributes."""
    for arg in r.args:
        arg.pir_name = arg.name
    value = r.raw.fields.get("pir")
    if isinstance(value, str) and value.startswith("{"):
        raise r.wrong("pir", "pir: expected text or a mapping with order and version")
    if isinstance(value, dict):
        if unknown := value.keys() - {"order", "version"}:
            raise r.wrong("pir", f"pir: unknown key {min(unknown)!r}")
        r.version, value = int(value.get("version", 0)), value.get("order")
    if value is None:
        return
    operands, _, attributes = str(value).partition(";")
    index = {a.name: i for i, a in enumerate(r.args)}
    for text, operand in ((operands, True), (attributes, False)):
        for item in split_top(text):
            official, _, ours = (s.strip() for s in item.partition("="))
            ours = ours or official
            if ours not in index:
                raise r.wrong("pir", f"pir: {ours!r} is no argument{did_you_mean(ours, index)}")
            arg = r.args[index[ours]]
            if operand and not (arg.kind.tensor or arg.kind.text in ("Scalar", "Ints")):
                raise r.wrong("pir", f"pir: {ours} ({arg.kind.text}) can't be an operand; put it after ';'")
            if not operand and arg.kind.tensor:
                raise r.wrong("pir", f"pir: {ours} is a tensor; put it before ';'")
            arg.operand, arg.pir_name = operand, official
            r.pir_order.append(index[ours])
    if missing := [a.name for i, a in enumerate(r.args) if i not in r.pir_order]:
        raise r.wrong("pir", f"pir: {missing[0]!r} is missing")
