"""The `expr` of a record: parsed, differentiated, written out as C++ and as NumPy.

An expression is Python's, over the names of tensor inputs and attributes and the functions of ops/scalar.yaml:

    prog = parse("where(x > 0, x, x * negative_slope)", inputs=["x"], params=["negative_slope"])
    back = vjp(prog, "x")          # over x and out_grad: where(x > 0, out_grad, out_grad * negative_slope)
    print(emit_cpp(back, "leaky_relu_grad"))

A tuple yields several outputs. `a if c else b` is where, `and or not` are logical, chained comparisons mean what they
mean in Python; pi, e, inf and nan are known. A program is straight-line code in SSA form, each value computed once.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from pathlib import Path

from . import scalar
from .expr_graph import ExprError, Graph, Instr, Prog
from .expr_text import emit_cpp, numpy_source, source

__all__ = [
    "ExprError", "Instr", "Prog", "derivative", "emit_cpp", "numpy_source", "parse", "source", "vjp",
]  # fmt: skip

_ROOT = Path(__file__).resolve().parents[2]
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "True": 1.0, "False": 0.0}
_VARIADIC = {"add", "mul", "min", "max", "fmin", "fmax", "logical_and", "logical_or"}
_MAX_REGISTERS = 255

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floor_div", ast.Mod: "mod",
    ast.Pow: "pow", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.LShift: "shift_left", ast.RShift: "shift_right",
}  # fmt: skip
_COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_UNARY = {ast.USub: "neg", ast.Not: "logical_not", ast.Invert: "bitwise_not"}


class _Parser:
    def __init__(self, text: str, names: dict[str, int], graph: Graph):
        self.text, self.names, self.graph = text, names, graph

    def error(self, node: ast.AST, message: str) -> ExprError:
        return ExprError(self.text, getattr(node, "col_offset", 0), message)

    def parse(self) -> list[int]:
        try:
            tree = ast.parse(self.text, mode="eval").body
        except SyntaxError as fault:
            raise ExprError(self.text, max(0, (fault.offset or 1) - 1), f"not an expression: {fault.msg}") from None
        if isinstance(tree, ast.Tuple):
            if not tree.elts:
                raise self.error(tree, "expected at least one output")
            return [self.visit(element) for element in tree.elts]
        return [self.visit(tree)]

    def visit(self, node: ast.expr) -> int:
        call = self.graph.call
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                if isinstance(value, int) and float(value) != value:
                    raise self.error(node, f"{value} has no exact double value")
                return self.graph.const(value)
            case ast.Name(id=name):
                if name in self.names:
                    return self.names[name]
                if name in _CONSTANTS:
                    return self.graph.const(_CONSTANTS[name])
                raise self.error(node, f"unknown name {name!r}; known are {', '.join(self.names) or 'none'}")
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.visit(operand)
            case ast.UnaryOp(op=op, operand=operand):
                return call(_UNARY[type(op)], self.visit(operand))
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _BINARY:
                return call(_BINARY[type(op)], self.visit(left), self.visit(right))
            case ast.BoolOp(op=op, values=values):
                fn = "logical_and" if isinstance(op, ast.And) else "logical_or"
                return self.chain(fn, [self.visit(v) for v in values])
            case ast.Compare():
                return self.compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return call("where", self.visit(test), self.visit(body), self.visit(orelse))
            case ast.Call():
                return self.function(node)
        raise self.error(node, f"{type(node).__name__} is not part of the scalar language")

    def chain(self, fn: str, values: Sequence[int]) -> int:
        result = values[0]
        for value in values[1:]:
            result = self.graph.call(fn, result, value)
        return result

    def compare(self, node: ast.Compare) -> int:
        operands = [self.visit(v) for v in (node.left, *node.comparators)]
        for op in node.ops:
            if type(op) not in _COMPARE:
                raise self.error(node, f"comparison {type(op).__name__} is not part of the scalar language")
        parts = [
            self.graph.call(_COMPARE[type(op)], a, b)
            for op, a, b in zip(node.ops, operands[:-1], operands[1:], strict=True)
        ]
        return self.chain("logical_and", parts)

    def function(self, node: ast.Call) -> int:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.error(node, "expected a plain call: name(operand, ...)")
        name = node.func.id
        fn = self.graph.functions.get(name)
        if fn is None or fn.arity == 0:
            raise self.error(node, f"unknown function {name!r}")
        args = [self.visit(a) for a in node.args]
        if name in _VARIADIC and len(args) > 2:
            return self.chain(name, args)
        if len(args) != fn.arity:
            raise self.error(node, f"{name} takes {fn.arity} operands, got {len(args)}")
        return self.graph.call(name, *args)


def _linearise(
    graph: Graph, roots: Sequence[int], inputs: Sequence[str], params: Sequence[str], text: str | None
) -> Prog:
    """The program that computes roots; operands come before their users, and each value only once."""
    register = {graph.index[("input", n)]: i for i, n in enumerate(inputs) if ("input", n) in graph.index}
    register |= {
        graph.index[("param", n)]: len(inputs) + i for i, n in enumerate(params) if ("param", n) in graph.index
    }
    instrs: list[Instr] = []
    first = len(inputs) + len(params)
    stack = list(reversed(roots))
    while stack:
        node = stack[-1]
        if node in register:
            stack.pop()
            continue
        fn, *args = graph.nodes[node]
        operands = [] if fn == "constant" else args
        waiting = [a for a in operands if a not in register]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        imm = args[0] if fn == "constant" else 0.0
        register[node] = first + len(instrs)
        instrs.append(Instr(fn, tuple(register[a] for a in operands), imm))
    prog = Prog(text or "", tuple(inputs), tuple(params), tuple(instrs), tuple(register[r] for r in roots))
    if first + len(instrs) > _MAX_REGISTERS:
        raise ExprError(text or source(prog), 0, f"too long: more than {_MAX_REGISTERS} values")
    return prog if text is not None else Prog(source(prog), *_fields(prog))


def _fields(prog: Prog) -> tuple:
    return prog.inputs, prog.params, prog.instrs, prog.outputs


def parse(
    expr: str, inputs: Sequence[str], params: Sequence[str] = (), functions: dict[str, scalar.Fn] | None = None
) -> Prog:
    """The program of an expression over tensor inputs and scalar params. Raises ExprError with the place."""
    text = " ".join(str(expr).split())
    names = [*inputs, *params]
    if len(set(names)) != len(names):
        raise ExprError(text, 0, f"a name occurs twice among {names}")
    graph = Graph(functions or scalar.load(_ROOT), simplify=False)
    bound = {n: graph.input(n) for n in inputs} | {n: graph.param(n) for n in params}
    return _linearise(graph, _Parser(text, bound, graph).parse(), inputs, params, text)


def _import(graph: Graph, prog: Prog, replaced: dict[int, int] | None = None) -> list[int]:
    """The values of prog's registers in graph; `replaced` maps registers to values to use instead."""
    values = [graph.input(n) for n in prog.inputs] + [graph.param(n) for n in prog.params]
    for number, instr in enumerate(prog.instrs, prog.first):
        if replaced and number in replaced:
            values.append(replaced[number])
        elif instr.fn == "constant":
            values.append(graph.const(instr.imm))
        else:
            values.append(graph.call(instr.fn, *(values[a] for a in instr.args)))
    return values


