"""tests/op_rows.json: what the generated tests run, one row per operator."""

from __future__ import annotations

import json

from . import expr as scalar_expr
from .emit_api import inplace_arg
from .schema import Record
from .signature import Arg, default_text
from .test_rows import SAMPLE_TENSOR

_NAMES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "bool": "bool"}
_LONG = {"f": "float", "i": "int", "u": "uint", "c": "complex"}


def rows(families: dict[str, list[Record]]) -> str:
    result = [_row(r) for records in families.values() for r in records if not r.synthetic]
    return json.dumps(result, indent=1) + "\n"


def tensor_spec(text: str) -> dict:
    """f32[2,3](0.1,0.9).t -> {dtype, shape, low, high, values, flags}."""
    kind, dims, inside, flags = SAMPLE_TENSOR.match(str(text)).groups()
    spec: dict = {
        "dtype": _NAMES.get(kind) or _LONG[kind[0]] + kind[1:],
        "shape": [int(d) for d in dims.split(",") if d.strip()],
        "flags": [f for f in flags.split(".") if f],
    }
    if inside and inside.startswith("="):
        spec["values"] = [float(v) for v in inside[1:].split()]
    elif inside:
        low, high = inside.split(",")
        spec["low"], spec["high"] = float(low), float(high)
    return spec


def _value(arg: Arg, value: object) -> object:
    if not arg.kind.tensor or value is None:
        return value
    if isinstance(value, list):
        return [None if v is None else tensor_spec(v) for v in value]
    return tensor_spec(value)


def _sample(r: Record, row: dict) -> dict:
    out = {}
    for arg in r.args:
        if arg.name in row:
            value = row[arg.name]
            # A Scalar or Ints may be given as a tensor: {tensor: ...}.
            text = isinstance(value, str) and SAMPLE_TENSOR.match(value)
            out[arg.name] = {"tensor": tensor_spec(value)} if text and not arg.kind.tensor else _value(arg, value)
    return out


def _row(r: Record) -> dict:
    accepted = {a.name: (r.dtype.accepted(a.name) if r.dtype else ["float32"]) for a in r.tensors}
    return {
        "op": r.name,
        "family": r.family,
        "args": [{"name": a.name, "kind": a.kind.text, "default": default_text(a)} for a in r.args],
        "outs": [{"name": o.name, "kind": o.kind.text, "intermediate": o.intermediate} for o in r.outs],
        "samples": [_sample(r, row) for row in r.samples],
        "errors": [
            {"raises": row["raises"], "match": row.get("match", ""), "args": _sample(r, row)} for row in r.errors
        ],
        "dtypes": accepted,
        "differentiable": [] if r.nondifferentiable else [a.name for a in r.tensors if not a.nondifferentiable],
        "has_vjp": r.has_vjp,
        "composition": "decompose" in r.rules,
        "inplace": inplace_arg(r) is not None and "inplace_only" not in r.traits,
        "random": "random" in r.traits,
        "data_dependent_shape": "data_dependent_shape" in r.traits,
        "exempt": r.exempt,
        "python": r.python,
        "alias": r.alias,
        "spmd": r.spmd,
        "numpy": scalar_expr.numpy_source(r.prog) if r.prog else "",
        "numpy_args": [r.args[i].name for i in r.expr_args],
        "line": f"{r.raw.file}:{r.raw.line}",
    }
