"""Lower ``break``, ``continue`` and ``return`` that sit inside a branch or loop which may become a region operator.

A region has one entry and one exit. So an exit becomes an assignment to a flag, and the statements that it would have skipped
move into the other branch (when one branch always exits: no flag is ever tested) or under ``if not flag``. Branches that
are plainly Python's (``x is None``, ``isinstance``) and loops that can't be regions stay native and keep their exits.
"""

from __future__ import annotations

import ast

from .analysis import walk_scope

RETURN, BREAK, CONTINUE = "return", "break", "continue"
_LOOPS = (ast.While, ast.For)
_PYTHON_TESTS = frozenset(["isinstance", "issubclass", "hasattr", "callable"])
RETURN_VALUE = "_jst_return_value"
RETURN_FLAG = "_jst_returned"
EXIT_FLAGS = (RETURN_FLAG, "_jst_broke_", "_jst_skipped_")


class CannotLower(Exception):
    """An exit leaves a ``finally`` that would have to move into a region; ``place`` is the branch that moves it."""

    def __init__(self, node: ast.stmt) -> None:
        super().__init__()
        self.place = (node.lineno, node.col_offset) if isinstance(node, ast.If) else None


def is_python_test(e: ast.expr) -> bool:
    """The condition can't be a tensor, whatever the values are."""
    if isinstance(e, ast.Constant):
        return True
    if isinstance(e, ast.Compare):
        names = isinstance(e.left, ast.Constant)  # what is looked for can't be a tensor
        return all(
            isinstance(op, (ast.Is, ast.IsNot)) or (names and isinstance(op, (ast.In, ast.NotIn))) for op in e.ops
        )
    if isinstance(e, ast.BoolOp):
        return all(is_python_test(v) for v in e.values)
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        return is_python_test(e.operand)
    return isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id in _PYTHON_TESTS


def _blocks(s: ast.stmt) -> list[list[ast.stmt]]:
    """The statement lists directly inside ``s``."""
    if isinstance(s, (ast.If, ast.While, ast.For)):
        return [s.body, s.orelse]
    if isinstance(s, ast.With):
        return [s.body]
    if isinstance(s, (ast.Try, ast.TryStar)):
        return [s.body, s.orelse, s.finalbody, *(h.body for h in s.handlers)]
    if isinstance(s, ast.Match):
        return [c.body for c in s.cases]
    return []


def escaping(stmts: list[ast.stmt]) -> set[str]:
    """The kinds of exit in ``stmts`` that leave them."""
    out: set[str] = set()
    for s in stmts:
        if isinstance(s, ast.Return):
            out.add(RETURN)
        elif isinstance(s, ast.Break):
            out.add(BREAK)
        elif isinstance(s, ast.Continue):
            out.add(CONTINUE)
        elif isinstance(s, _LOOPS):
            out |= (escaping(s.body) & {RETURN}) | escaping(s.orelse)
        else:
            for b in _blocks(s):
                out |= escaping(b)
    return out


def _opaque(s: ast.stmt) -> bool:
    """Its exits are left alone: one in a ``finally`` takes back the exception or exit on its way."""
    return isinstance(s, (ast.Try, ast.TryStar)) and bool(escaping(s.finalbody))


def _through_opaque(stmts: list[ast.stmt]) -> set[str]:
    """Kinds that leave ``stmts`` from inside a statement whose control flow is left alone."""
    out: set[str] = set()
    for s in stmts:
        if _opaque(s):
            out |= escaping([s])
        elif isinstance(s, _LOOPS):
            out |= (_through_opaque(s.body) & {RETURN}) | _through_opaque(s.orelse)
        else:
            for b in _blocks(s):
                out |= _through_opaque(b)
    return out


