"""Questions about a function's syntax: is it worth transforming, can it be, and how do private names read outside its class."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from . import analysis

FRAME_BUILTINS = frozenset(["locals", "globals", "vars", "eval", "exec", "super", "dir"])

_WORTH = (ast.If, ast.While, ast.For, ast.BoolOp, ast.IfExp, ast.Assert, ast.ListComp, ast.GeneratorExp, ast.JoinedStr)


def worth_transforming(fn, freevars: set[str], is_library: Callable[[str], bool]) -> bool:
    """Whether there is anything in ``fn`` that could depend on a tensor's value or lead to code of the user."""
    body = fn.body if isinstance(fn.body, list) else [fn.body]
    local = analysis.stores(body) | parameters(fn) | freevars
    for n in analysis.walk_scope(body):
        if isinstance(n, _WORTH):
            return True
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            return True
        if isinstance(n, ast.Compare) and (len(n.ops) > 1 or isinstance(n.ops[0], (ast.In, ast.NotIn))):
            return True
        if isinstance(n, (ast.List, ast.Tuple)) and any(isinstance(v, ast.Starred) for v in n.elts):
            return True
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) and isinstance(n.left, ast.Constant):
            return True
        if isinstance(n, ast.Call):
            name = analysis.dotted(n.func)
            if name is None or name.split(".")[0] in local or not _evident(name, is_library):
                return True
        if isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store):
            return True
        if isinstance(n, ast.Subscript) and may_choose(n.slice):
            return True
    return False


def may_choose(index: ast.expr) -> bool:
    """Its value may be a tensor that says which item of a list is meant."""
    if isinstance(index, ast.UnaryOp):
        return may_choose(index.operand)
    known = (ast.Constant, ast.Slice, ast.Tuple, ast.List, ast.ListComp, ast.JoinedStr, ast.Dict, ast.Compare)
    return not isinstance(index, known)


def _evident(name: str, is_library: Callable[[str], bool]) -> bool:
    return name in FRAME_BUILTINS or is_library(name)


def untransformable(fn) -> bool:
    """Coroutines, and code that looks at its own frame."""
    body = fn.body if isinstance(fn.body, list) else [fn.body]
    for n in analysis.walk_scope(body):
        if isinstance(n, ast.Await):
            return True
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in ("exec", "eval", "locals"):
            return True
    return False


def is_cheap(e: ast.expr) -> bool:
    allowed = (
        ast.Name, ast.Constant, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.BinOp, ast.Attribute,
        ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context,
    )  # fmt: skip
    return all(isinstance(n, allowed) for n in ast.walk(e)) and not any(
        isinstance(n, (ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow)) for n in ast.walk(e)
    )


def ordered_parameters(fn) -> list[str]:
    a = fn.args
    return [p.arg for p in (*a.posonlyargs, *a.args)]


def parameters(fn) -> set[str]:
    a = fn.args
    extra = [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return {*ordered_parameters(fn), *(p.arg for p in a.kwonlyargs), *extra}


class Mangler(ast.NodeTransformer):
    """Private names of a class (``self.__x``), since the function is compiled outside the class."""

    def __init__(self, class_name: str) -> None:
        self.prefix = "_" + class_name.lstrip("_")

    def name(self, n: str) -> str:
        private = n.startswith("__") and not n.endswith("__") and "." not in n
        return self.prefix + n if private and self.prefix != "_" else n

    def visit_ClassDef(self, node):
        node.name = self.name(node.name)
        return node  # mangles its own names

    def generic_visit(self, node: ast.AST) -> Any:
        for field in ("id", "attr", "arg", "name", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                setattr(node, field, self.name(value))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self.name(n) for n in node.names]
        return super().generic_visit(node)
