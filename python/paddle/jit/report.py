"""What a static function captured, when it was traced again, and why."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """One thing that happened to a static function.

    ``kind`` is ``traced`` (first time), ``retraced``, ``segmented`` (interrupted: ``breaks`` say where and why, and what was captured
    between) or ``eager`` (could not be captured at all); ``reasons`` say why.
    """

    kind: str
    call: int
    inputs: list[str]
    reasons: list[str]
    operators: int | None = None
    seconds: float = 0.0
    breaks: tuple = ()


class Report:
    """The history of one static function; ``str()`` gives it as text, ``events`` as data."""

    def __init__(self, name: str, events: list[Event], calls: int, programs: int, functions: list[str]) -> None:
        self.name, self.events, self.calls, self.programs = name, events, calls, programs
        self.functions = functions

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.calls} calls, {self.programs} programs, traced {self.traces} times"]
        for e in self.events:
            size = f", {e.operators} operators" if e.operators is not None else ""
            lines.append(
                f"  call {e.call}: {e.kind} in {e.seconds * 1e3:.1f} ms{size}; inputs {', '.join(e.inputs) or 'none'}"
            )
            lines += [f"    because {r}" for r in e.reasons]
            for b in (b for b in e.breaks if b.operators):
                what = "compiled" if b.compiled else "known"
                lines.append(f"    segment of {b.operators} operators, {what}, up to {b.where or 'the end'}: {b.why}")
        if self.functions:
            lines.append(f"  functions captured: {', '.join(self.functions)}")
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def traces(self) -> int:
        return sum(e.kind in ("traced", "retraced") for e in self.events)
