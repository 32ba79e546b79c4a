"""docs/reference/<family>.md: one page per family."""

from __future__ import annotations

from .schema import Record
from .signature import default_text


def family_page(family: str, records: list[Record]) -> str:
    out = [f"# Operators: {family}\n\n"]
    for r in records:
        out.append(_entry(r))
    return "".join(out)


def _entry(r: Record) -> str:
    args = ", ".join(f"{a.name}: {a.kind.text}" + (f" = {default_text(a)}" if a.has_default else "") for a in r.args)
    outs = ", ".join(f"{o.name}: {o.kind.text}" for o in r.outs)
    lines = [f"## {r.name}\n", f"`{r.name}({args}) -> {outs}`\n", r.doc + "\n"]
    facts = []
    if r.python:
        facts.append("Python: " + ", ".join(f"`{n}`" for n in r.python))
    if r.alias:
        facts.append("other keywords: " + ", ".join(f"`{o}` = `{n}`" for n, others in r.alias.items() for o in others))
    text = r.raw.fields.get("dtype")
    if text and not r.synthetic:
        facts.append(f"dtypes: `{text}`")
    if r.prog:
        facts.append(f"element: `{r.prog.text}`")
    if r.inplace:
        facts.append(f"in place: `{r.name}_`")
    facts.append("gradient: " + _gradient(r))
    if r.spmd:
        facts.append(f"sharding: `{r.spmd}`")
    return "\n".join(lines) + "\n" + "".join(f"- {f}\n" for f in facts) + "\n"


def _gradient(r: Record) -> str:
    if r.nondifferentiable:
        return "none"
    if r.has_vjp:
        return "saves " + (", ".join(f"`{s}`" for s in r.saves) if r.saves else "nothing")
    return "of its composition" if "decompose" in r.rules else "none"
