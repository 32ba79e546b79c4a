"""``match`` statements whose guards a tensor may decide: ``case P if g: A`` becomes ``case P:`` with a branch, whose other side tries
the cases after it."""

from __future__ import annotations

import ast
import copy

from .early_exit import is_python_test

# Each guard repeats the cases after it.
_MOST_GUARDS = 5


class _Guards(ast.NodeTransformer):
    def __init__(self) -> None:
        self.count = 0

    def _other_scope(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _other_scope

    def visit_Match(self, s: ast.Match):
        self.generic_visit(s)
        if not 0 < sum(map(_is_open, s.cases)) <= _MOST_GUARDS:
            return s
        self.count += 1
        name = f"_jst_subject_{self.count}"
        held = ast.Assign([ast.Name(name, ast.Store())], s.subject, None)
        out = [held, ast.Match(ast.Name(name, ast.Load()), _opened(name, s.cases))]
        return [ast.fix_missing_locations(ast.copy_location(n, s)) for n in out]


def _is_open(case: ast.match_case) -> bool:
    return case.guard is not None and not is_python_test(case.guard)


def _opened(name: str, cases: list[ast.match_case]) -> list[ast.match_case]:
    out = []
    for k, case in enumerate(cases):
        if _is_open(case):
            others = copy.deepcopy(cases[k + 1 :])
            orelse: list[ast.stmt] = []
            if others:
                again = ast.Match(ast.Name(name, ast.Load()), _opened(name, others))
                orelse = [ast.copy_location(again, others[0].body[0])]
            branch = ast.copy_location(ast.If(case.guard, case.body, orelse), case.guard)
            case = ast.match_case(case.pattern, None, [branch])
        out.append(case)
    return out


def lower(fn: ast.FunctionDef) -> ast.FunctionDef:
    """The function with such guards as branches. In place."""
    guards = _Guards()
    fn.body = [n for s in fn.body for n in _listed(guards.visit(s))]
    return fn


def _listed(node) -> list:
    return node if isinstance(node, list) else [node]
