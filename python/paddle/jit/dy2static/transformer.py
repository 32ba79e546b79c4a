"""Rewrite a function so that branches, loops and boolean expressions ask the run time what they mean.

::

    if x.sum() > 0:                  def _jst_then():
        y = x + 1                        nonlocal y
    else:                                y = x + 1
        y = x - 1          ->        def _jst_else():
                                         nonlocal y
                                         y = x - 1
                                     _jst.if_(_jst.call(x.sum)() > 0, _jst_then, _jst_else, ('y',))

Names shared between the parts become cells of the same function, so reading, deleting and closures work as before; the run time
reaches them through ``__closure__``. Where the condition is a Python value, the run time just calls one of the parts.
Nested functions and lambdas stay as they are: they are converted when they are called.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from . import analysis, early_exit, matches
from .eligibility import Mangler, may_choose, ordered_parameters, parameters
from .expressions import JST, Expressions, Scope, load, strings

FUNCTION = "_jst_function"
_IN_PLACE = {  # functions of the module `operator`
    "Add": "iadd",
    "Sub": "isub",
    "Mult": "imul",
    "MatMult": "imatmul",
    "Div": "itruediv",
    "FloorDiv": "ifloordiv",
    "Mod": "imod",
    "Pow": "ipow",
    "LShift": "ilshift",
    "RShift": "irshift",
    "BitOr": "ior",
    "BitXor": "ixor",
    "BitAnd": "iand",
}


class Transformer(Expressions):
    """Transforms the body of one function. ``is_library(chain)`` says that a dotted global name is a library's."""

    def __init__(self, fn: ast.FunctionDef | ast.Lambda, freevars: set[str], is_library: Callable[[str], bool]) -> None:
        self.fn = fn
        self.is_library = is_library
        self.locals = analysis.stores(fn.body if isinstance(fn.body, list) else [fn.body]) | parameters(fn) | freevars
        self.globals: set[str] = set()
        self.always: set[str] = set()
        self.written_by_calls: set[str] = set()
        self.scopes: list[Scope] = []
        self.lazy = 0
        self.in_loop_test = False
        self.first_parameter = next(iter(ordered_parameters(fn)), None)

    # ---- entry points -------------------------------------------------------------------------------------------

    def function(self) -> ast.FunctionDef:
        fn = self.fn
        self.globals = analysis.declared(fn, ast.Global)
        user_nonlocal = analysis.declared(fn, ast.Nonlocal)
        self.locals |= user_nonlocal
        self.locals -= self.globals
        self.always = analysis.annotate(fn)
        self.written_by_calls = analysis.written_by_nested(fn) & self.locals
        params = parameters(fn)
        scope = Scope(user_nonlocal | params | self.globals)
        self.scopes.append(scope)
        body = self.block(fn.body)
        self.scopes.pop()
        fn.body = self._prologue(scope, fn) + body
        return fn

    def lambda_(self) -> ast.Lambda:
        self.scopes.append(Scope(set()))
        self.fn.body = self.visit(self.fn.body)
        return self.fn

    # ---- statements ---------------------------------------------------------------------------------------------

    def block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in stmts:
            new = self.visit(s)
            out += new if isinstance(new, list) else [new]
        return out

    def _nested(self, node):
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _nested

    def visit_Lambda(self, node):
        return node

    def visit_If(self, s: ast.If):
        if not s.jst_extract:
            s.test = self.visit(s.test)
            s.body, s.orelse = self.block(s.body), self.block(s.orelse)
            return s
        needed = s.jst_live_out | s.jst_live_in
        bound = analysis.stores(s.body) | analysis.stores(s.orelse)
        carried = self._carried(s.body + s.orelse, s.jst_live_out)
        raises = [_raises(s.body), _raises(s.orelse)]
        test = self.test(s.test)
        then = self._part("_jst_then", s.body, bound & needed, s)
        parts = [then]
        if s.orelse:
            parts.append(self._part("_jst_else", s.orelse, bound & needed, s.orelse[0]))
        args = [
            test,
            load("_jst_then", s),
            load("_jst_else", s) if s.orelse else ast.Constant(None),
            strings(carried),
        ]
        # Variables that the parts share with the function but that nobody reads afterwards: each branch starts from the same value.
        scratch = sorted((bound & (needed | self.always)) - set(carried))
        args.append(strings(scratch))
        if any(raises):
            args.append(ast.Tuple([ast.Constant(r) for r in raises], ast.Load()))
        return [*parts, self._call_statement("if_", args, s)]

    def visit_While(self, s: ast.While):
        if not s.jst_extract:
            return self._native_loop(s)
        needed = s.jst_live_out | s.jst_live_in
        bound = analysis.stores(s.body) | analysis.stores([s.test])
        carried = self._carried([*s.body, s.test], needed)
        late = _late(carried, s.jst_live_out)
        test = ast.Return(s.test)
        ast.copy_location(test, s.test)
        parts = [
            self._part("_jst_test", [test], bound & needed, s, as_test=True),
            self._part("_jst_body", s.body, bound & needed, s),
        ]
        args = [load("_jst_test", s), load("_jst_body", s), strings(carried), strings(late)]
        return [*parts, self._call_statement("while_", args, s)]

    def visit_For(self, s: ast.For):
        if not s.jst_extract:
            return self._native_loop(s)
        needed = s.jst_live_out | s.jst_live_in
        assign = ast.copy_location(ast.Assign([s.target], load("_jst_item", s.target), None), s.target)
        # The target is bound at the head of each round: it is needed outside the body only where the analysis says so.
        body = [assign, *s.body]
        bound = analysis.stores(body)
        carried = self._carried(body, needed)
        late = _late(carried, s.jst_live_out)
        iterable = self.visit(s.iter)
        exit_test = getattr(s, "jst_exit", None)
        parts = [self._part("_jst_body", body, bound & needed, s, parameter="_jst_item")]
        if exit_test is not None:
            test = ast.copy_location(ast.Return(exit_test), s)
            parts.append(self._part("_jst_test", [test], set(), s, as_test=True))
        args = [
            iterable,
            load("_jst_body", s),
            load("_jst_test", s) if exit_test is not None else ast.Constant(None),
            strings(carried),
            strings(late),
        ]
        return [*parts, self._call_statement("for_", args, s)]

    def _native_loop(self, s):
        if isinstance(s, ast.While):
            s.test = self.visit(s.test)
        else:
            s.iter = self.visit(s.iter)
        s.body, s.orelse = self.block(s.body), self.block(s.orelse)
        return s

    def _assignment(self, s):
        """Attributes that are about to be assigned are announced: their tensors become results of the program."""
        targets = s.targets if isinstance(s, ast.Assign) else [s.target]
        notes = []
        for t in [n for target in targets for n in ast.walk(target)]:
            if isinstance(t, ast.Attribute) and isinstance(t.ctx, ast.Store) and analysis.dotted(t.value):
                owner = copy.deepcopy(t.value)
                notes.append(self._call_statement("will_set", [owner, ast.Constant(t.attr)], s))
        done = self._item_assignment(s) or self.generic_visit(s)
        return [*notes, done] if notes else done

    def _item_assignment(self, s) -> ast.stmt | None:
        """``items[i] = v`` and ``items[i] += v`` where a tensor may say which item of a list is meant."""
        target = s.targets[0] if isinstance(s, ast.Assign) and len(s.targets) == 1 else getattr(s, "target", None)
        if not isinstance(target, ast.Subscript) or not may_choose(target.slice):
            return None
        if isinstance(target.value, ast.Subscript):
            target.value.jst_held = True
        where = [self.visit(target.value), self.visit(target.slice)]
        if isinstance(s, ast.Assign):
            return self._call_statement("set_item_", [self.visit(s.value), *where], s)
        change = ast.Constant(_IN_PLACE[type(s.op).__name__])
        return self._call_statement("change_item_", [*where, change, self._lazy(s.value)], s)

    visit_Assign = visit_AugAssign = _assignment

    def visit_AnnAssign(self, s: ast.AnnAssign):
        if not isinstance(s.target, ast.Name):
            return self._assignment(s)
        # An annotated name can't be declared nonlocal. Without a value the statement only makes the name local.
        value = s.value if s.value is not None else ast.Constant(None)
        plain = ast.copy_location(ast.Assign([s.target], value, None), s)
        if s.value is not None:
            return self._assignment(ast.fix_missing_locations(plain))
        return ast.fix_missing_locations(ast.copy_location(ast.If(ast.Constant(0), [plain], []), s))

    def visit_Assert(self, s: ast.Assert):
        args = [self.test(s.test)]
        if s.msg is not None:
            args.append(self._lazy(s.msg))
        return self._call_statement("assert_", args, s)

    def _carried(self, stmts: list[ast.AST], live: set[str]) -> list[str]:
        """Results of a part: bound names that are needed afterwards, and everything whose object it changes in place (``*x``)."""
        names = analysis.stores(stmts) & (live | self.always | self.globals)
        names |= self._written_by_calls(stmts)
        places = {m for m in analysis.mutations(stmts) if m.lstrip("*").split(".")[0] not in names}
        return sorted(names | {m for m in places if m.lstrip("*") not in places or m[0] != "*"})

    def _written_by_calls(self, stmts: list[ast.AST]) -> set[str]:
        """Variables that calls in ``stmts`` may assign: those that nested functions declare nonlocal."""
        if self.written_by_calls and any(isinstance(n, ast.Call) for n in analysis.walk_scope(stmts)):
            return self.written_by_calls
        return set()

    def _part(self, name, stmts, shared, at, parameter=None, as_test=False) -> ast.FunctionDef:
        """A generated function. ``shared`` are the names that belong to the function around it."""
        bound = analysis.stores(stmts)
        shared = (bound & (shared | self.always) | self._written_by_calls(stmts)) - self.globals
        outer = self.scopes[-1]
        scope = Scope(shared | self.globals | ({parameter} if parameter else set()))
        self.scopes.append(scope)
        lazy, self.lazy = self.lazy, 0
        if as_test:
            self.in_loop_test = True
            stmts[0].value = self.test(stmts[0].value)
            self.in_loop_test = False
            body: list[ast.stmt] = stmts
        else:
            body = self.block(stmts)
        self.lazy = lazy
        self.scopes.pop()
        outer.cells |= shared
        outer.cells |= scope.cells & shared
        head: list[ast.stmt] = []
        if bound & self.globals:
            head.append(ast.Global(sorted(bound & self.globals)))
        if shared:
            head.append(ast.Nonlocal(sorted(shared)))
        args = ast.arguments([], [ast.arg(parameter)] if parameter else [], None, [], [], None, [])
        node = ast.FunctionDef(name, args, head + self._prologue(scope, at) + body, [], None)
        for h in node.body[: len(head)]:
            ast.copy_location(h, at)
        return ast.fix_missing_locations(ast.copy_location(node, at))

    def _prologue(self, scope: Scope, at: ast.AST) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        # `nonlocal x` in a part needs x to be a local here, even where all assignments moved into parts. The compiler sees the
        # binding and drops the code.
        missing = sorted(scope.cells - scope.declared_outside)
        if missing:
            binding = ast.Assign([ast.Name(n, ast.Store()) for n in missing], ast.Constant(None), None)
            out.append(ast.If(ast.Constant(0), [binding], []))
        for name in sorted(scope.setters):
            value = "_jst_value"
            args = ast.arguments([], [ast.arg(value)], None, [], [], None, [])
            declare = ast.Global([name]) if name in self.globals else ast.Nonlocal([name])
            store = ast.Assign([ast.Name(name, ast.Store())], ast.Name(value, ast.Load()), None)
            body = [declare, store, ast.Return(ast.Name(value, ast.Load()))]
            out.append(ast.FunctionDef(f"_jst_set_{name}", args, body, [], None))
        where = at.body[0] if isinstance(at, ast.FunctionDef) and at.body else at
        return [ast.fix_missing_locations(ast.copy_location(o, where)) for o in out]

    # ---- building -----------------------------------------------------------------------------------------------

    def _call_statement(self, name: str, args: list[ast.expr], at: ast.stmt) -> ast.stmt:
        # The call carries the position of the statement's head, so that a traceback shows the `if`, not its whole body.
        head = getattr(at, "test", None) or getattr(at, "iter", at)
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(self._call(name, args, head)), head))


