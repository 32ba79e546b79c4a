"""What passes over programs ask a record: `layout`, `evaluation`, `fuses`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .errors import did_you_mean
from .kinds import DTYPES

if TYPE_CHECKING:
    from .schema import Record


@dataclass
class Fusion:
    """`fuses`: which operator's result is continued, and by what. Indices are of the record's own arguments."""

    op: str
    renamed: dict[str, str] = field(default_factory=dict)
    args: list[int] = field(default_factory=list)  # one for each argument of `op`
    bias: int = -1
    residual: int = -1
    scale: int = -1
    activation: int = -1
    activations: dict[str, str] = field(default_factory=dict)  # value of the argument: operator, '' for none
    where: dict[int, int] = field(default_factory=dict)  # argument: the number that it must be
    dtypes: list[str] = field(default_factory=list)
    rank: int = 0
    ungrouped: bool = False


FUSES = ("op", "args", "bias", "residual", "scale", "activation", "where", "dtypes", "rank", "ungrouped")


def read(r: Record) -> None:
    if "layout" in r.raw.fields:
        _layout(r, r.raw.fields["layout"])
    if "evaluation" in r.raw.fields:
        _evaluation(r, r.raw.fields["evaluation"])
    if "fuses" in r.raw.fields:
        _fuses(r, r.raw.fields["fuses"])


def _index(r: Record, where: str, name: str, kinds: tuple[str, ...]) -> int:
    names = [a.name for a in r.args if a.kind.text in kinds]
    if name not in names:
        raise r.wrong(where, f"{where}: {name!r} is no {' or '.join(kinds)} argument{did_you_mean(str(name), names)}")
    return r.arg_index(name)


def _layout(r: Record, value: object) -> None:
    """`{data_format: [input]}`: the argument that names the layout, and which tensors, beside the results, have it."""
    if not isinstance(value, dict) or len(value) != 1:
        raise r.wrong("layout", "layout: expected {format argument: [tensors that follow it]}")
    ((format_arg, tensors),) = value.items()
    r.layout = _index(r, "layout", format_arg, ("str",))
    for name in [tensors] if isinstance(tensors, str) else tensors:
        r.args[_index(r, "layout", name, ("Tensor", "Tensor?"))].follows_layout = True


def _evaluation(r: Record, value: object) -> None:
    """`use_global_stats or is_test and not trainable_statistics`, as (argument, wanted value, ends a conjunction)."""
    if not any(o.inplace_of >= 0 for o in r.outs):
        raise r.wrong("evaluation", "evaluation: says when outputs with `inplace` stay as they were; there are none")
    for conjunction in str(value).split(" or "):
        terms = [t.strip() for t in conjunction.split(" and ")]
        for i, term in enumerate(terms):
            name = term.removeprefix("not ").strip()
            arg = _index(r, "evaluation", name, ("bool",))
            r.evaluation.append((arg, not term.startswith("not "), i + 1 == len(terms)))


def _fuses(r: Record, value: object) -> None:
    if not isinstance(value, dict) or "op" not in value:
        raise r.wrong("fuses", "fuses: expected {op: name, bias: argument, residual: argument, ...}")
    for key in value:
        if key not in FUSES:
            raise r.wrong("fuses", f"fuses: unknown key {key!r}{did_you_mean(key, FUSES)}")
    f = r.fuses = Fusion(str(value["op"]), dict(value.get("args", {})))
    for role in ("bias", "residual", "scale"):
        if role in value:
            setattr(f, role, _index(r, "fuses", value[role], ("Tensor?",)))
    if "activation" in value:
        f.activation = _index(r, "fuses", "activation", ("str",))
        f.activations = {str(k): str(v or "") for k, v in value["activation"].items()}
        if "" not in f.activations.values():
            raise r.wrong("fuses", "fuses: activation: one of its values must stand for none")
    f.where = {_index(r, "fuses", k, ("int",)): int(v) for k, v in value.get("where", {}).items()}
    f.dtypes, f.rank = value.get("dtypes", []), int(value.get("rank", 0))
    f.ungrouped = bool(value.get("ungrouped", False))
    for name in f.dtypes:
        if name not in DTYPES:
            raise r.wrong("fuses", f"fuses: {name!r} is no dtype{did_you_mean(name, DTYPES)}")


def resolve(records: dict[str, Record]) -> None:
    """The operators that `fuses` names, and which argument of ours is which of theirs."""
    for r in records.values():
        if not r.fuses:
            continue
        for name in (r.fuses.op, *(a for a in r.fuses.activations.values() if a)):
            if name not in records:
                raise r.wrong("fuses", f"fuses: there is no operator {name!r}{did_you_mean(name, records)}")
        for arg in records[r.fuses.op].args:
            own = r.fuses.renamed.get(arg.name, arg.name)
            if own not in [a.name for a in r.args]:
                raise r.wrong("fuses", f"fuses: {r.fuses.op}'s {arg.name!r} has no counterpart here")
            r.fuses.args.append(r.arg_index(own))


# -- as C++


def tables(records: list[Record]) -> str:
    """pass_info, and the constexpr arrays behind it. Few records have something to say."""
    speaking = [(i, r) for i, r in enumerate(records) if r.layout >= 0 or r.evaluation or r.fuses]
    out = "namespace {\nnamespace tables {\n" + "".join(_arrays(r) for _, r in speaking) + "}  // namespace tables\n"
    rows = ", ".join(_row(r) for _, r in speaking)
    out += f"constexpr PassInfo pass_rows[] = {{{{}}{', ' if rows else ''}{rows}}};\n"
    of = [0] * max(1, len(records))
    for n, (i, _) in enumerate(speaking):
        of[i] = n + 1
    out += f"constexpr uint16_t pass_row_of[] = {{{', '.join(map(str, of))}}};\n}}\n\n"
    return out + _LOOKUP


_LOOKUP = """const PassInfo& pass_info(const OpInfo& op) {
  const bool known = op.id < std::size(pass_row_of) && &op == &op_table[op.id];
  return pass_rows[known ? pass_row_of[op.id] : 0];
}

