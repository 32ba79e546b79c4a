"""What a profiler recorded, in memory and as a Chrome trace file."""

from __future__ import annotations

import json
import os

from .spans import Span


class ProfilerResult:
    """Spans of one recording, in order of their begin."""

    def __init__(self, spans: list[Span], steps: tuple[int, int] = (0, 0)):
        self.spans = sorted(spans, key=lambda s: (s.begin, -s.end))
        self.steps = steps

    def save(self, file_name: str, format: str = "json") -> None:
        """Writes a Chrome trace (`chrome://tracing`, Perfetto)."""
        if format not in ("json", "pb"):
            raise ValueError(f"[export] format: expected json or pb, got {format!r}")
        trace = {"displayTimeUnit": "ms", "traceEvents": list(self._trace_events())}
        temporary = f"{file_name}.{os.getpid()}.tmp"
        with open(temporary, "w") as f:
            json.dump(trace, f)
        os.replace(temporary, file_name)

    def _trace_events(self):
        process = os.getpid()
        threads = {t: i for i, t in enumerate(dict.fromkeys(s.thread for s in self.spans))}
        for thread, index in threads.items():
            name = "Python" if index == 0 else f"thread {index}"
            yield {"ph": "M", "pid": process, "tid": thread, "name": "thread_name", "args": {"name": name}}
        for s in self.spans:
            yield {"ph": "X", "pid": process, "tid": s.thread, "name": s.name, "cat": s.kind,
                   "ts": s.begin / 1000, "dur": s.duration / 1000, "args": {"detail": s.detail}}  # fmt: skip


def load_profiler_result(filename: str) -> ProfilerResult:
    """Reads a file that `Profiler.export` wrote.

    Raises:
        ValueError: the file is not such a trace.
    """
    with open(filename) as f:
        try:
            events = json.load(f)["traceEvents"]
            spans = [Span(e["name"], e["cat"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["tid"],
                          e["args"]["detail"]) for e in events if e["ph"] == "X"]  # fmt: skip
        except (KeyError, TypeError, ValueError) as fault:
            raise ValueError(f"[load_profiler_result] {filename}: not a trace of this profiler ({fault})") from None
    return ProfilerResult(spans)
