"""Loops and checks as statements, as Paddle 2's programs write them."""

from __future__ import annotations

import contextlib

from ..._core import ir
from ...jit import _trace_api as api

__all__ = ["Assert", "While"]


class While:
    """A loop whose body is a ``with`` block. What the body writes in place goes from round to round, the condition included.

    ::

        loop = While(cond=paddle.less_than(i, n))
        with loop.block():
            total = paddle.assign(total + i, total)
            paddle.increment(i)
            paddle.assign(paddle.less_than(i, n), cond)

    Args:
        cond: a bool variable with one element.

    Raises:
        TypeError: ``cond`` is no bool variable. ValueError: it has more than one element, or the body doesn't write it.
    """

    def __init__(self, cond, is_test: bool = False, name=None) -> None:
        if not api.is_tensor(cond) or api.dtype_name(cond.dtype) != "bool":
            raise TypeError(f"The type of 'cond' in While must be a bool Variable, but received {type(cond)}")
        if cond.size != 1:
            raise ValueError(f"condition expected one element, but received shape {list(cond.shape)}")
        self._cond = cond

    @contextlib.contextmanager
    def block(self):
        """The body."""
        loop = ir.Loop()
        loop.enter()
        try:
            yield
        finally:
            loop.leave()
        loop.close(self._cond)


def Assert(cond, data=None, summarize: int = 20, name=None) -> None:
    """Stops the run where ``cond`` doesn't hold, with the values of ``data``.

    Args:
        cond: a bool variable with one element.
        data: variables whose values are shown.

    Raises:
        AssertionError: when the program runs.
    """
    if api.is_traced(cond):
        values = [part for d in data or [] for part in (", " if d is not (data or [])[0] else ": ", (d, "", ""))]
        api.assert_(cond, ["Assert", *values])
    elif not bool(cond):
        raise AssertionError("Assert: " + ", ".join(str(d) for d in data or []))
