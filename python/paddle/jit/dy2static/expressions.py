"""The expressions of a function that is rewritten (see :mod:`.transformer`): what could depend on a tensor's value, or lead to
code of the user, becomes a call of the run time."""

from __future__ import annotations

import ast
from collections.abc import Callable

from . import analysis, early_exit
from .eligibility import FRAME_BUILTINS, is_cheap, may_choose

JST = "_jst"


class Scope:
    """What one generated (or the outermost) function needs declared."""

    def __init__(self, outer_nonlocal: set[str]) -> None:
        self.declared_outside = outer_nonlocal  # names that belong to an enclosing function
        self.cells: set[str] = set()  # names that generated functions inside declare nonlocal
        self.setters: set[str] = set()  # walrus targets assigned from inside a lambda


class Expressions(ast.NodeTransformer):
    """Visits expressions. Where operands become lambdas, ``lazy`` counts how deep."""

    globals: set[str]
    locals: set[str]
    scopes: list[Scope]
    is_library: Callable[[str], bool]
    first_parameter: str | None
    lazy = 0
    in_loop_test = False

    def test(self, e: ast.expr) -> ast.expr:
        """An expression of which only the truth value matters."""
        if isinstance(e, ast.BoolOp) and not early_exit.is_python_test(e):
            return self._bool_op(e, self.test, "_test")
        return self.visit(e)

    def _lazy(self, e: ast.expr, visit=None) -> ast.Lambda:
        self.lazy += 1
        body = (visit or self.visit)(e)
        self.lazy -= 1
        args = ast.arguments([], [], None, [], [], None, [])
        return ast.fix_missing_locations(ast.copy_location(ast.Lambda(args, body), e))

    def _bool_op(self, e: ast.BoolOp, visit, suffix: str) -> ast.expr:
        name = ("and" if isinstance(e.op, ast.And) else "or") + suffix + "_"
        first = visit(e.values[0])
        # Operands without calls or indexing can't fail and cost nothing: they may be evaluated although not needed.
        cheap = ast.Constant(all(is_cheap(v) for v in e.values[1:]))
        return self._call(name, [first, cheap, *(self._lazy(v, visit) for v in e.values[1:])], e)

    def visit_BoolOp(self, e: ast.BoolOp):
        if early_exit.is_python_test(e):
            return self.generic_visit(e)
        return self._bool_op(e, self.visit, "")

    def visit_UnaryOp(self, e: ast.UnaryOp):
        if not isinstance(e.op, ast.Not) or early_exit.is_python_test(e):
            return self.generic_visit(e)
        return self._call("not_", [self.test(e.operand)], e)

    def visit_Compare(self, e: ast.Compare):
        membership = any(isinstance(op, (ast.In, ast.NotIn)) for op in e.ops)
        if not membership and (early_exit.is_python_test(e) or (len(e.ops) == 1 and not self.in_loop_test)):
            return self.generic_visit(e)
        first = self.visit(e.left)
        ops = ast.Tuple([ast.Constant(type(op).__name__) for op in e.ops], ast.Load())
        cheap = ast.Constant(all(is_cheap(c) for c in e.comparators[1:]))
        # Compared as numbers, a symbolic size would be guarded in each round and the loop unrolled.
        sizes = ast.Constant(self.in_loop_test)
        return self._call("compare_", [first, ops, cheap, sizes, *(self._lazy(c) for c in e.comparators)], e)

    def visit_IfExp(self, e: ast.IfExp):
        if early_exit.is_python_test(e.test):
            return self.generic_visit(e)
        return self._call("ifexp_", [self.test(e.test), self._lazy(e.body), self._lazy(e.orelse)], e)

    def visit_NamedExpr(self, e: ast.NamedExpr):
        e.value = self.visit(e.value)
        name = e.target.id
        if not self.lazy:
            return e
        # Inside a lambda of ours a walrus would bind the lambda's local.
        scope = self.scopes[-1]
        scope.setters.add(name)
        if name not in self.globals:
            scope.cells.add(name)
        node = ast.Call(load(f"_jst_set_{name}", e), [e.value], [])
        return ast.copy_location(node, e)

    def _comprehension(self, e):
        """What it goes through may be a sequence of traced length: the run time gives it, or one item after the other."""
        if any(isinstance(n, (ast.NamedExpr, ast.Await)) for n in ast.walk(e)) or any(g.is_async for g in e.generators):
            return self.generic_visit(e)
        first = e.generators[0]
        iterable = self.visit(first.iter)
        first.iter = load("_jst_items", first.iter)
        self.lazy += 1
        for g in e.generators:
            if len(g.ifs) > 1:
                g.ifs = [ast.copy_location(ast.BoolOp(ast.And(), g.ifs), g.ifs[0])]
        e = self.generic_visit(e)
        self.lazy -= 1
        if not any(g.ifs for g in e.generators):
            return self._call("comprehend_", [iterable, self._of_items(e)], e)
        name = "choose_lazily_" if isinstance(e, ast.GeneratorExp) else "choose_"
        return self._chosen(name, iterable, e.generators, e.elt, e)

    def _chosen(self, name: str, iterable, generators, elt, at) -> ast.Call:
        """Each generator gives, round by round, its test and its item (or what the generators after it make) as functions."""
        first, *others = generators
        if others:
            inner_iterable, others[0].iter = others[0].iter, load("_jst_items", others[0].iter)
            elt = self._chosen("choose_", inner_iterable, others, elt, at)
        nothing = ast.arguments([], [], None, [], [], None, [])
        tests = first.ifs or [ast.copy_location(ast.Constant(True), at)]
        first.ifs = []
        parts = [ast.copy_location(ast.Lambda(nothing, part), part) for part in (tests[0], elt)]
        pairs = ast.GeneratorExp(ast.copy_location(ast.Tuple(parts, ast.Load()), elt), [first])
        return self._call(
            name, [iterable, self._of_items(ast.copy_location(pairs, at)), ast.Constant(bool(others))], at
        )

    @staticmethod
    def _of_items(e: ast.expr) -> ast.Lambda:
        args = ast.arguments([], [ast.arg("_jst_items")], None, [], [], None, [])
        return ast.copy_location(ast.Lambda(args, e), e)

    visit_ListComp = visit_GeneratorExp = _comprehension

    def visit_Subscript(self, e: ast.Subscript):
        """``items[i]``: a tensor may say which item of a list is meant."""
        if not isinstance(e.ctx, ast.Load) and isinstance(e.value, ast.Subscript):
            e.value.jst_held = True
        e = self.generic_visit(e)
        if not isinstance(e.ctx, ast.Load) or not may_choose(e.slice):
            return e
        return self._call("held_item_" if hasattr(e, "jst_held") else "item_", [e.value, e.slice], e)

    def _display(self, e):
        e = self.generic_visit(e)
        if not isinstance(e.ctx, ast.Load) or not any(isinstance(v, ast.Starred) for v in e.elts):
            return e
        pairs = [(isinstance(v, ast.Starred), v.value if isinstance(v, ast.Starred) else v) for v in e.elts]
        parts = [ast.copy_location(ast.Tuple([ast.Constant(s), v], ast.Load()), v) for s, v in pairs]
        return self._call("display_", [ast.Constant(type(e).__name__.lower()), *parts], e)

    visit_List = visit_Tuple = _display

    def visit_JoinedStr(self, e: ast.JoinedStr):
        """``f"{x:.3f}"``: a tensor is formatted when the program runs."""
        parts: list[ast.expr] = []
        for v in e.values:
            if isinstance(v, ast.Constant):
                parts.append(v)
                continue
            spec = self.visit(v.format_spec) if v.format_spec is not None else ast.Constant("")
            kind = ast.Constant("" if v.conversion < 0 else chr(v.conversion))
            parts.append(ast.copy_location(ast.Tuple([self.visit(v.value), kind, spec], ast.Load()), v))
        if not any(isinstance(p, ast.Tuple) for p in parts):
            return e
        return self._call("fstring_", parts, e)

    def visit_BinOp(self, e: ast.BinOp):
        e = self.generic_visit(e)
        text = isinstance(e.left, ast.Constant) and isinstance(e.left.value, str)
        return self._call("percent_", [e.left, e.right], e) if text and isinstance(e.op, ast.Mod) else e

    def visit_Call(self, e: ast.Call):
        name = analysis.dotted(e.func)
        if name == "super" and not e.args and not e.keywords and self.first_parameter and "super" not in self.locals:
            e.args = [load("__class__", e), load(self.first_parameter, e)]
            return e
        if name in FRAME_BUILTINS and name not in self.locals:
            e.args = [self.visit(a) for a in e.args]
            return e
        if name == "range" and "range" not in self.locals and self.is_library("range"):
            e.func = ast.copy_location(ast.Attribute(load(JST, e), "range_", ast.Load()), e.func)
            e.args = [self.visit(a) for a in e.args]
            return e
        self._mark_held(e.func)
        library = name is not None and name.split(".")[0] not in self.locals and self.is_library(name)
        func = e.func if library else self._call("call", [self.visit(e.func)], e.func)
        e.func = func
        e.args = [self.visit(a) for a in e.args]
        for k in e.keywords:
            k.value = self.visit(k.value)
        return e

    @staticmethod
    def _mark_held(func: ast.expr) -> None:
        """``items[i].add_(...)``, ``items[i].append(...)``: the item is to be changed."""
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Subscript):
            return
        in_place = func.attr.endswith("_") and not func.attr.endswith("__")
        if may_choose(func.value.slice) and (in_place or func.attr in analysis.MUTATORS):
            func.value.jst_held = True

    @staticmethod
    def _call(name: str, args: list[ast.expr], at: ast.AST) -> ast.Call:
        func = ast.Attribute(ast.Name(JST, ast.Load()), name, ast.Load())
        return ast.fix_missing_locations(ast.copy_location(ast.Call(func, args, []), at))


def load(name: str, at: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def strings(names) -> ast.Constant:
    return ast.Constant(tuple(names))
