"""A program of the scalar language written out: as an expression, as NumPy, as C++."""

from __future__ import annotations

import math
import re
from pathlib import Path

from . import scalar
from .expr_graph import Prog

_ROOT = Path(__file__).resolve().parents[2]

_SYMBOL = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floor_div": "//", "mod": "%", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "shift_left": "<<",
    "shift_right": ">>",
}  # fmt: skip


def _number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 and str(value) != "-0.0" else repr(value)


def source(prog: Prog) -> str:
    """The program as an expression that `parse` reads. Shared values are written out at each use."""
    text: list[str] = [*prog.inputs, *prog.params]
    for instr in prog.instrs:
        args = [text[a] for a in instr.args]
        if instr.fn == "constant":
            text.append(_number(instr.imm))
        elif instr.fn == "neg":
            text.append(f"(-{args[0]})")
        elif instr.fn in _SYMBOL:
            text.append(f"({args[0]} {_SYMBOL[instr.fn]} {args[1]})")
        else:
            text.append(f"{instr.fn}({', '.join(_bare(a) for a in args)})")
    return ", ".join(_bare(text[r]) for r in prog.outputs)


def _bare(text: str) -> str:
    """text without parentheses around the whole."""
    if not text.startswith("("):
        return text
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if position == len(text) - 1 else text
    return text


def numpy_source(prog: Prog, name: str = "reference") -> str:
    """A Python function over NumPy arrays, in need of `np` (NumPy) and `sp` (scipy.special)."""
    functions = scalar.load(_ROOT)
    registers = [*prog.inputs, *prog.params]
    lines = [f"def {name}({', '.join(registers)}):"]
    for number, instr in enumerate(prog.instrs, prog.first):
        registers.append(f"t{number}")
        operands = dict(zip("abc", (registers[a] for a in instr.args), strict=False)) | {"imm": _py(instr.imm)}
        body = re.sub(r"(?<![\w.'])(a|b|c|imm)(?!\w|')", lambda m, o=operands: o[m[1]], functions[instr.fn].numpy)
        lines.append(f"    t{number} = {body}")
    lines.append(f"    return {', '.join(registers[r] for r in prog.outputs)}")
    return "\n".join(lines) + "\n"


def _py(value: float) -> str:
    return f"np.{value}".replace("np.-inf", "-np.inf") if not math.isfinite(value) else _number(value)


def _cpp(value: float) -> str:
    if math.isnan(value):
        return '__builtin_nan("")'
    if math.isinf(value):
        return "__builtin_inf()" if value > 0 else "-__builtin_inf()"
    return repr(value)


def emit_cpp(prog: Prog, name: str) -> str:
    """Constants `<name>_instrs`, `<name>_outputs` and the scalar::Program `<name>`, for a file that includes base/scalar.h."""
    text = prog.text.replace("\\", "\\\\").replace('"', '\\"')
    rows = []
    for instr in prog.instrs:
        a, b, c = (*instr.args, 0, 0, 0)[:3]
        imm = f", {_cpp(instr.imm)}" if instr.fn == "constant" else ""
        rows.append(f"    {{::paddle::scalar::Fn::{instr.fn}, {a}, {b}, {c}{imm}}},\n")
    outputs = ", ".join(map(str, prog.outputs))
    code = f"inline constexpr uint8_t {name}_outputs[] = {{{outputs}}};\n"
    instrs = "{}"
    if rows:
        code += f"inline constexpr ::paddle::scalar::Instr {name}_instrs[] = {{\n{''.join(rows)}}};\n"
        instrs = f"{name}_instrs"
    code += (
        f'inline constexpr ::paddle::scalar::Program {name}{{"{text}", {instrs}, {len(prog.inputs)}, '
        f"{len(prog.params)}, {name}_outputs}};\n"
    )
    return code
