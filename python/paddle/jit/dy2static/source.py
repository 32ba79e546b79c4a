"""Find the syntax tree of a running function.

The whole file is parsed (once) and functions are looked up by the position that their code object carries. So line and column
numbers need no adjusting, strings keep their indentation, and lambdas are found even where several share a line.
"""

from __future__ import annotations

import ast
import linecache
from types import CodeType
from typing import NamedTuple


class Found(NamedTuple):
    node: ast.FunctionDef | ast.Lambda
    class_name: str | None  # innermost enclosing class: decides how private names are mangled


class _Index(ast.NodeVisitor):
    def __init__(self) -> None:
        self.functions: dict[tuple[int, str], list[Found]] = {}
        self.lambdas: list[Found] = []
        self._class: str | None = None

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer, self._class = self._class, node.name
        self.generic_visit(node)
        self._class = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        self.functions.setdefault((first, node.name), []).append(Found(node, self._class))
        self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.lambdas.append(Found(node, self._class))
        self.generic_visit(node)


_files: dict[str, tuple[list[str], _Index | None]] = {}


def _index(filename: str, module_globals: dict | None) -> _Index | None:
    lines = linecache.getlines(filename, module_globals)
    known = _files.get(filename)
    if known is not None and known[0] is lines:
        return known[1]
    index: _Index | None = None
    if lines:
        try:
            tree = ast.parse("".join(lines), filename)
        except (SyntaxError, ValueError):
            tree = None
        if tree is not None:
            index = _Index()
            index.visit(tree)
    _files[filename] = (lines, index)
    return index


def find(code: CodeType, module_globals: dict | None = None) -> Found | None:
    """The tree that ``code`` was compiled from, or None where the source can't be had (or isn't what was compiled)."""
    index = _index(code.co_filename, module_globals)
    if index is None:
        return None
    if code.co_name == "<lambda>":
        return _find_lambda(code, index)
    found = [f for f in index.functions.get((code.co_firstlineno, code.co_name), ()) if _same_parameters(f.node, code)]
    return found[0] if len(found) == 1 else None


_codes: dict[str, tuple[list[str], set[CodeType]]] = {}


def is_compiled_from_file(code: CodeType, module_globals: dict | None = None) -> bool:
    """Whether compiling the file as it is now gives ``code``: a file may have been edited since it was imported."""
    filename = code.co_filename
    lines = linecache.getlines(filename, module_globals)
    known = _codes.get(filename)
    if known is None or known[0] is not lines:
        found: set[CodeType] = set()
        try:
            left = [compile("".join(lines), filename, "exec", dont_inherit=True)]
        except (SyntaxError, ValueError):
            left = []
        while left:
            found.add(left[-1])
            left += [c for c in left.pop().co_consts if isinstance(c, CodeType)]
        known = _codes[filename] = (lines, found)
    return code in known[1]


def _same_parameters(node: ast.FunctionDef | ast.Lambda, code: CodeType) -> bool:
    """A cheap test that the file on disk is still the one that was imported."""
    a = node.args
    named = len(a.posonlyargs) + len(a.args)
    return named == code.co_argcount and len(a.kwonlyargs) == code.co_kwonlyargcount


def _find_lambda(code: CodeType, index: _Index) -> Found | None:
    spots = [(p[0], p[2], p[1], p[3]) for p in code.co_positions() if None not in p and p[3] > 0]
    if not spots:
        return None
    first, last = min(spots)[:2], max((s[2], s[3]) for s in spots)
    best = None
    for f in index.lambdas:
        body = f.node.body
        start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        inside = start <= first and last <= end and _same_parameters(f.node, code)
        if inside and (best is None or start > (best.node.body.lineno, best.node.body.col_offset)):
            best = f
    return best