"""


def _arrays(r: Record) -> str:
    out = ""
    if r.evaluation:
        rows = ", ".join(f"{{{a}, {str(v).lower()}, {str(last).lower()}}}" for a, v, last in r.evaluation)
        out += f"constexpr FlagTerm {r.name}_evaluation[] = {{{rows}}};\n"
    if not r.fuses:
        return out
    f, name = r.fuses, f"{r.name}_fuses"
    lists = {
        "args": ("uint8_t", [str(a) for a in f.args]),
        "activations": ("FusedActivation", [f'{{"{value}", "{op}"}}' for value, op in f.activations.items()]),
        "where": ("IntTerm", [f"{{{arg}, {number}}}" for arg, number in f.where.items()]),
        "dtypes": ("DType", [f"DType::{DTYPES[d]}" for d in f.dtypes]),
    }
    fields = {
        "op": f'"{f.op}"', "args": "{}", "bias": f.bias, "residual": f.residual, "scale": f.scale,
        "activation": f.activation, "activations": "{}", "where": "{}", "dtypes": "{}", "rank": f.rank, "ungrouped": str(f.ungrouped).lower(),
    }  # fmt: skip
    for key, (kind, items) in lists.items():
        if items:
            out += f"constexpr {kind} {name}_{key}[] = {{{', '.join(items)}}};\n"
            fields[key] = f"{name}_{key}"
    return out + f"constexpr Fusion {name} = {{{', '.join(f'.{k} = {v}' for k, v in fields.items())}}};\n"


def _row(r: Record) -> str:
    follows = sum(a.follows_layout << i for i, a in enumerate(r.args))
    evaluation = f"tables::{r.name}_evaluation" if r.evaluation else "{}"
    fuses = f"&tables::{r.name}_fuses" if r.fuses else "nullptr"
    return f"{{{r.layout}, {follows}, {evaluation}, {fuses}}}"