def _backward(graph: Graph, prog: Prog, wrt: int, values: list[int], seeds: dict[int, int], conjugate: bool) -> int:
    """The adjoint of register wrt, given adjoints of outputs (reverse mode over the straight-line code)."""
    depends = {wrt}
    for number, instr in enumerate(prog.instrs, prog.first):
        if any(a in depends for a in instr.args):
            depends.add(number)
    adjoint = dict(seeds)
    for number in range(prog.first + len(prog.instrs) - 1, prog.first - 1, -1):
        if number not in depends or number not in adjoint:
            continue
        instr = prog.instrs[number - prog.first]
        names = dict(zip("abc", (values[a] for a in instr.args), strict=False)) | {"out": values[number]}
        for operand, rule in zip(instr.args, graph.functions[instr.fn].derivative, strict=True):
            if operand not in depends:
                continue
            if rule is None:
                raise ExprError(prog.text, 0, f"{instr.fn} has no derivative in this operand")
            partial = _Parser(rule, names, graph).parse()[0]
            if conjugate:
                partial = graph.call("conj", partial)
            term = graph.call("mul", adjoint[number], partial)
            adjoint[operand] = graph.call("add", adjoint[operand], term) if operand in adjoint else term
    return adjoint.get(wrt, graph.const(0))


