"""A scalar program written out as a composition of operators, for gradients of gradients and of several inputs.

Which operator computes a scalar function is read from the records: the one whose `expr` is just that function of its
tensors (`tanh(x)`, `x + y`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from . import scalar
from .expr import Prog
from .schema import Record

_CPP_NUMBER = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_CPP_COMPARE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "logical_and": "&&",
    "logical_or": "||",
}
_BOOLEAN_OPERANDS = {
    "logical_and": (0, 1),
    "logical_or": (0, 1),
    "logical_xor": (0, 1),
    "logical_not": (0,),
    "where": (0,),
}


class ComposeError(Exception):
    """No operator computes a function that a gradient needs."""


def operators(records: Iterable[Record]) -> dict[str, str]:
    """scalar function -> operator."""
    found: dict[str, str] = {}
    for r in records:
        prog = r.prog
        if prog is None or r.synthetic or len(prog.instrs) != 1 or prog.params or len(prog.outputs) != 1:
            continue
        if prog.instrs[0].args == tuple(range(len(prog.inputs))):
            found.setdefault(prog.instrs[0].fn, r.name)
    return found


def parametric(records: Iterable[Record]) -> dict[str, list[tuple[Record, tuple[int, ...]]]]:
    """scalar function -> operators that compute it of tensors and numeric attributes (`pow(x, y)` with a number y)."""
    found: dict[str, list[tuple[Record, tuple[int, ...]]]] = {}
    for r in records:
        prog = r.prog
        if prog is not None and not r.synthetic and len(prog.instrs) == 1 and prog.params and len(prog.outputs) == 1:
            found.setdefault(prog.instrs[0].fn, []).append((r, prog.instrs[0].args))
    return found


@dataclass(frozen=True)
class Operators:
    """Which operators compute which scalar functions."""

    plain: dict[str, str]
    parametric: dict[str, list[tuple[Record, tuple[int, ...]]]]


class Composer:
    """Writes C++ statements. A value is (kind, text): `num` a double, `cond` a C++ bool, `scalar` a Scalar, `tensor`,
    `bool` a bool tensor."""

    def __init__(self, prog: Prog, ops: Operators, functions: dict[str, scalar.Fn], like: str):
        self.prog, self.ops, self.functions, self.like = prog, ops, functions, like
        self.lines: list[str] = []
        self.values: list[tuple[str, str]] = []

    def run(self, bindings: dict[str, tuple[str, str]]) -> str:
        """bindings: input or param -> (kind, C++ text). Returns the C++ text of the (tensor) result."""
        self.values = [bindings[n] for n in (*self.prog.inputs, *self.prog.params)]
        for number, instr in enumerate(self.prog.instrs, self.prog.first):
            self.values.append(self.step(number, instr))
        return self.tensor(self.values[self.prog.outputs[0]])

    def tensor(self, value: tuple[str, str]) -> str:
        """The value as a tensor of numbers."""
        kind, text = value
        if kind == "tensor":
            return text
        if kind == "cond":
            text = f"({text} ? 1.0 : 0.0)"
        return f"compose::cast_like({text}, {self.like})" if kind == "bool" else f"compose::lift({text}, {self.like})"

    def truth(self, value: tuple[str, str]) -> str:
        return value[1] if value[0] == "bool" else f"compose::truth({self.tensor(value)})"

    def step(self, number: int, instr) -> tuple[str, str]:
        if instr.fn == "constant":
            return "num", self.constant(instr.imm)
        operands = [self.values[a] for a in instr.args]
        kinds = [k for k, _ in operands]
        if all(k == "num" for k in kinds) and (instr.fn in _CPP_NUMBER or instr.fn == "neg"):
            texts = [t for _, t in operands]
            return "num", f"(-{texts[0]})" if instr.fn == "neg" else f"({texts[0]} {_CPP_NUMBER[instr.fn]} {texts[1]})"
        if all(k in ("num", "cond") for k in kinds) and instr.fn in _CPP_COMPARE:
            return "cond", f"({operands[0][1]} {_CPP_COMPARE[instr.fn]} {operands[1][1]})"
        if kinds == ["cond"] and instr.fn == "logical_not":
            return "cond", f"(!{operands[0][1]})"
        if instr.fn == "where" and kinds[0] == "cond":
            return self.choose(number, operands)
        kind = "bool" if self.functions[instr.fn].boolean else "tensor"
        name = f"t{number}"
        self.lines.append(f"Tensor {name} = {self.call(instr.fn, operands)};")
        return kind, name

    def choose(self, number: int, operands) -> tuple[str, str]:
        """where on a condition that is known without tensors."""
        (_, test), yes, no = operands
        if yes[0] == no[0] and yes[0] in ("num", "cond"):
            return yes[0], f"({test} ? {yes[1]} : {no[1]})"
        branches = [
            self.tensor(v) if v[0] in ("tensor", "bool") else f"compose::full_like({v[1]}, {self.like})"
            for v in (yes, no)
        ]
        self.lines.append(f"Tensor t{number} = {test} ? {branches[0]} : {branches[1]};")
        return "tensor", f"t{number}"

    @staticmethod
    def constant(value: float) -> str:
        if math.isnan(value):
            return "std::numeric_limits<double>::quiet_NaN()"
        if value in (float("inf"), float("-inf")):
            return ("-" if value < 0 else "") + "std::numeric_limits<double>::infinity()"
        return repr(value)

    def call(self, fn: str, operands: list[tuple[str, str]]) -> str:
        plain = [k in ("num", "cond", "scalar") for k, _ in operands]
        if fn == "neg":
            return f"ops::scale({self.tensor(operands[0])}, -1.0)"
        if fn == "fma":
            product = ("tensor", self.call("mul", operands[:2]))
            return self.call("add", [product, operands[2]])
        if len(operands) == 2 and any(plain) and not all(plain):
            special = self.with_number(fn, operands, plain[1])
            if special:
                return special
        if fn not in self.ops.plain:
            raise ComposeError(f"no operator computes the scalar function {fn!r}, which a gradient needs")
        booleans = _BOOLEAN_OPERANDS.get(fn, ())
        texts = [self.truth(v) if i in booleans else self.tensor(v) for i, v in enumerate(operands)]
        return f"ops::{self.ops.plain[fn]}({', '.join(texts)})"

    def with_number(self, fn: str, operands, number_is_second: bool) -> str | None:
        """tensor ∘ number and number ∘ tensor, by `scale` and `pow`."""
        tensor = self.tensor(operands[0] if number_is_second else operands[1])
        kind, number = operands[1] if number_is_second else operands[0]
        if kind == "cond":
            kind, number = "num", f"({number} ? 1.0 : 0.0)"
        if fn == "mul":
            return f"ops::scale({tensor}, {number})"
        if fn == "add":
            return f"ops::scale({tensor}, 1.0, {number})"
        for record, sources in self.ops.parametric.get(fn, []):
            first = len(record.prog.inputs)
            if [s >= first for s in sources] == [not number_is_second, number_is_second]:
                values = dict(zip(sources, (tensor, number) if number_is_second else (number, tensor), strict=True))
                order = {record.args[index].name: i for i, index in enumerate(record.expr_args)}
                return f"ops::{record.name}({', '.join(values[order[a.name]] for a in record.args)})"
        if kind != "num":
            return None
        if fn == "sub":
            return (
                f"ops::scale({tensor}, 1.0, -({number}))"
                if number_is_second
                else f"ops::scale({tensor}, -1.0, {number})"
            )
        if fn == "div" and number_is_second:
            return f"ops::scale({tensor}, 1.0 / {number})"
        if fn == "div" and "reciprocal" in self.ops.plain:
            return f"ops::scale(ops::{self.ops.plain['reciprocal']}({tensor}), {number})"
        return None
