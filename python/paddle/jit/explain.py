"""What became of a function: the program after every step, the compiled groups, and where its time goes."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

from .. import _core
from .api import to_static
from .memory_chart import cut_lines, memory_chart, memory_lines
from .static_function import StaticFunction

_RUNS = 5


@dataclass
class Step:
    """One thing that ran: an operator's kernel, or a compiled group."""

    name: str
    kind: str
    where: str
    milliseconds: float


@dataclass
class Explanation:
    """The result of `paddle.jit.explain`; ``str()`` is a summary, `to_html` a page with everything."""

    name: str
    report: str
    stages: list[tuple[str, str]]
    groups: list[dict]
    passes: list[tuple[str, float]]
    steps: list[Step]
    apart: list[tuple[bool, str, str, str]] = field(default_factory=list)
    path: str | None = None
    milliseconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    memory: list[dict] = field(default_factory=list)
    cut: list[tuple[bool, str, int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [self.report, ""]
        for name, text in self.stages:
            lines.append(f"{name}: {len(text.splitlines())} lines")
        lines.append(f"{len(self.groups)} groups")
        for i, g in enumerate(self.groups):
            lines.append(f"  {i}: {_title(g)}; {_traffic(g['bytes'], g['flops'])}"
                         + (f"; by kernels: {g['why_kernels']}" if g["why_kernels"] else ""))  # fmt: skip
            lines += [f"     {text}" for text in _kernels(g) + [_decision(d) for d in g["decisions"]]]
        if self.apart:
            lines += ["in no group", *(f"     {_decision(d)}" for d in self.apart)]
        lines += cut_lines(self.cut)
        for part in self.memory:
            lines += memory_lines(part)
        lines.append(f"one run: {self.milliseconds:.3f} ms")
        for s in sorted(self.steps, key=lambda s: -s.milliseconds)[:20]:
            lines.append(f"  {s.milliseconds:8.3f} ms  {s.kind:<11} {s.name}  {s.where}")
        lines += self.notes
        if self.path:
            lines.append(f"page: {self.path}")
        return "\n".join(lines)

    def to_html(self) -> str:
        """One self-contained page."""
        parts = [_HEAD.format(title=html.escape(self.name)), _section("Capture", _pre(self.report), True)]
        parts.append(_section("Time of one run", _bars(self.steps), True))
        for name, text in self.stages:
            parts.append(_section(f"Program: {name}", _pre(text)))
        for i, g in enumerate(self.groups):
            parts.append(_section(f"Group {i}: {_title(g)} ({_traffic(g['bytes'], g['flops'])})", _group(g)))
        if self.apart:
            parts.append(_section("In no group", _pre("\n".join(map(_decision, self.apart)))))
        if self.cut:
            parts.append(_section("Kept for the gradient", _pre("\n".join(cut_lines(self.cut)))))
        for part in self.memory:
            parts.append(_section(f"Memory: {part['name']}", memory_chart(part) + _pre("\n".join(memory_lines(part)))))
        rows = "".join(f"<tr><td>{html.escape(n)}</td><td class=n>{ms:.2f}</td></tr>" for n, ms in self.passes)
        parts.append(_section("Passes (ms)", f"<table>{rows}</table>"))
        return "".join(parts) + "</body></html>\n"


def _title(group: dict) -> str:
    """The operators of the group, in order."""
    names = [n for n in re.findall(r'= "\w+\.(\w+)"', group["operations"]) if n != "group"]
    return ", ".join(names[:10]) + (" ..." if len(names) > 10 else "")


def _traffic(moved: int, flops: int) -> str:
    if moved < 0:
        return "sizes known when it runs"
    return f"{moved / 1e6:.3f} MB moved, {flops / 1e6:.3f} Mflop"


def _kernels(group: dict) -> list[str]:
    """One line for each kernel: what it moves and computes, and why it isn't part of an earlier one."""
    return [
        f"{name}: {_traffic(moved, flops)}" + (f"; apart since {why}" if why else "")
        for name, why, moved, flops in group["kernels"]
    ]


def _decision(decision: tuple[bool, str, str, str]) -> str:
    joined, first, second, why = decision
    return f"{first} {'+' if joined else '|'} {second}: {why}"


_HEAD = """<!doctype html><html><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px sans-serif; margin: 2em auto; max-width: 1100px; padding: 0 1em; color: #222 }}
pre {{ background: #f6f6f4; padding: .8em; overflow-x: auto; font-size: 12px; line-height: 1.35 }}
summary {{ cursor: pointer; font-weight: 600; padding: .4em 0 }} table {{ border-collapse: collapse }}
td {{ padding: .1em .8em .1em 0; vertical-align: top }} .n {{ text-align: right; font-variant-numeric: tabular-nums }}
.bar {{ background: #3b75af; height: .8em; display: inline-block }} .Group {{ background: #4c9a5b }}
</style></head><body><h1>{title}</h1>
"""


def _pre(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def _section(title: str, body: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{html.escape(title)}</summary>{body}</details>\n"


def _bars(steps: list[Step]) -> str:
    most = max((s.milliseconds for s in steps), default=0.0) or 1.0
    rows = []
    for s in steps:
        bar = f'<span class="bar {s.kind}" style="width:{300 * s.milliseconds / most:.0f}px"></span>'
        rows.append(f"<tr><td>{html.escape(s.name)}</td><td>{html.escape(s.where)}</td>"
                    f"<td class=n>{s.milliseconds:.3f} ms</td><td>{bar}</td></tr>")  # fmt: skip
    return f"<table>{''.join(rows)}</table><p>Compiled groups in green, kernels of single operators in blue.</p>"


def _group(g: dict) -> str:
    parts = [_pre(g["operations"])]
    parts.append(_section("Why these, and not their neighbours", _pre("\n".join(map(_decision, g["decisions"]))), True))
    if g["kernels"]:
        parts.append(_section("Kernels", _pre("\n".join(_kernels(g))), True))
    if g["why_kernels"]:
        parts.append(f"<p>Runs by kernels: {html.escape(g['why_kernels'])}</p>")
    parts += [_section(f"{name} ({ms:.2f} ms)", _pre(text)) for name, text, ms in g["steps"]]
    if g["assembly"]:
        parts.append(_section("machine code", _pre(g["assembly"])))
    return "".join(parts)


def _run(fn, args, kwargs) -> tuple[float, list[Step]]:
    """The median run of a few, by its spans."""
    runs = []
    for _ in range(_RUNS):
        _core.profile.start()
        fn(*args, **kwargs)
        spans = [s for s in _core.profile.stop() if s[1] in ("Instruction", "Group")]
        runs.append([Step(name, kind, where, (end - begin) / 1e6) for name, kind, begin, end, _, where in spans])
    runs.sort(key=lambda steps: sum(s.milliseconds for s in steps))
    middle = runs[len(runs) // 2]
    return sum(s.milliseconds for s in middle), middle


def explain(fn, *args, path: str | None = None, **kwargs) -> Explanation:
    """Runs `fn` and tells what the compiler made of it. An addition of this framework.

    Args:
        fn: a function or Layer, or what `to_static` made of one; it is run several times.
        args, kwargs: its arguments.
        path: where to write an HTML page with all of it; none is written by default.

    Returns:
        An `Explanation`: printed, a summary; `to_html()` gives the page. It holds the captured program with source
        lines, the program after sharding, decomposition and fusion, every group with the compiler's steps, its machine
        code, each kernel's bytes and floating-point operations, and why operations were fused (`a + b: reason`) or not
        (`a | b: reason`), the passes with their times, the time of each instruction, what is in memory at the
        instruction where most is (`memory`: the page draws it), and what a forward part keeps for the gradient and what
        that computes again (`cut`).

    Raises:
        RuntimeError: nothing of the function could be captured.
    """
    static = fn if isinstance(fn, StaticFunction) else getattr(fn, "forward", None)
    if not isinstance(static, StaticFunction):
        fn = to_static(fn)
        static = fn if isinstance(fn, StaticFunction) else fn.forward
    _core.profile.start()
    fn(*args, **kwargs)
    passes = [(name, (end - begin) / 1e6) for name, kind, begin, end, *_ in _core.profile.stop() if kind == "Compile"]
    entry = static._last
    if entry is None:
        raise RuntimeError(f"[explain] nothing of {static} was captured: {static.report()}")
    milliseconds, steps = _run(fn, args, kwargs)
    program = entry.runner.program
    groups, apart = _core.profile.groups(program)
    result = Explanation(
        static._function.__qualname__, str(static.report()), program.stages(), groups, passes, steps, apart, path,
        milliseconds, memory=_core.profile.memory(program), cut=_core.profile.cut(program),
    )  # fmt: skip
    if path:
        with open(path, "w") as f:
            f.write(result.to_html())
    return result
