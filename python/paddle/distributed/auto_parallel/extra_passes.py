"""Passes that run on the programs of one model."""

from __future__ import annotations

import contextlib

from paddle import pir
from paddle._core import ir


@contextlib.contextmanager
def added_passes(names):
    """Within it the passes run on every program that this thread compiles, besides those that run anyway: ranks may be
    threads, each with a model of its own.

    Raises:
        ValueError: a name that no pass has.
    """
    manager = pir.PassManager()
    for name in names:
        manager.add_pass(name)
    ir.enter_passes(manager.passes())
    try:
        yield
    finally:
        ir.leave_passes()
