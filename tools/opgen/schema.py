"""Records: the fields, their checks, and the form in which everything else reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from . import expr as scalar_expr
from . import loop_lang, pass_fields, pir_order, scalar, shape_lang, test_rows
from .dtype_lang import DtypeRule, parse_dtype
from .errors import SchemaError, did_you_mean
from .kinds import NUMBERS, WIDE
from .signature import Arg, parse_signature
from .source import Raw, read_family

FIELDS = (
    "op", "args", "out", "wide", "pir", "legacy", "alias", "shape", "dtype", "promote", "traits", "expr", "derivative",
    "combine", "init", "loops", "host", "rules", "saves", "intermediate", "nondifferentiable", "inplace", "view", "copied",
    "apart", "random", "host_args", "data_dependent_shape", "spmd", "local", "linear_in", "layout", "evaluation", "fuses", "amp",
    "complex", "python", "exempt", "samples", "errors", "doc",
)  # fmt: skip
REQUIRED_FIELDS = ("op", "args", "out", "doc")
TRAITS = {
    "elementwise": "kElementwise", "reduction": "kReduction", "view": "kView", "random": "kRandom",
    "side_effect": "kSideEffect", "collective": "kCollective", "primitive": "kPrimitive",
    "inplace_only": "kInplaceOnly", "commutative": "kCommutative", "broadcast": "kBroadcast",
    "matmul_like": "kMatmulLike", "index_map": "kIndexMap", "factory": "kFactory", "control_flow": "kControlFlow",
    "nondifferentiable": "kNondifferentiable", "data_dependent_shape": "kDataDependentShape",
    "needs_kernel": "kNeedsKernel", "host_copy": "kHostCopy", "inplace_variant": "kInplaceVariant",
}  # fmt: skip
# Those that other fields imply may not be written by hand.
IMPLIED = {
    "random",
    "nondifferentiable",
    "data_dependent_shape",
    "needs_kernel",
    "host_copy",
    "inplace_variant",
    "view",
}
RULES = ("shape", "decompose", "vjp")
AMP = {"keep": "kKeep", "white": "kWhite", "black": "kBlack", "promote": "kPromote"}
COMPLEX = {"unsupported": "kUnsupported", "holomorphic": "kHolomorphic", "custom": "kCustom"}
COMBINE = ("sum", "prod", "max", "min", "any", "all")


@dataclass(frozen=True)
class Known:
    """What records may name that is written elsewhere: shape templates, loop rules, scalar functions with arities."""

    shapes: set[str]
    rules: set[str]
    functions: dict[str, int]


@dataclass
class Record:
    """One operator. `derived` holds gradients that come from `expr` (see derive.py)."""

    name: str
    family: str
    raw: Raw
    args: list[Arg]
    outs: list[Arg]
    doc: str = ""
    version: int = 0
    pir_order: list[int] = field(default_factory=list)
    shape: dict[str, str] | None = None
    dtype: DtypeRule | None = None
    traits: set[str] = field(default_factory=set)
    prog: scalar_expr.Prog | None = None
    expr_args: list[int] = field(default_factory=list)
    combine: str | None = None
    rules: set[str] = field(default_factory=set)
    saves: list[str] | None = None
    nondifferentiable: bool = False
    inplace: dict[str, str] = field(default_factory=dict)
    amp: str = "keep"
    complex: str = "unsupported"
    promote: list[str] = field(default_factory=list)
    spmd: str = ""
    local: str = ""
    loops: str = ""  # what the compiler reads (loop_lang.py)
    layout: int = -1  # the argument that names it (pass_fields.py)
    evaluation: list[tuple[int, bool, bool]] = field(default_factory=list)
    fuses: pass_fields.Fusion | None = None
    legacy: dict | None = None
    alias: dict[str, list[str]] = field(default_factory=dict)
    python: list[str] = field(default_factory=list)
    exempt: dict[str, str] = field(default_factory=dict)
    samples: list[dict] = field(default_factory=list)
    errors: list[dict] = field(default_factory=list)
    derivative: dict[str, str] = field(default_factory=dict)  # partial derivatives that `expr` alone would give otherwise
    copied: bool = False  # a view whose result is a copy for Python
    apart: bool = False  # its typed function is not part of api/ops.h
    vjp_source: str | None = None  # C++ body of a derived vjp
    synthetic: bool = False  # made by derive.py

    def wrong(self, name: str | None, message: str) -> SchemaError:
        return self.raw.wrong(name, message)

    def arg_index(self, name: str) -> int:
        return next(i for i, a in enumerate(self.args) if a.name == name)

    @property
    def tensors(self) -> list[Arg]:
        return [a for a in self.args if a.kind.tensor]

    @property
    def has_vjp(self) -> bool:
        return "vjp" in self.rules or self.vjp_source is not None

    @property
    def has_rules_glue(self) -> bool:
        return bool(self.rules) or self.shape is not None


def load(root: Path) -> dict[str, list[Record]]:
    """All families, in the order of their names. Raises the first SchemaError."""
    known = Known(
        shape_lang.templates(root), loop_lang.rule_names(root), {f.name: f.arity for f in scalar.load(root).values()}
    )
    families: dict[str, list[Record]] = {}
    seen: dict[str, Record] = {}
    for path in sorted((root / "ops").glob("*.yaml")):
        if path.name == "scalar.yaml":
            continue
        records = [parse_record(raw, path.stem, known) for raw in read_family(path, root)]
        for record in records:
            if record.name in seen:
                other = seen[record.name].raw
                raise record.wrong("op", f"is already defined at {other.file}:{other.line}")
            seen[record.name] = record
        families[path.stem] = records
    pass_fields.resolve(seen)
    return families


def parse_record(raw: Raw, family: str, known: Known) -> Record:
    """The record, checked field by field."""
    for name in raw.fields:
        if name not in FIELDS:
            raise raw.wrong(name, f"unknown field {name!r}{did_you_mean(name, FIELDS)}")
    for name in REQUIRED_FIELDS:
        if name not in raw.fields:
            raise raw.wrong(None, f"field {name!r} is missing")
    return _Parser(raw, family, known).record


class _Parser:
    def __init__(self, raw: Raw, family: str, known: Known):
        self.raw = raw
        if not re.fullmatch(r"[a-z_][a-z0-9_]*", str(raw.fields["op"])):
            raise raw.wrong("op", f"{raw.fields['op']!r} is no operator name")
        args = self.attempt("args", lambda t: parse_signature(t))
        outs = self.attempt("out", lambda t: parse_signature(t, allow_default=False))
        for out in outs:
            if not out.kind.tensor or out.kind.text == "Tensor?[]":
                raise raw.wrong("out", f"{out.name}: an output is Tensor, Tensor? or Tensor[]")
            if any(a.name == out.name for a in args):
                raise raw.wrong("out", f"{out.name!r} is also an argument")
        if not outs:
            raise raw.wrong("out", "expected at least one output")
        self.record = r = Record(str(raw.fields["op"]), family, raw, args, outs)
        r.doc = self.text("doc")
        r.spmd, r.local = self.text("spmd"), self.text("local")
        self.plain_fields()
        pir_order.read(r)
        self.names_of_arguments()
        pass_fields.read(r)
        self.rules()
        self.expression()
        self.gradients()
        self.shape_and_dtype(known.shapes)
        self.implied_traits()
        self.loops(known)
        self.python_names()
        test_rows.read(r)

    # -- helpers
    def attempt(self, name: str, parse):
        try:
            return parse(self.raw.fields[name])
        except ValueError as fault:
            raise self.raw.wrong(name, f"{name}: {fault}") from None

    def text(self, name: str) -> str:
        value = self.raw.fields.get(name, "")
        if not isinstance(value, str):
            raise self.raw.wrong(name, f"{name}: expected text, got {value!r}")
        return " ".join(value.split()) if name != "doc" else value.strip()

    def flag(self, name: str) -> bool:
        value = self.raw.fields.get(name, False)
        if not isinstance(value, bool):
            raise self.raw.wrong(name, f"{name}: expected true or false, got {value!r}")
        return value

    def choice(self, name: str, known, default=None):
        value = self.raw.fields.get(name, default)
        if value is not None and value not in known:
            raise self.raw.wrong(name, f"{name}: {value!r} is none of {', '.join(known)}{did_you_mean(value, known)}")
        return value

    def names(self, name: str, known: list[str], what: str) -> list[str]:
        value = self.raw.fields.get(name, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list):
            raise self.raw.wrong(name, f"{name}: expected a list of names, got {value!r}")
        for item in value:
            if item not in known:
                raise self.raw.wrong(name, f"{name}: {item!r} is no {what}{did_you_mean(item, known)}")
        return value

    # -- the fields, by subject
    def plain_fields(self) -> None:
        r = self.record
        r.amp = self.choice("amp", AMP, "keep")
        r.complex = self.choice("complex", COMPLEX, "unsupported")
        r.combine = self.choice("combine", COMBINE)
        r.traits = set(self.names("traits", [t for t in TRAITS if t not in IMPLIED], "trait"))
        legacy = self.raw.fields.get("legacy")
        if legacy is not None and (not isinstance(legacy, dict) or "op" not in legacy):
            raise self.raw.wrong("legacy", "legacy: expected {op: name, our name: slot, ...}")
        for key in legacy or {}:
            known = ["op", *(a.name for a in r.args), *(o.name for o in r.outs)]
            if key not in known:
                raise self.raw.wrong("legacy", f"legacy: {key!r} is no argument or output{did_you_mean(key, known)}")
        r.legacy = legacy

    def names_of_arguments(self) -> None:
        r = self.record
        args, outs = [a.name for a in r.args], [o.name for o in r.outs]
        tensors = [a.name for a in r.tensors]
        for name in self.names("wide", [a.name for a in r.args if a.kind.text in WIDE], "number, or list of numbers"):
            r.args[r.arg_index(name)].wide = True
        for name in self.names("host_args", args, "argument"):
            r.args[r.arg_index(name)].host = True
        for name in self.names("linear_in", tensors, "tensor argument"):
            r.args[r.arg_index(name)].linear = True
        for name in self.names("intermediate", outs, "output"):
            next(o for o in r.outs if o.name == name).intermediate = True
        r.promote = tensors if self.raw.fields.get("promote") == "tensors" else self.names("promote", tensors, "tensor")
        for name in r.promote:
            r.args[r.arg_index(name)].promotes = True
        alias = self.raw.fields.get("alias", {})
        if not isinstance(alias, dict):
            raise self.raw.wrong("alias", "alias: expected {argument: other name}")
        for name, others in alias.items():
            if name not in args:
                raise self.raw.wrong("alias", f"alias: {name!r} is no argument{did_you_mean(name, args)}")
            r.alias[name] = [others] if isinstance(others, str) else others
            if clash := [o for o in r.alias[name] if o in args]:
                raise self.raw.wrong("alias", f"alias: {clash[0]!r} is an argument itself")
        for name in ("inplace", "view"):
            self.output_of(name, args, outs)

    def output_of(self, name: str, args: list[str], outs: list[str]) -> None:
        value = self.raw.fields.get(name, {})
        if not isinstance(value, dict):
            raise self.raw.wrong(name, f"{name}: expected {{output: argument}}, got {value!r}")
        for out, arg in value.items():
            if out not in outs:
                raise self.raw.wrong(name, f"{name}: {out!r} is no output{did_you_mean(out, outs)}")
            if arg not in args:
                raise self.raw.wrong(name, f"{name}: {arg!r} is no argument{did_you_mean(arg, args)}")
            target = next(o for o in self.record.outs if o.name == out)
            setattr(target, f"{name}_of", args.index(arg))
        if name == "inplace":
            self.record.inplace = value

    def rules(self) -> None:
        self.record.rules = set(self.names("rules", list(RULES), "rule"))

    def expression(self) -> None:
        r = self.record
        text = self.raw.fields.get("expr")
        if text is None:
            if "derivative" in self.raw.fields:
                raise self.raw.wrong("derivative", "derivative: belongs to `expr`, and there is none")
            if "init" in self.raw.fields and not r.combine:
                raise self.raw.wrong("init", "init: says where a reduction starts; there is no `combine`")
            return
        inputs = [a.name for a in r.tensors]
        if any(a.kind.is_list or a.kind.optional for a in r.tensors):
            raise self.raw.wrong("expr", "expr: a pointwise operator has no lists of tensors or optional ones")
        params = [a.name for a in r.args if a.kind.text in NUMBERS and re.search(rf"\b{a.name}\b", str(text))]
        try:
            r.prog = scalar_expr.parse(str(text), inputs, params)
        except scalar_expr.ExprError as fault:
            raise self.raw.wrong("expr", f"expr: {fault}") from None
        if len(r.prog.outputs) != len(r.outs):
            raise self.raw.wrong("expr", f"expr: yields {len(r.prog.outputs)} values for {len(r.outs)} outputs")
        r.expr_args = [r.arg_index(n) for n in (*inputs, *params)]
        self.derivative(inputs)
        if "decompose" in r.rules:
            raise self.raw.wrong("rules", "rules: an operator has `expr` or a decomposition, not both")

    def derivative(self, inputs: list[str]) -> None:
        value = self.raw.fields.get("derivative", {})
        if not isinstance(value, dict) or any(name not in inputs for name in value):
            raise self.raw.wrong("derivative", f"derivative: expected {{tensor: expression}}, got {value!r}")
        if value and ("vjp" in self.record.rules or len(self.record.outs) > 1):
            raise self.raw.wrong("derivative", "derivative: is for an operator of one output without a vjp of its own")
        self.record.derivative = {name: str(text) for name, text in value.items()}

    def gradients(self) -> None:
        r = self.record
        names = {a.name: a for a in (*r.args, *r.outs)}
        if "saves" in self.raw.fields:
            r.saves = self.raw.fields["saves"] or []
            if not isinstance(r.saves, list):
                raise self.raw.wrong("saves", "saves: expected a list of names")
            for item in r.saves:
                name, dot, meta = str(item).partition(".")
                if name not in names or not names[name].kind.tensor or (dot and meta != "meta"):
                    known = [n for n, a in names.items() if a.kind.tensor]
                    raise self.raw.wrong(
                        "saves", f"saves: {item!r} is neither a tensor nor `name.meta`{did_you_mean(name, known)}"
                    )
                names[name].saved = "kMeta" if dot else "kValue"
        value = self.raw.fields.get("nondifferentiable", False)
        if value is True:
            r.nondifferentiable = True
        elif value is not False:
            for name in self.names("nondifferentiable", [n for n, a in names.items() if a.kind.tensor], "tensor"):
                names[name].nondifferentiable = True
        if r.nondifferentiable and "vjp" in r.rules:
            raise self.raw.wrong("rules", "rules: a nondifferentiable operator has no vjp")
        if "vjp" in r.rules and r.saves is None:
            raise self.raw.wrong("rules", "saves: says what the vjp reads; write `saves: []` if it reads nothing")
        differentiable = r.nondifferentiable or "vjp" in r.rules or "decompose" in r.rules or r.prog is not None
        if not differentiable and any(not t.nondifferentiable for t in r.tensors):
            raise self.raw.wrong(
                None,
                "has neither a vjp, nor a composition or expr to differentiate; "
                "say `nondifferentiable: true` if that's meant",
            )

    def shape_and_dtype(self, known: set[str]) -> None:
        r = self.record
        text = self.raw.fields.get("shape")
        if text is None and "shape" not in r.rules:
            if r.prog is None:
                raise self.raw.wrong(None, "field 'shape' is missing (or `rules: [shape]`, written in C++)")
            names = ", ".join(a.name for a in r.tensors)
            text = f"broadcast({names})" if len(r.tensors) > 1 else f"same_as({names})"
        if text is not None:
            if "shape" in r.rules:
                raise self.raw.wrong("shape", "shape: is given twice: here and in `rules`")
            try:
                r.shape = shape_lang.parse_shape(str(text), r.name, r.args, r.outs, known)
            except ValueError as fault:
                raise self.raw.wrong("shape", f"shape: {fault}") from None
        text = self.raw.fields.get("dtype")
        if text is None and "shape" not in r.rules:
            raise self.raw.wrong(None, "field 'dtype' is missing")
        if text is not None:
            try:
                r.dtype = parse_dtype(" ".join(str(text).split()), r.args, r.outs, r.promote)
            except ValueError as fault:
                raise self.raw.wrong("dtype", f"dtype: {fault}") from None

    def implied_traits(self) -> None:
        r = self.record
        t = r.traits
        if r.prog is not None and not r.combine:
            t |= {"elementwise", "primitive"} | ({"broadcast"} if len(r.tensors) > 1 else set())
        if r.combine:
            t |= {"reduction", "primitive"}
        for flag, trait in (
            ("random", "random"),
            ("data_dependent_shape", "data_dependent_shape"),
            ("host", "host_copy"),
        ):
            if self.flag(flag):
                t.add(trait)
        if any(o.view_of >= 0 for o in r.outs):
            t.add("view")
        r.copied, r.apart = self.flag("copied"), self.flag("apart")
        if r.copied and "view" not in t:
            raise self.raw.wrong("copied", "copied: is for a view; what is none has memory of its own anyway")
        if r.inplace and "inplace_only" not in t:
            t.add("inplace_variant")
        if r.nondifferentiable:
            t.add("nondifferentiable")
        if "decompose" not in r.rules and r.prog is None and not r.combine:
            t |= {"needs_kernel", "primitive"}
        if not r.tensors and "random" not in t and not t & {"side_effect", "collective", "control_flow"}:
            t.add("factory")

    def loops(self, known: Known) -> None:
        r = self.record
        text = self.text("loops")
        if text and r.prog is not None:
            raise self.raw.wrong("loops", "loops: an operator has `expr` or loops, not both")
        try:
            r.loops = loop_lang.parse_loops(text, r.args, r.outs, known.rules, known.functions) if text else ""
        except ValueError as fault:
            raise self.raw.wrong("loops", f"loops: {fault}") from None

    def python_names(self) -> None:
        r = self.record
        value = self.raw.fields.get("python", [])
        r.python = [value] if isinstance(value, str) else value
        for name in r.python:
            if not re.fullmatch(r"paddle(\.\w+)+", str(name)):
                raise self.raw.wrong("python", f"python: {name!r} is no public name; expected paddle.<...>")
