"""Programs that are built by calling operators, and which of them is being built.

In static mode one program, the main program, takes what operators append; parameters append their first values to the
start-up program beside it. Both can be replaced for the length of a ``with`` block.
"""

from __future__ import annotations

import contextlib

from ..framework import mode
from ..pir.program import Program

__all__ = [
    "Program",
    "default_main_program",
    "default_startup_program",
    "program_guard",
    "switch_main_program",
    "switch_startup_program",
]

_main = Program()
_startup = Program()


def default_main_program() -> Program:
    """The program that operators are appended to in static mode."""
    return _main


def default_startup_program() -> Program:
    """The program that gives parameters their first values."""
    return _startup


def switch_main_program(program: Program) -> Program:
    """Makes ``program`` the main program; returns the one before."""
    global _main
    before = _main
    if program is not before and mode.in_static_mode():
        before._leave()
        try:
            program._enter()
        except BaseException:
            before._enter()
            raise
    _main = program
    return before


def switch_startup_program(program: Program) -> Program:
    """Makes ``program`` the start-up program; returns the one before."""
    global _startup
    before, _startup = _startup, program
    return before


@contextlib.contextmanager
def program_guard(main_program, startup_program=None):
    """Inside the block operators are appended to ``main_program`` and first values to ``startup_program``.

    Raises:
        TypeError: an argument is no Program.
    """
    if not isinstance(main_program, Program):
        raise TypeError(
            f"The type of 'main_program' in paddle.static.program_guard must be {Program}, but received "
            f"{type(main_program)}."
        )
    if startup_program is not None and not isinstance(startup_program, Program):
        raise TypeError(
            f"The type of 'startup_program' in paddle.static.program_guard must be {Program}, but received "
            f"{type(startup_program)}."
        )
    main = switch_main_program(main_program)
    startup = switch_startup_program(startup_program) if startup_program is not None else None
    try:
        yield
    finally:
        switch_main_program(main)
        if startup is not None:
            switch_startup_program(startup)


@contextlib.contextmanager
def appending_to(program: Program):
    """Operators called inside the block are appended to ``program`` instead of the main one."""
    entered = _main if mode.in_static_mode() else None
    if program is entered:
        yield
        return
    if entered is not None:
        entered._leave()
    try:
        program._enter()
        try:
            yield
        finally:
            program._leave()
    finally:
        if entered is not None:
            entered._enter()


def _on_mode_change(static: bool) -> None:
    from ..base import state
    from .state import StaticMaker

    if static:
        _main._enter()
        state.install(StaticMaker())
    else:
        _main._leave()
        state.install(None)


mode.on_mode_change(_on_mode_change)