def always_exits(stmts: list[ast.stmt]) -> bool:
    for s in stmts:
        if isinstance(s, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return True
        if isinstance(s, ast.If) and s.orelse and always_exits(s.body) and always_exits(s.orelse):
            return True
        if isinstance(s, ast.With) and always_exits(s.body):
            return True
    return False


def _binds_scope(stmts: list[ast.stmt]) -> bool:
    """Statements that can't move into a nested function."""
    return any(
        isinstance(n, (ast.Global, ast.Nonlocal, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.Yield, ast.YieldFrom))
        or (isinstance(n, ast.ImportFrom) and n.names[0].name == "*")
        for n in walk_scope(stmts)
    )


def mark(stmts: list[ast.stmt], native: set, held: frozenset = frozenset()) -> None:
    """Set ``jst_extract`` on each branch and loop: may it become a region?

    Branches at the positions ``native`` may not. ``held`` are the kinds of exit that would leave a ``finally`` around: those stay Python's.
    """
    for s in stmts:
        inner = held
        if isinstance(s, ast.If):
            blocked = escaping([s]) & held or _through_opaque([s]) or _binds_scope([s])
            s.jst_extract = not is_python_test(s.test) and not blocked and (s.lineno, s.col_offset) not in native
        elif isinstance(s, _LOOPS):
            blocked = escaping(s.body) & held & {RETURN} or _through_opaque(s.body) or _binds_scope(s.body)
            s.jst_extract = not blocked
            s.jst_extract_else = not (escaping(s.orelse) & held or _through_opaque(s.orelse) or _binds_scope(s.orelse))
            # Exits can't be lowered beside others that leave a `finally`: then all of this loop's stay Python's.
            inner = frozenset([RETURN, BREAK, CONTINUE]) if _through_opaque(s.body) else held & {RETURN}
        elif _opaque(s):
            inner = frozenset([RETURN, BREAK, CONTINUE])
        for k, b in enumerate(_blocks(s)):
            mark(b, native, held if isinstance(s, _LOOPS) and k == 1 else inner)


def _else_moves(s) -> bool:
    """A loop's ``else`` becomes a branch on whether the loop was broken off."""
    lowered = s.jst_extract or BREAK in _through_regions(s.body)
    return bool(s.orelse) and s.jst_extract_else and lowered and BREAK in escaping(s.body)


def _through_regions(stmts: list[ast.stmt]) -> set[str]:
    """Kinds that leave ``stmts`` from inside something that will be extracted."""
    out: set[str] = set()
    for s in stmts:
        if isinstance(s, ast.If) and s.jst_extract:
            out |= escaping([s])
        elif isinstance(s, _LOOPS):
            # Once any exit of a body is lowered, the statements after it move: then all its exits must be.
            body = escaping(s.body) if s.jst_extract or _through_regions(s.body) else set()
            out |= (body & {RETURN}) | (escaping(s.orelse) if _else_moves(s) else _through_regions(s.orelse))
        elif not _opaque(s):
            for b in _blocks(s):
                out |= _through_regions(b)
    return out


class _Lowering:
    def __init__(self, fn: ast.FunctionDef) -> None:
        self.fn = fn
        self.count = 0
        self.flags: list[dict[str, str]] = []  # of the enclosing loops

    def run(self) -> None:
        fn = self.fn
        lower_returns = RETURN in _through_regions(fn.body)
        if lower_returns and not always_exits(fn.body):
            fn.body = [*fn.body, ast.copy_location(ast.Return(None), fn.body[-1])]
        body = self.block(fn.body, {RETURN} if lower_returns else set(), native=True)
        if lower_returns:
            last = body[-1] if body else fn
            body.insert(0, self._assign(RETURN_FLAG, ast.Constant(False), fn.body[0]))
            body.append(ast.copy_location(ast.Return(self._load(RETURN_VALUE, last)), last))
        fn.body = body

    # One statement list. `kinds` are the exits to lower; with `native` a statement whose exits pass no region keeps them.
    def block(self, stmts: list[ast.stmt], kinds: set[str], native: bool = False) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for k, s in enumerate(stmts):
            found = escaping([s]) & kinds
            if isinstance(s, _LOOPS) and s.orelse and self._lowers_loop(s, bool(kinds & escaping([s]))):
                return out + self.block(self._split_else(s) + stmts[k + 1 :], kinds, native)
            if not found or (native and not _through_regions([s]) & kinds):
                out += self.descend(s)
                if isinstance(s, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
                    return out
                continue
            return out + self.exit(s, found, stmts[k + 1 :], kinds)
        return out

    def exit(self, s, found, rest, kinds) -> list[ast.stmt]:
        if isinstance(s, ast.Return):
            value = s.value if s.value is not None else ast.copy_location(ast.Constant(None), s)
            return [self._assign(RETURN_VALUE, value, s), self._assign(RETURN_FLAG, ast.Constant(True), s)]
        if isinstance(s, (ast.Break, ast.Continue)):
            return [
                self._assign(self.flags[-1][BREAK if isinstance(s, ast.Break) else CONTINUE], ast.Constant(True), s)
            ]
        if isinstance(s, ast.If):
            return self._exit_if(s, found, rest, kinds)
        if isinstance(s, ast.With):
            s.body = self.block(s.body, kinds)
            return [s, *self._guarded(found, rest, kinds, s)]
        if isinstance(s, _LOOPS):
            return [*self._loop(s, returns=True), *self._guarded(found & {RETURN}, rest, kinds, s)]
        if isinstance(s, ast.Match):
            for c in s.cases:
                c.body = self.block(c.body, kinds)
            return [s, *self._guarded(found, rest, kinds, s)]
        if isinstance(s, (ast.Try, ast.TryStar)) and not _opaque(s):
            return [self._exit_try(s, kinds), *self._guarded(found, rest, kinds, s)]
        raise CannotLower(s)

    def _exit_try(self, s, kinds):
        """The ``else`` runs where the body came to its end."""
        left = escaping(s.body) & kinds
        s.body = self.block(s.body, kinds)
        s.orelse = self._guarded(left, s.orelse, kinds, s) if left else self.block(s.orelse, kinds)
        for h in s.handlers:
            h.body = self.block(h.body, kinds)
        s.finalbody = self.block(s.finalbody, set(), True)
        return s

    def _exit_if(self, s: ast.If, found, rest, kinds) -> list[ast.stmt]:
        if rest and (_through_opaque(rest) & kinds or (s.jst_extract and _binds_scope(rest))):
            raise CannotLower(s)
        if always_exits(s.body):
            s.body, s.orelse, rest = self.block(s.body, kinds), self.block(s.orelse + rest, kinds), []
        elif s.orelse and always_exits(s.orelse):
            s.body, s.orelse, rest = self.block(s.body + rest, kinds), self.block(s.orelse, kinds), []
        else:
            s.body, s.orelse = self.block(s.body, kinds), self.block(s.orelse, kinds)
        if not s.body:
            s.body = [ast.copy_location(ast.Pass(), s)]
        return [s, *self._guarded(found, rest, kinds, s)]

    def _guarded(self, found: set[str], rest: list[ast.stmt], kinds, at: ast.stmt) -> list[ast.stmt]:
        """``if not (flags): rest``."""
        if not rest:
            return []
        flags = [self._flag(k, at) for k in sorted(found)]
        test = flags[0] if len(flags) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), flags), at)
        node = ast.If(ast.copy_location(ast.UnaryOp(ast.Not(), test), at), self.block(rest, kinds), [])
        node.jst_extract = True
        return [ast.copy_location(node, rest[0])]

    def _flag(self, kind: str, at: ast.AST) -> ast.expr:
        return self._load(RETURN_FLAG if kind == RETURN else self.flags[-1][kind], at)

    def descend(self, s: ast.stmt) -> list[ast.stmt]:
        """A statement none of whose exits is lowered here: only look for loops inside it."""
        if isinstance(s, _LOOPS):
            return self._loop(s, returns=False)
        if isinstance(s, ast.Match):
            for c in s.cases:
                c.body = self.block(c.body, set(), True)
        elif _blocks(s):
            s.body = self.block(s.body, set(), True)
            if hasattr(s, "orelse"):
                s.orelse = self.block(s.orelse, set(), True)
            if isinstance(s, (ast.Try, ast.TryStar)):
                s.finalbody = self.block(s.finalbody, set(), True)
                for h in s.handlers:
                    h.body = self.block(h.body, set(), True)
        return [s]

    def _lowers_loop(self, s, returns: bool) -> bool:
        return returns or s.jst_extract or BREAK in _through_regions(s.body)

    def _names(self, s) -> dict[str, str]:
        if not hasattr(s, "jst_flags"):
            self.count += 1
            s.jst_flags = {BREAK: f"_jst_broke_{self.count}", CONTINUE: f"_jst_skipped_{self.count}"}
        return s.jst_flags

    def _split_else(self, s) -> list[ast.stmt]:
        """``loop … else: E`` is ``loop; if not broke: E``."""
        orelse, s.orelse = s.orelse, []
        if BREAK not in escaping(s.body):
            return [s, *orelse]
        s.jst_force_break = True
        node = ast.If(ast.copy_location(ast.UnaryOp(ast.Not(), self._load(self._names(s)[BREAK], s)), s), orelse, [])
        node.jst_extract = s.jst_extract_else
        return [s, ast.copy_location(node, orelse[0])]

    def _loop(self, s, returns: bool) -> list[ast.stmt]:
        inner = escaping(s.body)
        lower = inner if s.jst_extract or _through_regions(s.body) else set()
        if getattr(s, "jst_force_break", False):
            lower = lower | {BREAK}
        lower = (lower & {BREAK, CONTINUE}) | ({RETURN} if returns and RETURN in inner else set())
        names = self._names(s)
        self.flags.append(names)
        body = self.block(s.body, lower, native=not lower)
        self.flags.pop()
        if CONTINUE in lower:
            body.insert(0, self._assign(names[CONTINUE], ast.Constant(False), s))
        s.body = body or [ast.copy_location(ast.Pass(), s)]
        exits = [names[BREAK]] if BREAK in lower else []
        exits += [RETURN_FLAG] if RETURN in lower else []
        if not exits:
            return [s]
        loads = [self._load(n, s) for n in exits]
        stop = loads[0] if len(loads) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), loads), s)
        go_on = ast.copy_location(ast.UnaryOp(ast.Not(), stop), s)
        if not s.jst_extract:
            leave = ast.If(stop, [ast.copy_location(ast.Break(), s)], [])
            leave.jst_extract = False
            s.body.append(ast.copy_location(leave, s))
        elif isinstance(s, ast.For):
            s.jst_exit = go_on
        elif isinstance(s.test, ast.Constant) and s.test.value:
            s.test = go_on
        else:
            # Python doesn't evaluate the test again after a break: the flags come first.
            s.test = ast.copy_location(ast.BoolOp(ast.And(), [go_on, s.test]), s.test)
        init = [self._assign(names[BREAK], ast.Constant(False), s)] if BREAK in lower else []
        return [*init, s]

    @staticmethod
    def _load(name: str, at: ast.AST) -> ast.expr:
        return ast.copy_location(ast.Name(name, ast.Load()), at)

    @staticmethod
    def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        node = ast.Assign([ast.Name(name, ast.Store())], value, None)
        return ast.fix_missing_locations(ast.copy_location(node, at))


def lower(fn: ast.FunctionDef, native: set) -> None:
    """Lower the early exits of ``fn`` in place. Raises CannotLower; then the tree is spoilt and must be copied anew."""
    mark(fn.body, native)
    _Lowering(fn).run()
