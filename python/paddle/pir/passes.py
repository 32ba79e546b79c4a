"""Passes by name, wherever they come from (C++, Python, a plugin), and pipelines of them."""

from __future__ import annotations

import inspect
import os
from typing import NamedTuple

from .._core import ir
from .program import Program
from .rewrite import Drr, RewritePattern, specs

__all__ = [
    "PassManager",
    "PassRecord",
    "add_to_pipeline",
    "load_plugin",
    "register_pass",
    "registered_passes",
    "remove_from_pipeline",
    "unregister_pass",
]

# Official Paddle's names of passes that are here under another.
_OFFICIAL = {
    "dead_code_elimination_pass": "dead_code",
    "common_subexpression_elimination_pass": "common_subexpression",
    "constant_folding_pass": "constant_folding",
    "identity_op_clean_pass": "canonicalise",
    "map_op_to_another_pass": "canonicalise",
}


class PassRecord(NamedTuple):
    """What one pass of a run did."""

    name: str
    seconds: float
    changed: bool
    ops_before: int
    ops_after: int
    statistics: dict


def register_pass(name: str, what, doc: str = ""):
    """Makes a pass known by name; a name that is known already then means this one.

    Args:
        name: its name in pipelines.
        what: a ``RewritePattern`` or ``Drr``, a list of them, or a function ``run(program)`` or ``run(program, context)``
            that returns whether it changed anything. ``context.count(what, n)`` adds to the report, ``context.options`` are
            the options given in the pipeline, ``context.root`` is the operation whose regions are to be changed (``program``
            is None where a pipeline runs on an operation that is in no program).

    Raises:
        TypeError: ``what`` is none of these.
    """
    listed = what if isinstance(what, (list, tuple)) else [what]
    if listed and all(isinstance(p, (RewritePattern, Drr)) for p in listed):
        ir.register_pattern_pass(name, doc, specs(list(listed)))
        return what
    if not callable(what):
        raise TypeError(f"[register_pass] expected patterns or a function, got {type(what).__name__}")
    two = len(inspect.signature(what).parameters) > 1

    def run(program, root, options):
        context = PassContext(root, options)
        changed = what(program, context) if two else what(program)
        return bool(changed), context.statistics

    ir.register_pass(name, doc or (inspect.getdoc(what) or "").split("\n")[0], run)
    return what


class PassContext:
    """What a pass is told, and where it reports."""

    def __init__(self, root, options: dict) -> None:
        self.root, self.options, self.statistics = root, options, {}

    def count(self, what: str, n: int = 1) -> None:
        """Adds ``n`` to a number in the report."""
        self.statistics[what] = self.statistics.get(what, 0) + n


def unregister_pass(name: str) -> None:
    """Forgets a pass."""
    ir.unregister_pass(name)


def registered_passes() -> dict:
    """Name -> what it does, of every pass that is known."""
    return ir.registered_passes()


def load_plugin(path: str) -> list:
    """Loads a shared library whose static initialisers register passes; returns the names of those that are new.

    Raises:
        OSError: it can't be loaded.
    """
    before = set(registered_passes())
    ir.load_plugin(os.path.abspath(path))
    return sorted(set(registered_passes()) - before)


def add_to_pipeline(name: str, stage: str = "captured") -> None:
    """From here on the pass runs on every program that is compiled (``to_static``, the Executor, predictors).

    Args:
        stage: "captured": first, on operators as the user called them; "optimised": after simplification, before fusion.

    Raises:
        ValueError: no such pass or stage.
    """
    if name.split("{")[0] not in registered_passes():
        raise ValueError(f"[add_to_pipeline] no pass is called '{name}'")
    ir.add_to_stage(stage, name)


def remove_from_pipeline(name: str, stage: str = "captured") -> None:
    """Programs compiled from here on go without the pass."""
    ir.remove_from_stage(stage, name)


class PassManager:
    """A pipeline.

    Args:
        opt_level: kept, for callers of official Paddle's.
        verify: checks the program before the first pass and after each that changed something, and names the pass that
            broke it.
        print_changes: a function that gets the diff of each pass that changed something, or True to print it.
    """

    def __init__(self, opt_level: int = 2, verify: bool = False, print_changes=None) -> None:
        self.opt_level, self.verify = opt_level, verify
        self._print = print if print_changes is True else print_changes
        self._whole = False
        self._passes: list = []
        self._records: list = []
        self._report = ""
        self._statistics = False

    def add_pass(self, name: str, attrs=None) -> PassManager:
        """Appends a pass by name, with options.

        Raises:
            ValueError: no pass is called so.
        """
        known = registered_passes()
        name = _OFFICIAL.get(name, name) if name not in known else name
        if name not in known:
            raise ValueError(f"[PassManager.add_pass] no pass is called '{name}'; there are {sorted(known)}")
        options = ",".join(f"{k}={_text(v)}" for k, v in (attrs or {}).items())
        self._passes.append(name + (f"{{{options}}}" if options else ""))
        return self

    def add_pipeline(self, text: str) -> PassManager:
        """Appends passes from text: ``"canonicalise,dead_code,constant_folding{max_bytes=4096}"``."""
        self._passes.append(text)
        return self

    def passes(self) -> list:
        """Names, in order."""
        return list(self._passes)

    def empty(self) -> bool:
        return not self._passes

    def clear(self) -> None:
        self._passes.clear()

    def enable_ir_printing(self, whole: bool = False) -> None:
        """Prints what each pass changed, as a diff or as the ``whole`` program."""
        self._print, self._whole = print, whole

    def enable_print_statistics(self) -> None:
        """Prints ``report()`` after each run."""
        self._statistics = True

    def run(self, program: Program) -> bool:
        """Runs all passes; whether anything changed.

        Raises:
            ValueError: with ``verify``, a pass broke the program.
        """
        changed, records, self._report = ir.run_passes(
            program, ",".join(self._passes), self.verify, self._print, self._whole
        )
        self._records = [PassRecord(**r) for r in records]
        program._edited()
        if self._statistics:
            print(self._report)
        return changed

    def records(self) -> list:
        """A ``PassRecord`` for each pass of the last run: time, change, operations before and after, counts."""
        return list(self._records)

    def report(self) -> str:
        """The same as a table."""
        return self._report


def _text(value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
