"""What names a piece of syntax binds, reads and mutates, and which are still needed afterwards.

``annotate`` runs a backward liveness analysis over a function whose early exits are already lowered. It leaves on every
``If``/``For``/``While`` node ``jst_live_out`` (names needed after it) and ``jst_live_in`` (names its parts may read
before binding them). Only those names become results of a branch or are carried through a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

MUTATORS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "clear",
        "update",
        "setdefault",
        "sort",
        "reverse",
        "add",
        "discard",
        "appendleft",
        "popleft",
    ]
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def walk_scope(nodes: Iterable[ast.AST]):
    """All nodes below ``nodes`` that belong to the same function; nested functions and classes appear but aren't entered."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _SCOPES):
            # Defaults, decorators and bases are evaluated in this scope.
            if not isinstance(node, ast.ClassDef):
                stack += [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
            stack += getattr(node, "decorator_list", [])
            stack += getattr(node, "bases", [])
        else:
            stack += list(ast.iter_child_nodes(node))


def _comprehension_targets(node: ast.AST) -> set[str]:
    return {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}


def stores(nodes: Iterable[ast.AST]) -> set[str]:
    """Names bound by ``nodes`` in their own scope."""
    out: set[str] = set()
    hidden: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            out.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.add(node.name)
            continue
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, _COMPREHENSIONS):
            # Its targets live in a scope of their own, a walrus inside binds in ours.
            out |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            out |= {(a.asname or a.name).split(".")[0] for a in node.names}
        elif (
            isinstance(node, ast.ExceptHandler)
            and node.name
            or isinstance(node, (ast.MatchAs, ast.MatchStar))
            and node.name
        ):
            out.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            out.add(node.rest)
        stack += list(ast.iter_child_nodes(node))
    return out - hidden


