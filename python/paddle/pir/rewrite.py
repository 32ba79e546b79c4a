"""Patterns: "where the program looks like this, make it look like that", as functions or declared (DRR)."""

from __future__ import annotations

from .._core import ir
from .program import Block, Program

__all__ = ["Drr", "RewritePattern", "apply_patterns"]


class RewritePattern:
    """A pattern that is code. Subclasses define ``match_and_rewrite``.

    Attributes:
        root (str): name of the operation it starts from; "" tries every operation.
        benefit (int): patterns with more of it are tried first.
    """

    root = ""
    benefit = 1

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__

    def match_and_rewrite(self, op, rewriter) -> bool:
        """Changes the program through ``rewriter`` and returns True, or leaves it as it is and returns False.

        ``rewriter`` has ``create(name, operands, attrs=None, types=None, num_regions=0)``, ``replace(op, values)``,
        ``erase(op)``, ``replace_all_uses(old, new)``, ``modify(op, function)``, ``set_insertion_point(op)`` and
        ``set_insertion_point_after(op)``. New operations go before ``op`` unless told.
        """
        raise NotImplementedError(f"[{type(self).__name__}] must define match_and_rewrite")

    def _spec(self) -> tuple:
        return ("function", self.name, self.root, self.benefit, self.match_and_rewrite)


class Drr:
    """A declared pattern: source operations, and what takes their place, over named values.

    ::

        drr = Drr("merge_scales")
        drr.source("pd_op.relu", ["x"], ["t"])
        drr.source("pd_op.relu", ["t"], ["y"])
        drr.result("pd_op.relu", ["x"], ["y"])

    The same name is the same value, "_" any value, "" an absent optional operand. What source and result both make is
    replaced; what only lies between must not be used elsewhere.
    """

    def __init__(self, name: str, benefit: int = 1) -> None:
        self.name, self.benefit = name, benefit
        self._source, self._result, self._replaced, self._where = [], [], [], []

    @staticmethod
    def capture(name: str) -> tuple:
        """For a source attribute: remembers it under ``name``."""
        return ("capture", name)

    @staticmethod
    def use(name: str) -> tuple:
        """For a result attribute: one that the source captured."""
        return ("use", name)

    @staticmethod
    def compute(function) -> tuple:
        """For a result attribute: ``function(match)``."""
        return ("compute", function)

    def source(self, op: str, operands, results, attrs=None) -> int:
        """An operation to find; attributes are values that must be equal, or ``capture``. Returns its number."""
        self._source.append((op, list(operands), list(results), _attrs(attrs)))
        return len(self._source) - 1

    def result(self, op: str, operands, results, attrs=None) -> int:
        """An operation to make; attributes are values, ``use`` or ``compute``. Types are inferred. Returns its number."""
        self._result.append((op, list(operands), list(results), _attrs(attrs)))
        return len(self._result) - 1

    def replace(self, source_value: str, by_value: str) -> Drr:
        """A result of the source simply is one of its inputs."""
        self._replaced.append((source_value, by_value))
        return self

    def where(self, constraint) -> Drr:
        """``constraint(match) -> bool`` must hold; a match has ``value(name)``, ``attr(captured)`` and ``op(number)``."""
        self._where.append(constraint)
        return self

    def _spec(self) -> tuple:
        holds = None if not self._where else (lambda match: all(w(match) for w in self._where))
        return ("drr", self.name, self.benefit, self._source, self._result, self._replaced, holds)


def _attrs(attrs) -> dict:
    kinds = ("capture", "use", "compute")
    return {
        k: v if isinstance(v, tuple) and len(v) == 2 and v[0] in kinds else ("literal", v)
        for k, v in (attrs or {}).items()
    }


def specs(patterns) -> list:
    """Patterns as the core takes them."""
    patterns = patterns if isinstance(patterns, (list, tuple)) else [patterns]
    return [p._spec() for p in patterns]


def apply_patterns(root, patterns, fold: bool = True, remove_dead: bool = True) -> dict:
    """Applies patterns to a program, block or operation until none matches.

    Returns:
        A dict: ``rewrites`` (with folds and removals), ``converged`` (False: patterns undo each other and were stopped),
        ``by_pattern``.

    Raises:
        ValueError: a declared pattern contradicts itself.
    """
    program = root if isinstance(root, Program) else None
    if program is not None:
        op = program.module_op()
    elif isinstance(root, (Block, ir.Block)):
        op = root.parent_op
    else:
        op = root
    rewrites, converged, by_pattern = ir.apply_patterns(op, specs(patterns), fold, remove_dead)
    if program is not None:
        program._edited()
    return {"rewrites": rewrites, "converged": converged, "by_pattern": by_pattern}
