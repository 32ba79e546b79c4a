"""Tables of where time went."""

from __future__ import annotations

import enum
from collections import defaultdict

_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
# Views, and the kinds of spans that each sums up.
_TITLES = {
    "Operator": "Operators", "Backward": "Gradients", "Program": "Programs", "Instruction": "Kernels in programs",
    "Group": "Compiled groups", "Compile": "Compilation",
}  # fmt: skip


class SortedKeys(enum.Enum):
    """What a table is sorted by. There is no GPU time on a CPU: those keys sort by CPU time."""

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(enum.Enum):
    """The tables of `Profiler.summary`."""

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


_KINDS = {
    SummaryView.OperatorView: ("Operator", "Backward"),
    SummaryView.KernelView: ("Program", "Instruction", "Group"),
    SummaryView.OverView: ("Compile",),
}


class Row:
    """All spans of one name and kind. `own`: without what ran inside of them."""

    def __init__(self):
        self.calls, self.total, self.own, self.most, self.least = 0, 0, 0, 0, None

    def add(self, duration: int, own: int) -> None:
        self.calls += 1
        self.total += duration
        self.own += own
        self.most = max(self.most, duration)
        self.least = duration if self.least is None else min(self.least, duration)

    def key(self, by: SortedKeys) -> float:
        return (self.total, self.total / self.calls, self.most, self.least)[by.value % 4]


def own_times(spans) -> list[int]:
    """Each span's duration without the spans of its thread that lie inside it; spans in order of their begin."""
    own = [s.duration for s in spans]
    open_by_thread = defaultdict(list)
    for i, s in enumerate(spans):
        stack = open_by_thread[s.thread]
        while stack and spans[stack[-1]].end <= s.begin:
            stack.pop()
        if stack and s.end <= spans[stack[-1]].end:
            own[stack[-1]] -= s.duration
        stack.append(i)
    return own


def rows_of(spans) -> dict[tuple[str, str], Row]:
    """(kind, name) -> Row."""
    rows = defaultdict(Row)
    for s, own in zip(spans, own_times(spans), strict=True):
        rows[s.kind, s.name].add(s.duration, own)
    return rows


def _table(title: str, rows: list[tuple[str, Row]], whole: int, unit: str) -> list[str]:
    scale, width = _UNITS[unit], min(60, max(len(n) for n, _ in rows))
    head = f"{'name':<{width}} {'calls':>7} {'total':>10} {'own':>10} {'avg':>10} {'max':>10} {'min':>10} {'own %':>6}"
    lines = ["", f"{title} (time in {unit})", "-" * len(head), head, "-" * len(head)]
    for name, r in rows:
        shown = name if len(name) <= width else name[: width - 3] + "..."
        times = (r.total, r.own, r.total / r.calls, r.most, r.least)
        figures = " ".join(f"{t / scale:>10.3f}" for t in times)
        lines.append(f"{shown:<{width}} {r.calls:>7} {figures} {100 * r.own / max(whole, 1):>6.1f}")
    return lines


def summary_text(spans, sorted_by: SortedKeys, unit: str, views, limit: int = 30) -> str:
    """The tables as text."""
    if unit not in _UNITS:
        raise ValueError(f"[summary] time_unit: expected one of {', '.join(_UNITS)}, got {unit!r}")
    if not spans:
        return "nothing was recorded"
    views = [views] if isinstance(views, SummaryView) else views
    wanted = None if views is None else {k for v in views for k in _KINDS.get(v, ())}
    whole = max(s.end for s in spans) - min(s.begin for s in spans)
    by_kind = defaultdict(list)
    for (kind, name), row in rows_of(spans).items():
        by_kind[kind].append((name, row))
    lines = [f"recorded: {whole / _UNITS[unit]:.3f} {unit}, {len(spans)} spans"]
    for kind in [*_TITLES, *(k for k in by_kind if k not in _TITLES)]:
        user = kind not in _TITLES
        if kind not in by_kind or (
            wanted is not None and kind not in wanted and not (user and SummaryView.UDFView in views)
        ):
            continue
        rows = sorted(by_kind[kind], key=lambda item: item[1].key(sorted_by), reverse=sorted_by.value % 4 != 3)
        lines += _table(_TITLES.get(kind, kind), rows[:limit], whole, unit)
        if len(rows) > limit:
            lines.append(f"... and {len(rows) - limit} more")
    return "\n".join(lines)
