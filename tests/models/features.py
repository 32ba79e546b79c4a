"""What a model's source uses, found in its syntax tree: its methods, its bases' and the helpers' in the same file that it calls.

Whether a branch or loop hangs on a tensor, syntax can't say: that is read from the captured program's operators.
"""

from __future__ import annotations

import ast
import functools
import importlib.util

# In the order of a table's columns.
FEATURES = ("if", "while", "for", "break", "return", "append", "dict")


@functools.lru_cache
def _definitions(module: str) -> dict:
    with open(importlib.util.find_spec(module).origin) as f:
        tree = ast.parse(f.read())
    return {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}


def of_source(cls) -> set[str]:
    """``break`` (or ``continue``), ``return`` (from within a branch or loop), ``append`` (in a loop), ``dict`` (result of forward)."""
    definitions = _definitions(cls.__module__)
    todo, seen, found = [cls.__name__], set(), set()
    while todo:
        name = todo.pop()
        if name in seen or name not in definitions:
            continue
        seen.add(name)
        node, bodies = definitions[name], [definitions[name]]
        if isinstance(node, ast.ClassDef):
            bodies = [n for n in node.body if isinstance(n, ast.FunctionDef)]
            todo += [b.id for b in node.bases if isinstance(b, ast.Name)]
        for body in bodies:
            todo += [n.id for n in ast.walk(body) if isinstance(n, ast.Name)]
            if body.name != "__init__":
                found |= _of_function(body)
            if body.name == "forward" and name == cls.__name__ and _returns_dict(body):
                found.add("dict")
    return found


def _of_function(function) -> set[str]:
    found = set()

    def visit(node, nested, in_loop):
        if isinstance(node, (ast.Break, ast.Continue)):
            found.add("break")
        if isinstance(node, ast.Return) and nested:
            found.add("return")
        if isinstance(node, ast.Call) and in_loop and getattr(node.func, "attr", "") == "append":
            found.add("append")
        loop = isinstance(node, (ast.For, ast.While))
        for child in ast.iter_child_nodes(node):
            visit(child, nested or loop or isinstance(node, ast.If), in_loop or loop)

    visit(function, False, False)
    return found


def _returns_dict(function) -> bool:
    held = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_dict(node.value):
            held |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    returned = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
    return any(_is_dict(v) or isinstance(v, ast.Name) and v.id in held for v in returned)


def _is_dict(value) -> bool:
    return isinstance(value, ast.Dict) or isinstance(value, ast.Call) and getattr(value.func, "id", "") == "dict"


def of_program(text: str) -> set[str]:
    """``if`` and ``while`` that are operators of the program (printed as ``text``)."""
    return {kind for kind in ("if", "while") if f"pd_op.{kind}" in text}
