"""Spans that Python marks itself."""

from __future__ import annotations

import enum
import functools
import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """One thing that ran: nanoseconds of `time.perf_counter_ns`, `kind` as the core or `RecordEvent` names it."""

    name: str
    kind: str
    begin: int
    end: int
    thread: int
    detail: str = ""

    @property
    def duration(self) -> int:
        return self.end - self.begin


class TracerEventType(enum.Enum):
    """What a user's span stands for."""

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    Forward = 6
    Backward = 7
    Optimization = 8
    Communication = 9
    PythonOp = 10
    PythonUserDefined = 11
    UserDefined = 12


recorded: list[Span] | None = None  # None while nobody records


class RecordEvent:
    """A named span of the user's code: a context manager, a decorator, or `begin()` and `end()`.

    Args:
        name: shown in traces and tables.
        event_type: what the span stands for; user-defined by default.
    """

    def __init__(self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined):
        if not isinstance(name, str):
            raise TypeError(f"[RecordEvent] expected a str for name, got {type(name).__name__}")
        self.name = name
        self.event_type = event_type
        self._begin = None

    def begin(self) -> None:
        """The span starts here; nothing is kept while no profiler records."""
        self._begin = time.perf_counter_ns() if recorded is not None else None

    def end(self) -> None:
        """The span ends here."""
        if self._begin is None or recorded is None:
            return
        thread = threading.get_ident()
        recorded.append(Span(self.name, self.event_type.name, self._begin, time.perf_counter_ns(), thread))
        self._begin = None

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *exc):
        self.end()

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with RecordEvent(self.name, self.event_type):
                return function(*args, **kwargs)

        return wrapped


def start_recording() -> None:
    global recorded
    recorded = []


def stop_recording() -> list[Span]:
    global recorded
    spans, recorded = recorded or [], None
    return spans
