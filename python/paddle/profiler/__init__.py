"""Where time goes: spans of operators, programs, gradients, compiler steps and the user's own code; Chrome traces and tables."""

from __future__ import annotations

from .profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    export_chrome_tracing,
    export_protobuf,
    make_scheduler,
)
from .result import ProfilerResult, load_profiler_result
from .spans import RecordEvent, TracerEventType
from .summary import SortedKeys, SummaryView

__all__ = [
    "ProfilerState",
    "ProfilerTarget",
    "make_scheduler",
    "export_chrome_tracing",
    "export_protobuf",
    "Profiler",
    "RecordEvent",
    "load_profiler_result",
    "SortedKeys",
    "SummaryView",
]
