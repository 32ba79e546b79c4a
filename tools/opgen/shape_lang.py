"""`shape:` of a record: calls of the templates in src/phi/rules/infer.h, one per output.

    shape: same_as(x)                              every output
    shape: out = reduce(x, axis, keepdim); indices = same_as(out)

An operand is an argument's name, an earlier output's name, a number, True, False or a string.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from .errors import did_you_mean
from .signature import Arg, cpp_number, split_top

_DECLARATION = re.compile(r"^(?:inline )?(?:Shape|std::vector<Shape>) (\w+)\(std::string_view op\b", re.MULTILINE)


def templates(root: Path) -> set[str]:
    """The names of the shape templates: what infer.h declares with `std::string_view op` as the first parameter."""
    header = root / "src" / "phi" / "rules" / "infer.h"
    return set(_DECLARATION.findall(header.read_text())) if header.exists() else set()


def parse_shape(text: str, op: str, args: Sequence[Arg], outs: Sequence[Arg], known: set[str]) -> dict[str, str]:
    """output name -> C++ expression of its Shape, in which `a` is the Args and `c` the OpCall. Raises ValueError."""
    parts = split_top(text, ";")
    if len(parts) == 1 and not re.match(r"\w+\s*=", parts[0]):
        return {out.name: _call(parts[0], op, args, [], known) for out in outs}
    result: dict[str, str] = {}
    for part in parts:
        match = re.fullmatch(r"(\w+)\s*=\s*(.+)", part, re.DOTALL)
        if not match:
            raise ValueError(f"expected `output = template(...)`, got {part!r}")
        name, body = match.groups()
        if name not in [o.name for o in outs]:
            raise ValueError(f"{name!r} is no output{did_you_mean(name, [o.name for o in outs])}")
        result[name] = _call(body, op, args, list(result), known)
    if missing := [o.name for o in outs if o.name not in result]:
        raise ValueError(f"no shape for the output {missing[0]!r}")
    return result


def _call(text: str, op: str, args: Sequence[Arg], earlier: Sequence[str], known: set[str]) -> str:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"not a template call: {text!r}") from None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.keywords:
        raise ValueError(f"expected template(operand, ...), got {text!r}")
    if tree.func.id not in known:
        raise ValueError(f"unknown shape template {tree.func.id!r}{did_you_mean(tree.func.id, known)}")
    operands = [f'"{op}"', *(_operand(node, args, earlier) for node in tree.args)]
    return f"infer::{tree.func.id}({', '.join(operands)})"


def _operand(node: ast.expr, args: Sequence[Arg], earlier: Sequence[str]) -> str:
    match node:
        case ast.Name(id=name):
            if any(a.name == name for a in args):
                from .kinds import cpp_name

                return f"a.{cpp_name(name)}"
            if name in earlier:
                return f"{name}_meta.shape"
            raise ValueError(f"{name!r} is no argument{did_you_mean(name, [a.name for a in args])}")
        case ast.Constant(value=bool() | int() | float() as value):
            return cpp_number(value)
        case ast.Constant(value=str() as value):
            return f'"{value}"'
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return str(-value)
    raise ValueError(f"{ast.unparse(node)!r} is no operand of a shape template")
