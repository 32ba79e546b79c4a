"""Parts of a function that can't be captured run in Python, between segments of the program (see ``capture.Request.segments``).

A branch or loop that fails to become an operator is undone and run by Python; asking the condition for its truth value ends
the segment before it.
"""

from __future__ import annotations

from .. import _trace_api as api
from .._state import state
from .errors import Dy2StaticError


def breakable() -> bool:
    """The capture may be interrupted; perhaps not just here, but at the outermost branch or loop around."""
    return state.recorder is not None and state.recorder.breakable


def here() -> bool:
    """The capture may be interrupted at this place."""
    return breakable() and api.can_break()


def reasons() -> tuple:
    """Exceptions that say: this can't be part of a program."""
    return (Dy2StaticError, api.graph_break_error(), NotImplementedError)


def note(error: BaseException) -> None:
    """Remember why the next interruption happens."""
    state.recorder.why = f"{type(error).__name__}: {error}"
