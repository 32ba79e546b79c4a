"""`dtype:` of a record: which dtypes the tensors may have, and which the outputs get.

dtype: float                               every tensor: one of the set, all alike; outputs as the first tensor
dtype: "x: float|int, index: index -> x"   per tensor, then the result
dtype: "x: any -> out: x, indices: int64"  per output
dtype: "number -> promote(x, y)"           see RESULTS for the functions
dtype: "-> dtype or x"                     nothing checked; the attribute if it is given, else as x
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import did_you_mean
from .kinds import DTYPE_SETS, DTYPES, cpp_name
from .signature import Arg, split_top

# function -> C++: real_of and complex_of change between real and complex; widen: bool and int32 to int64;
# inexact: integers and bool to float32 (wide_inexact: float64); default_float, default_int: what the user set.
RESULTS = {
    "promote": "infer::promote_all", "real": "real_of", "complex": "complex_of", "widen": "infer::widen",
    "inexact": "infer::inexact", "wide_inexact": "infer::wide_inexact",
    "default_float": "infer::default_float", "scalar": "infer::scalar_dtype", "index": "infer::index_dtype",
}  # fmt: skip


@dataclass
class DtypeRule:
    """checks: tensor argument -> names of the accepted sets and dtypes; alike: tensors that must equal the first."""

    checks: dict[str, list[str]] = field(default_factory=dict)
    alike: list[str] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)  # output -> C++ expression

    def accepted(self, name: str) -> list[str]:
        """The dtypes that the tensor may have, by name (all, where nothing is said)."""
        names = self.checks.get(name, ["any"])
        return [d for n in names for d in DTYPE_SETS.get(n, (n,))]


def parse_dtype(text: str, args: Sequence[Arg], outs: Sequence[Arg], promoted: Sequence[str]) -> DtypeRule:
    """Raises ValueError with a message for people."""
    tensors = [a for a in args if a.kind.tensor]
    left, arrow, right = text.partition("->")
    rule = DtypeRule()
    left = left.strip()
    if left and ":" not in left:
        names = _set(left)
        rule.checks = {a.name: names for a in tensors}
        rule.alike = [a.name for a in tensors[1:] if a.name not in promoted]
    else:
        for part in split_top(left):
            name, _, sets = part.partition(":")
            if name.strip() not in [a.name for a in tensors]:
                raise ValueError(f"{name.strip()!r} is no tensor{did_you_mean(name, [a.name for a in tensors])}")
            if sets.strip() == "same":
                rule.alike.append(name.strip())
            else:
                rule.checks[name.strip()] = _set(sets)
    right = right.strip()
    if not arrow or not right:
        if not tensors:
            raise ValueError("an operator without tensors says the result: `-> dtype`")
        right = f"promote({', '.join(promoted)})" if promoted else tensors[0].name
    per_output = dict(p.split(":", 1) for p in split_top(right)) if re.match(r"\w+\s*:", right) else None
    per_output = {k.strip(): v for k, v in per_output.items()} if per_output else {o.name: right for o in outs}
    for out in outs:
        if out.name not in per_output:
            raise ValueError(f"no dtype for the output {out.name!r}")
        rule.results[out.name] = _result(per_output[out.name].strip(), args)
    if unknown := per_output.keys() - {o.name for o in outs}:
        raise ValueError(f"{min(unknown)!r} is no output")
    return rule


def _set(text: str) -> list[str]:
    names = [n.strip() for n in text.split("|")]
    for name in names:
        if name not in DTYPE_SETS and name not in DTYPES:
            known = [*DTYPE_SETS, *DTYPES]
            raise ValueError(f"unknown dtype set {name!r}{did_you_mean(name, known)}; known are {', '.join(known)}")
    return names


def _result(text: str, args: Sequence[Arg]) -> str:
    try:
        return _expr(ast.parse(text, mode="eval").body, {a.name: a for a in args})
    except SyntaxError:
        raise ValueError(f"not a dtype: {text!r}") from None


def _expr(node: ast.expr, args: dict[str, Arg]) -> str:
    match node:
        case ast.BoolOp(op=ast.Or(), values=values):
            parts = [_expr(v, args) for v in values]
            return f"infer::first_of({{{', '.join(parts)}}})"
        case ast.Name(id=name):
            if name in args:
                kind = args[name].kind
                if kind.tensor or kind.text in ("dtype", "dtype?"):
                    return f"infer::dtype_of(a.{cpp_name(name)})"
                raise ValueError(f"{name!r} is neither a tensor nor a dtype")
            if name in DTYPES:
                return f"DType::{DTYPES[name]}"
            raise ValueError(f"unknown dtype {name!r}{did_you_mean(name, [*args, *DTYPES])}")
        case ast.Call(func=ast.Name(id=name), args=operands):
            if name not in RESULTS:
                raise ValueError(f"unknown function {name!r}{did_you_mean(name, RESULTS)}")
            if name == "promote":
                return f"infer::promote_all({{{', '.join(_expr(o, args) for o in operands)}}})"
            if name == "index":  # names what it checks
                [o] = operands
                return f'{RESULTS[name]}(c.op.name, "{o.id}", {_expr(o, args)})'
            if name == "scalar":  # its operand is an attribute
                return f"{RESULTS[name]}({', '.join('a.' + cpp_name(o.id) for o in operands)})"
            return f"{RESULTS[name]}({', '.join(_expr(o, args) for o in operands)})"
    raise ValueError(f"not a dtype: {ast.unparse(node)!r}")