def dotted(node: ast.AST) -> str | None:
    """``self.a.b`` as text; None for anything that isn't a chain of attributes on a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def mutations(nodes: Iterable[ast.AST]) -> set[str]:
    """Places that ``nodes`` change other than by binding a name: ``self.h`` where an attribute is assigned, and ``*x``, ``*self.x``
    where the object in it is changed (``x[i] = v``, ``x.append(v)``)."""
    out: set[str] = set()
    for node in walk_scope(nodes):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            base: ast.AST = node.value
            while isinstance(base, ast.Subscript):
                base = base.value
            out.add("*" + (dotted(base) or ""))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            out.add(dotted(node) or "")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            base = node.func.value
            while isinstance(base, ast.Subscript):
                base = base.value
            out.add("*" + (dotted(base) or ""))
        elif isinstance(node, ast.Call) and (dotted(node.func) or "").rsplit(".", 1)[-1] == "array_write":
            given = node.args[2:3] + [k.value for k in node.keywords if k.arg == "array"]
            out |= {"*" + (dotted(v) or "") for v in given}
    return out - {"", "*"}


def uses(node: ast.AST | None) -> set[str]:
    """Names read by an expression or statement part when it runs (not what its lambdas read when they are called later)."""
    out: set[str] = set()
    stack: list[tuple[ast.AST, frozenset]] = [(node, frozenset())] if node is not None else []
    while stack:
        n, hidden = stack.pop()
        if isinstance(n, ast.Name):
            if isinstance(n.ctx, ast.Load) and n.id not in hidden:
                out.add(n.id)
            continue
        if isinstance(n, _SCOPES):
            stack += [(d, hidden) for d in walk_scope([n]) if d is not n and not isinstance(d, _SCOPES)]
            continue
        if isinstance(n, _COMPREHENSIONS):
            inner = hidden | _comprehension_targets(n)
            stack.append((n.generators[0].iter, hidden))
            rest = [g.iter for g in n.generators[1:]] + [i for g in n.generators for i in g.ifs]
            rest += [n.key, n.value] if isinstance(n, ast.DictComp) else [n.elt]
            stack += [(r, inner) for r in rest]
            continue
        stack += [(c, hidden) for c in ast.iter_child_nodes(n)]
    return out


def captured(fn: ast.AST) -> set[str]:
    """Names that nested functions, lambdas, classes or generator expressions may read at any later time."""
    out: set[str] = set()
    body = fn.body if isinstance(fn.body, list) else [fn.body]
    for node in walk_scope(body):
        if isinstance(node, (*_SCOPES, ast.GeneratorExp)):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name):
                    out.add(inner.id)
                elif isinstance(inner, (ast.Nonlocal, ast.Global)):
                    out.update(inner.names)
    return out


def declared(fn: ast.AST, kind: type) -> set[str]:
    """Names that the function itself declares ``global`` or ``nonlocal``."""
    return {name for node in walk_scope(fn.body) if isinstance(node, kind) for name in node.names}


def written_by_nested(fn: ast.FunctionDef) -> set[str]:
    """Names that functions defined inside ``fn`` declare ``nonlocal``."""
    nested = [n for n in walk_scope(fn.body) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {name for f in nested for n in ast.walk(f) if isinstance(n, ast.Nonlocal) for name in n.names}


class _Liveness:
    def __init__(self, always: set[str]) -> None:
        self.always = always
        self.loops: list[tuple[set[str], set[str]]] = []  # (live at the head, live after) of native loops

    def block(self, stmts: list[ast.stmt], live: set[str]) -> set[str]:
        for s in reversed(stmts):
            method = getattr(self, "do_" + type(s).__name__, self.other)
            live = method(s, live) | self.always
        return live

    def other(self, s, live):
        return (live - stores([s])) | uses(s) | self._augmented(s)

    @staticmethod
    def _augmented(s) -> set[str]:
        return {s.target.id} if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) else set()

    def do_Delete(self, s, live):
        return live | stores([s]) | uses(s)

    def do_Return(self, s, live):
        return uses(s.value)

    def do_Raise(self, s, live):
        return uses(s) | live  # it may be caught in this function

    def do_Break(self, s, live):
        return set(self.loops[-1][1])

    def do_Continue(self, s, live):
        return set(self.loops[-1][0])

    def do_If(self, s, live):
        s.jst_live_out = set(live)
        s.jst_live_in = self.block(s.body, live) | self.block(s.orelse, live)
        return uses(s.test) | s.jst_live_in

    def do_While(self, s, live):
        exits = uses(getattr(s, "jst_exit", None))
        after = self.block(s.orelse, live)
        return self._loop(s, after, uses(s.test) | exits, lambda inner: inner) | uses(s.test)

    def do_For(self, s, live):
        exits = uses(getattr(s, "jst_exit", None)) | uses(s.target)
        after = self.block(s.orelse, live)
        return self._loop(s, after, exits, lambda inner: inner - stores([s.target])) | uses(s.iter)

    do_AsyncFor = do_For

    def _loop(self, s, after, extra, enter):
        head = after | extra
        while True:
            self.loops.append((head, after))
            inner = enter(self.block(s.body, head))
            self.loops.pop()
            if inner <= head:
                break
            head = head | inner
        s.jst_live_out, s.jst_live_in = set(after), set(head)
        return head

    def do_With(self, s, live):
        inner = self.block(s.body, live) | live  # the manager may swallow an exception
        for item in reversed(s.items):
            if item.optional_vars is not None:
                inner = (inner - stores([item.optional_vars])) | uses(item.optional_vars)
            inner = inner | uses(item.context_expr)
        return inner

    do_AsyncWith = do_With

    def do_Try(self, s, live):
        final = self.block(s.finalbody, live)
        out = set(final)
        for h in s.handlers:
            out |= self.block(h.body, final) | uses(h.type)
        return out | self.block(s.body, self.block(s.orelse, final) | out)

    do_TryStar = do_Try

    def do_Match(self, s, live):
        out = set(live) | uses(s.subject)
        for case in s.cases:
            out |= self.block(case.body, live) | uses(case.guard) | uses(case.pattern)
        return out

    def do_FunctionDef(self, s, live):
        return (live - {s.name}) | uses(s)

    do_AsyncFunctionDef = do_ClassDef = do_FunctionDef


def annotate(fn: ast.FunctionDef) -> set[str]:
    """Annotate every branch and loop of ``fn``; returns the names that count as needed everywhere."""
    always = captured(fn) | declared(fn, ast.Nonlocal) | declared(fn, ast.Global)
    _Liveness(always).block(fn.body, set(always))
    return always
