"""`loops:` of a record: how a compiler computes an operator that has neither expression nor composition.

    loops: out[..., i, j] = x[..., i, j] if j <= i + diagonal else 0        a nest
    loops: "rule: matmul"                                                   a C++ rule, listed in src/cinn/group
    loops: "kernel: elimination with row pivoting"                          nothing but a kernel; the rest is for readers

A nest says what one element of each output is, in Python's syntax; statements are separated by `;`. Left of `=` stands
an output with its indices, or a name for a value that later statements read. An index is a name: it runs over the
dimension where it stands. `...` are all other dimensions, in order. `i:axis` is an index along the dimension that the
argument `axis` names, with `...` for the rest; `i:axis|flatten` the same, or along all elements as one row if the argument
`flatten` is true. Right of `=`: numbers, indices, arguments (int, float, bool), reads of tensors at index expressions
(which must exist wherever they are read), scalar functions of ops/scalar.yaml, `a if c else b`, `size(x, d)`, and reductions `sum[k](...)`, also `prod max min any all`, over the indices named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import did_you_mean
from .signature import Arg, split_top

_TABLE = re.compile(r"NamedRule rules\[\] = \{(.*?)\};", re.DOTALL)
_RULE = re.compile(r'\{"(\w+)", ')
_REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")
_AXES = ("int", "Scalar", "Ints")  # kinds of arguments that name a dimension
_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floor_div", ast.Mod: "mod"}
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


def rule_names(root: Path) -> set[str]:
    """The names of the C++ rules: what the tables in src/cinn/group/*_rules*.cc list."""
    sources = sorted((root / "src" / "cinn" / "group").glob("*rules*.cc"))
    return {name for source in sources for table in _TABLE.findall(source.read_text()) for name in _RULE.findall(table)}


def parse_loops(
    text: str, args: Sequence[Arg], outs: Sequence[Arg], rules: set[str], functions: Mapping[str, int]
) -> str:
    """The text that the compiler reads: `rule NAME`, `kernel`, or the nest as lists. Raises ValueError."""
    if text.startswith("kernel:"):
        if not text.removeprefix("kernel:").strip():
            raise ValueError("`kernel:` is followed by what the kernel does")
        return "kernel"
    if text.startswith("rule:"):
        name = text.removeprefix("rule:").strip()
        if rules and name not in rules:
            raise ValueError(f"no rule {name!r} in src/cinn/group{did_you_mean(name, rules)}")
        return f"rule {name}"
    return _Nest(text, args, outs, functions).lists


class _Nest:
    def __init__(self, text: str, args: Sequence[Arg], outs: Sequence[Arg], functions: Mapping[str, int]):
        self.tensors = {a.name: a for a in args if a.kind.tensor}
        self.args = {a.name: a for a in args if not a.kind.tensor}
        self.outs = [o.name for o in outs]
        self.functions = functions
        self.values: set[str] = set()
        self.indices: set[str] = set()  # of the statement
        written, lines = [], []
        for statement in split_top(text, ";"):
            tree = self.python(statement)
            if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assign) or len(tree.body[0].targets) != 1:
                raise ValueError(f"expected `output[indices] = expression`, got {statement!r}")
            target, value = tree.body[0].targets[0], tree.body[0].value
            self.indices = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            self.indices -= {
                *self.tensors,
                *self.args,
                *self.outs,
                *self.values,
                *functions,
                *_REDUCTIONS,
                "size",
                "inf",
            }
            if isinstance(target, ast.Name):
                self.new_value(target.id)
                lines.append(f"(let {target.id} {self.expr(value)})")
                self.values.add(target.id)
                continue
            if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
                raise ValueError(f"expected an output with its indices left of `=`, got {ast.unparse(target)!r}")
            name = target.value.id
            if name not in self.outs:
                raise ValueError(f"{name!r} is no output{did_you_mean(name, self.outs)}")
            places = [self.place(i) for i in self.items(target.slice)]
            if any(p.startswith("(") and not p.startswith(("(i ", "(along ")) for p in places):
                raise ValueError(f"an output's indices are plain: {ast.unparse(target)!r}")
            lines.append(f"(set {name} (at {' '.join(places)}) {self.expr(value)})")
            written.append(name)
        if missing := [o for o in self.outs if o not in written]:
            raise ValueError(f"nothing says what {missing[0]!r} is")
        self.lists = " ".join(lines)

    @staticmethod
    def python(statement: str) -> ast.Module:
        """`x[i:axis|flatten]` and `x[:axis]` are Python already; only the parser's complaint is made ours."""
        try:
            return ast.parse(statement.strip())
        except SyntaxError as fault:
            raise ValueError(f"{statement.strip()!r}: {fault.msg} at column {fault.offset}") from None

    def new_value(self, name: str) -> None:
        if name in self.tensors or name in self.args or name in self.outs or name in self.values:
            raise ValueError(f"{name!r} is already the name of something else")
        self.indices.discard(name)

    @staticmethod
    def items(node: ast.expr) -> list[ast.expr]:
        return list(node.elts) if isinstance(node, ast.Tuple) else [node]

    def place(self, item: ast.expr) -> str:
        """One item between brackets."""
        if isinstance(item, ast.Constant) and item.value is Ellipsis:
            return "..."
        if isinstance(item, ast.Slice):
            return self.along(item)
        return self.expr(item)

    def along(self, item: ast.Slice) -> str:
        axis, flatten = item.upper, None
        if isinstance(axis, ast.BinOp) and isinstance(axis.op, ast.BitOr):
            axis, flatten = axis.left, axis.right
        names = [n.id if isinstance(n, ast.Name) else None for n in (axis, *([flatten] if flatten else []))]
        if item.step is not None or None in names:
            raise ValueError(f"expected `index:axis` or `index:axis|flatten`, got {ast.unparse(item)!r}")
        for name, kinds in zip(names, (_AXES, ("bool",)), strict=False):
            if name not in self.args or self.args[name].kind.text not in kinds:
                raise ValueError(f"{name!r} is no argument of kind {' or '.join(kinds)}{did_you_mean(name, self.args)}")
        index = self.expr(item.lower) if item.lower is not None else "-"
        return f"(along {index} {' '.join(names)})"

    def expr(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
            return f"(int {int(node.value)})"
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            return f"(number {node.value!r})"
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return self.read(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.IfExp):
            return f"(if {self.expr(node.test)} {self.expr(node.body)} {self.expr(node.orelse)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return f"(neg {self.expr(node.operand)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"(logical_not {self.expr(node.operand)})"
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return f"({_BINARY[type(node.op)]} {self.expr(node.left)} {self.expr(node.right)})"
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            return f"({_COMPARE[type(node.ops[0])]} {self.expr(node.left)} {self.expr(node.comparators[0])})"
        if isinstance(node, ast.BoolOp):
            fn = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
            parts = [self.expr(v) for v in node.values]
            while len(parts) > 1:
                parts[:2] = [f"({fn} {parts[0]} {parts[1]})"]
            return parts[0]
        raise ValueError(f"{ast.unparse(node)!r} is nothing that a nest can hold")

    def name(self, name: str) -> str:
        if name == "inf":
            return "(number inf)"
        if name in self.values:
            return f"(value {name})"
        if name in self.args:
            if self.args[name].kind.text not in ("int", "float", "bool", "Scalar"):
                raise ValueError(f"{name!r} ({self.args[name].kind.text}) is no number")
            return f"(arg {name})"
        if name in self.indices:
            return f"(i {name})"
        raise ValueError(f"{name!r} is no index, argument or value; a tensor is read as {name}[...]")

    def read(self, node: ast.Subscript) -> str:
        name = node.value.id
        if name not in self.tensors:
            known = [*self.tensors, *_REDUCTIONS]
            raise ValueError(f"{name!r} is no tensor argument{did_you_mean(name, known)}")
        if self.tensors[name].kind.is_list:
            raise ValueError(f"{name!r} is a list of tensors: that needs a rule")
        return f"(read {name} {' '.join(self.place(i) for i in self.items(node.slice))})"

    def call(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name):
            kind = node.func.value.id
            if kind not in _REDUCTIONS:
                raise ValueError(f"{kind!r} is no reduction{did_you_mean(kind, _REDUCTIONS)}")
            over = [self.place(i) for i in self.items(node.func.slice)]
            if len(node.args) != 1 or any(p != "..." and not p.startswith("(i ") for p in over):
                raise ValueError(f"expected {kind}[indices](expression), got {ast.unparse(node)!r}")
            names = " ".join(p if p == "..." else p[3:-1] for p in over)
            return f"(reduce {kind} (over {names}) {self.expr(node.args[0])})"
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name == "size":
            return self.size(node)
        if name not in self.functions:
            raise ValueError(f"{name!r} is no scalar function{did_you_mean(name, self.functions)}")
        if len(node.args) != self.functions[name]:
            raise ValueError(f"{name}() takes {self.functions[name]} arguments, got {ast.unparse(node)!r}")
        return f"({name} {' '.join(self.expr(a) for a in node.args)})"

    def size(self, node: ast.Call) -> str:
        ok = len(node.args) == 2 and isinstance(node.args[0], ast.Name) and node.args[0].id in self.tensors
        dim = None
        if ok:
            try:
                dim = node.args[1].id if isinstance(node.args[1], ast.Name) else ast.literal_eval(node.args[1])
            except ValueError:
                ok = False
        if not ok or (not isinstance(dim, int) and not (dim in self.args and self.args[dim].kind.text in _AXES)):
            raise ValueError(f"expected size(tensor, dimension), got {ast.unparse(node)!r}")
        return f"(size {node.args[0].id} {dim})"
