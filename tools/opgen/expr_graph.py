"""Values of an expression, shared by structure, and the identities by which derivatives are made short."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from . import scalar


class ExprError(Exception):
    """An expression is wrong. `column` counts from 0 in `text`; the message points at the place."""

    def __init__(self, text: str, column: int, message: str):
        super().__init__(f"{message}\n    {text}\n    {' ' * column}^ column {column + 1}")
        self.text, self.column = text, column


@dataclass(frozen=True)
class Instr:
    """One step: register numbers of its operands; imm is the value of `constant`."""

    fn: str
    args: tuple[int, ...] = ()
    imm: float = 0.0


@dataclass(frozen=True)
class Prog:
    """SSA code. Registers: the inputs, then the params, then one per instruction; `outputs` are registers."""

    text: str
    inputs: tuple[str, ...]
    params: tuple[str, ...]
    instrs: tuple[Instr, ...]
    outputs: tuple[int, ...]

    @property
    def first(self) -> int:
        """The register of the first instruction."""
        return len(self.inputs) + len(self.params)


class Graph:
    """Values shared by structure (hash consing). A value's number is its index in `nodes`."""

    def __init__(self, functions: dict[str, scalar.Fn], simplify: bool):
        self.functions, self.simplify = functions, simplify
        self.nodes: list[tuple] = []
        self.index: dict[tuple, int] = {}

    def _intern(self, *node) -> int:
        key = node if node[0] != "constant" else ("constant", repr(node[1]))  # repr tells -0.0 from 0.0; nan is nan
        if key not in self.index:
            self.index[key] = len(self.nodes)
            self.nodes.append(node)
        return self.index[key]

    def input(self, name: str) -> int:
        return self._intern("input", name)

    def param(self, name: str) -> int:
        return self._intern("param", name)

    def const(self, value: float) -> int:
        return self._intern("constant", float(value))

    def value(self, node: int) -> float | None:
        """The number, if node is a constant."""
        kind = self.nodes[node]
        return kind[1] if kind[0] == "constant" else None

    def call(self, fn: str, *args: int) -> int:
        constant = self._fold(fn, args)
        if constant is not None:
            return self.const(constant)
        if self.simplify:
            simple = self._simplify(fn, args)
            if simple is not None:
                return simple
        return self._intern(fn, *args)

    def _fold(self, fn: str, args: Sequence[int]) -> float | None:
        values = [self.value(a) for a in args]
        if not args or None in values:
            return None
        match fn, values:
            case "neg", [a]:
                return -a
            case "add", [a, b]:
                return a + b
            case "sub", [a, b]:
                return a - b
            case "mul", [a, b]:
                return a * b
            case "square", [a]:
                return a * a
            # An integer program truncates: only exact quotients may be folded.
            case "div", [a, b] if (
                b != 0 and math.isfinite(a) and (a % b == 0 or not (a.is_integer() and b.is_integer()))
            ):
                return a / b
            case "sqrt", [a] if a >= 0:
                return math.sqrt(a)
            case "log", [a] if a > 0:
                return math.log(a)
        return None

    def _simplify(self, fn: str, args: Sequence[int]) -> int | None:
        """Identities that hold where all is finite: for derivatives only, never for what the user wrote."""
        values = [self.value(a) for a in args]
        match fn, values:
            case ("add", [0, _]) | ("mul", [1, _]):
                return args[1]
            case ("add", [_, 0]) | ("sub", [_, 0]) | ("mul", [_, 1]) | ("div", [_, 1]) | ("pow", [_, 1]):
                return args[0]
            case ("mul", [0, _]) | ("mul", [_, 0]) | ("div", [0, _]):
                return self.const(0)
            case ("mul", [-1, _]) | ("sub", [0, _]):
                return self.call("neg", args[1])
            case ("mul", [_, -1]) | ("div", [_, -1]):
                return self.call("neg", args[0])
            case "pow", [_, 0]:
                return self.const(1)
            case "pow", [_, 2]:
                return self.call("square", args[0])
            case "pow", [_, 0.5]:
                return self.call("sqrt", args[0])
            case "where", [c, _, _] if c is not None:
                return args[1] if c else args[2]
            case "where", _ if args[1] == args[2]:
                return args[1]
            case "eq" | "ne", [a, b] if a is not None and b is not None:
                return self.const((a == b) == (fn == "eq"))
        return self._simplify_nested(fn, args)

    def _simplify_nested(self, fn: str, args: Sequence[int]) -> int | None:
        inner = [self.nodes[a] for a in args]
        if fn in ("neg", "conj") and inner[0][0] == fn:
            return inner[0][1]
        if fn == "add" and inner[1][0] == "neg":
            return self.call("sub", args[0], inner[1][1])
        if fn == "sub" and inner[1][0] == "neg":
            return self.call("add", args[0], inner[1][1])
        if fn == "add" and inner[0][0] == inner[1][0] == "where" and inner[0][1] == inner[1][1]:
            (_, test, a, b), (_, _, c, d) = inner  # where(t, a, 0) + where(t, 0, d) picks one of them
            if self.value(b) == 0 and self.value(c) == 0:
                return self.call("where", test, a, d)
            if self.value(a) == 0 and self.value(d) == 0:
                return self.call("where", test, c, b)
        if fn == "div" and inner[0][0] == "where" and 0.0 in (self.value(inner[0][2]), self.value(inner[0][3])):
            return self._into_where(fn, inner[0], args[1])
        if fn != "mul":
            return None
        for this, other in ((0, 1), (1, 0)):
            head, *rest = inner[this]
            if head == "neg":  # -a * b: the sign goes outwards, where a later sum absorbs it
                return self.call("neg", self.call("mul", args[other], rest[0]))
            if head in self.functions and self.functions[head].boolean:  # no 0 * inf where a branch is not taken
                return self.call("where", args[this], args[other], self.const(0))
            if head == "where" and {self.value(rest[1]), self.value(rest[2])} == {0.0, 1.0}:
                picked = [args[other] if self.value(r) else r for r in rest[1:]]
                return self.call("where", rest[0], *picked)
            if head == "where" and 0.0 in (self.value(rest[1]), self.value(rest[2])):
                return self._into_where(fn, inner[this], args[other])
            if head == "div" and self.value(rest[0]) == 1:
                return self.call("div", args[other], rest[1])
        return None

    def _into_where(self, fn: str, where: tuple, operand: int) -> int:
        """where(t, g, 0) · f as where(t, g · f, 0): zero stays zero where f is infinite in the branch not taken."""
        branches = [r if self.value(r) == 0 else self.call(fn, r, operand) for r in where[2:]]
        return self.call("where", where[1], *branches)