def _position(prog: Prog, wrt: int | str) -> int:
    names = [*prog.inputs, *prog.params]
    return names.index(wrt) if isinstance(wrt, str) else wrt


def derivative(prog: Prog, wrt: int | str, output: int = 0) -> Prog:
    """d outputs[output] / d wrt (a name, or the index of an input), over the same inputs and params."""
    graph = Graph(scalar.load(_ROOT), simplify=True)
    values = _import(graph, prog)
    result = _backward(graph, prog, _position(prog, wrt), values, {prog.outputs[output]: graph.const(1)}, False)
    return _linearise(graph, [result], prog.inputs, prog.params, None)


def vjp(
    prog: Prog,
    wrt: int | str,
    outputs: Sequence[str] = ("out",),
    saves: Sequence[str] | None = None,
    grads: Sequence[str] | None = None,
    conjugate: bool = False,
    partial: str | None = None,
) -> Prog:
    """The gradient of wrt: the sum over outputs of grad · d output / d wrt.

    outputs: the names of prog's outputs. saves: which inputs and outputs the result may read (None: all inputs, no
    outputs); a saved output is read, not computed again. grads: the inputs' names for the gradients of the outputs, by
    default f"{output}_grad". conjugate: take the conjugate of each partial derivative, as for holomorphic functions of
    complex numbers. partial: d output / d wrt as an expression over inputs, params and the output, where the one that follows
    from prog is not meant. The result's inputs are those it reads: saved ones in the order of prog.inputs, then of outputs,
    then gradients. Raises ExprError if it needs an input that isn't saved.
    """
    graph = Graph(scalar.load(_ROOT), simplify=True)
    grads = list(grads or (f"{name}_grad" for name in outputs))
    saved = {
        register: graph.input(name)
        for name, register in zip(outputs, prog.outputs, strict=True)
        if saves is not None and name in saves and register >= prog.first
    }
    values = _import(graph, prog, saved)
    seeds: dict[int, int] = {}
    for name, register in zip(grads, prog.outputs, strict=True):
        seed = graph.input(name)
        seeds[register] = graph.call("add", seeds[register], seed) if register in seeds else seed
    if partial is None:
        result = _backward(graph, prog, _position(prog, wrt), values, seeds, conjugate)
    else:
        names = dict(zip((*prog.inputs, *prog.params), values, strict=False)) | {outputs[0]: values[prog.outputs[0]]}
        result = graph.call("mul", seeds[prog.outputs[0]], _Parser(partial, names, graph).parse()[0])
    used = _reached(graph, result)
    read = [n for n in (*prog.inputs, *outputs, *grads) if ("input", n) in used]
    for name in read:
        if saves is not None and name in prog.inputs and name not in saves:
            raise ExprError(prog.text, 0, f"the gradient reads {name!r}, which is not among saves {list(saves)}")
    return _linearise(graph, [result], read, [p for p in prog.params if ("param", p) in used], None)


def _reached(graph: Graph, root: int) -> set[tuple]:
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            fn, *args = graph.nodes[node]
            if fn not in ("input", "param", "constant"):
                stack.extend(args)
    return {graph.nodes[n] for n in seen}