def _late(carried: list[str], live: set[str]) -> list[str]:
    """What of a loop's results is read after it: variables, and objects that it changes in place."""
    return sorted({c.lstrip("*") for c in carried if c in live or (c[0] == "*" and c[1:] in live)})


def _raises(stmts: list[ast.stmt]) -> bool:
    return bool(stmts) and isinstance(stmts[-1], ast.Raise) and len(stmts) == 1


def transform(fn, class_name: str | None, freevars: set[str], is_library: Callable[[str], bool]):
    """The transformed copy of ``fn``, ready to be compiled as a function nested in :func:`factory`."""
    name_of = Mangler(class_name) if class_name else None

    def fresh():
        tree = copy.deepcopy(fn)
        if name_of:
            kept = tree.name if isinstance(tree, ast.FunctionDef) else None
            tree = name_of.visit(tree)
            if kept:
                tree.name = kept
        return matches.lower(tree) if isinstance(tree, ast.FunctionDef) else tree

    tree = fresh()
    if isinstance(tree, ast.FunctionDef):
        tree = _lowered(tree, fresh)
    worker = Transformer(tree, freevars, is_library)
    out = worker.function() if isinstance(tree, ast.FunctionDef) else worker.lambda_()
    _strip_signature(out)
    return out


def _lowered(tree: ast.FunctionDef, fresh: Callable[[], ast.FunctionDef]) -> ast.FunctionDef:
    """Lower early exits; branches in the way of a ``finally`` or ``yield`` stay Python's."""
    native: set = set()
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in analysis.walk_scope(tree.body)):
        # What follows an exit must not move: it may yield.
        branches = [n for n in analysis.walk_scope(tree.body) if isinstance(n, ast.If)]
        native = {(n.lineno, n.col_offset) for n in branches if early_exit.escaping([n])}
    while True:
        try:
            early_exit.lower(tree, native)
            return tree
        except early_exit.CannotLower as error:
            tree = fresh()
            if error.place is None or error.place in native:
                break
            native.add(error.place)
    for n in ast.walk(tree):
        if isinstance(n, (ast.If, ast.While, ast.For)):
            n.jst_extract = False
    return tree


def _strip_signature(fn) -> None:
    """Defaults, annotations and decorators were evaluated when the original was defined."""
    a = fn.args
    a.defaults = []
    a.kw_defaults = [None] * len(a.kwonlyargs)
    for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg):
        if p is not None:
            p.annotation = None
    if isinstance(fn, ast.FunctionDef):
        fn.decorator_list, fn.returns = [], None


def factory(fn, freevars) -> ast.Module:
    """A module whose only function has the free variables of ``fn`` as parameters, and ``fn`` inside."""
    names = [JST, *sorted(set(freevars) - {JST})]
    args = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    # Under its own name the function would be a local of the factory and hide the global that recursion means.
    inner = copy.copy(fn)
    if isinstance(fn, ast.FunctionDef):
        inner.name = FUNCTION
    else:
        inner = ast.copy_location(ast.Expr(fn), fn)
    outer = ast.FunctionDef("_jst_factory", args, [inner], [], None)
    ast.copy_location(outer, fn)
    return ast.fix_missing_locations(ast.Module([outer], []))
