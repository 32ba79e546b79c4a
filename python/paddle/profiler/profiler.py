"""The profiler: which steps are recorded, and what is done with them."""

from __future__ import annotations

import enum
import os
import socket
import time
from collections.abc import Callable, Iterable

from .. import _core
from . import spans as _spans
from . import timer as _timer
from .result import ProfilerResult
from .spans import RecordEvent, Span, TracerEventType
from .summary import SortedKeys, summary_text


class ProfilerState(enum.Enum):
    """What happens during a step."""

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3  # the last step of a recording


class ProfilerTarget(enum.Enum):
    """Devices to record."""

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


_RECORDING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerState]:
    """A function from the step's number to its state: cycles of `closed`, `ready` and `record` steps.

    Args:
        closed, ready, record: steps of each kind in a cycle; record is at least 1.
        repeat: number of cycles; 0 is without end.
        skip_first: steps before the first cycle.

    Raises:
        ValueError: a count is negative, or record is 0.
    """
    if min(closed, ready, repeat, skip_first) < 0 or record < 1:
        raise ValueError("[make_scheduler] expected counts of at least 0 and record of at least 1")
    cycle = closed + ready + record

    def state(step: int) -> ProfilerState:
        step -= skip_first
        if step < 0 or (repeat and step >= repeat * cycle):
            return ProfilerState.CLOSED
        at = step % cycle
        if at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD_AND_RETURN if at == cycle - 1 else ProfilerState.RECORD

    return state


def _trace_writer(dir_name: str, worker_name: str | None, ending: str):
    os.makedirs(dir_name, exist_ok=True)

    def write(profiler: Profiler) -> None:
        worker = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"
        stamp = time.strftime("%Y_%m_%d_%H_%M_%S") + f"_{time.time_ns() // 1000000 % 1000:03d}"
        profiler.export(os.path.join(dir_name, f"{worker}_time_{stamp}.{ending}"), format="json")

    return write


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable:
    """For `on_trace_ready`: writes each recording as a Chrome trace into the folder."""
    return _trace_writer(dir_name, worker_name, "paddle_trace.json")


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable:
    """For `on_trace_ready`: writes each recording into the folder, in the form that `load_profiler_result` reads."""
    return _trace_writer(dir_name, worker_name, "paddle_trace.pb")


def _schedule(scheduler) -> Callable[[int], ProfilerState]:
    if scheduler is None:
        return lambda step: ProfilerState.RECORD
    if callable(scheduler):
        return scheduler
    if isinstance(scheduler, (tuple, list)) and len(scheduler) == 2 and 0 <= scheduler[0] < scheduler[1]:
        begin, end = scheduler
        return make_scheduler(closed=max(begin - 1, 0), ready=int(begin > 0), record=end - begin, repeat=1)
    raise TypeError(f"[Profiler] scheduler: expected a function or (begin, end), got {scheduler!r}")


class Profiler:
    """Records what runs between `start()` and `stop()`, step by step; also a context manager.

    Args:
        targets: `ProfilerTarget`s to record; what this machine has by default.
        scheduler: a function from step number to `ProfilerState`, or (begin, end) of the steps to record.
        on_trace_ready: called with the profiler when a recording ends.
        record_shapes: keep the inputs' shapes of operators.
        timer_only: only measure throughput (`step_info`), record nothing.
        profile_memory, emit_nvtx, custom_device_types, with_flops: taken for callers' sake; need a device that isn't here.
    """

    def __init__(
        self, *, targets: Iterable[ProfilerTarget] | None = None, scheduler=None, on_trace_ready: Callable | None = None,
        record_shapes: bool = False, profile_memory: bool = False, timer_only: bool = False, emit_nvtx: bool = False,
        custom_device_types: list | None = None, with_flops: bool = False,
    ):  # fmt: skip
        for t in targets or ():
            if not isinstance(t, ProfilerTarget):
                raise TypeError(f"[Profiler] targets: expected ProfilerTarget, got {t!r}")
        self.targets = list(targets or [ProfilerTarget.CPU])
        self.scheduler = _schedule(scheduler)
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.timer_only = timer_only
        self.step_num = 0
        self.current_state = ProfilerState.CLOSED
        self.profiler_result: ProfilerResult | None = None
        self._timer = _timer.StepTimer()
        self._step_event: RecordEvent | None = None

    def start(self) -> None:
        """Begins to record, as the schedule says."""
        _timer.active = self._timer
        self._timer.begin()
        if not self.timer_only:
            self._enter(self.scheduler(self.step_num))

    def stop(self) -> None:
        """Ends recording."""
        if _timer.active is self._timer:
            _timer.active = None
        if self.current_state in _RECORDING:
            self._finish()
        self.current_state = ProfilerState.CLOSED

    def step(self, num_samples: int | None = None) -> None:
        """One step of the loop is over."""
        self._timer.step(num_samples)
        self._end_step()
        previous, self.step_num = self.current_state, self.step_num + 1
        if self.timer_only:
            return
        if previous == ProfilerState.RECORD_AND_RETURN:
            self._finish()
        self._enter(self.scheduler(self.step_num))

    def step_info(self, unit: str | None = None) -> str:
        """Means since the last call: waiting for data, time of a step, samples (or `unit`) per second."""
        return self._timer.info(unit)

    def export(self, path: str, format: str = "json") -> None:
        """Writes the last recording as a Chrome trace.

        Raises:
            RuntimeError: nothing has been recorded yet.
        """
        self._result().save(path, format)

    def summary(
        self, sorted_by: SortedKeys = SortedKeys.CPUTotal, op_detail: bool = True, thread_sep: bool = False,
        time_unit: str = "ms", views=None,
    ) -> None:  # fmt: skip
        """Prints tables of the last recording: operators, gradients, programs, compiled groups, compilation, own spans."""
        print(summary_text(self._result().spans, sorted_by, time_unit, views))

    def _result(self) -> ProfilerResult:
        if self.profiler_result is None:
            raise RuntimeError(
                "[Profiler] nothing has been recorded yet: a recording ends with its last step, or stop()"
            )
        return self.profiler_result

    def _enter(self, state: ProfilerState) -> None:
        if state in _RECORDING and self.current_state not in _RECORDING:
            self._first_step = self.step_num
            _spans.start_recording()
            _core.profile.start()
        elif state not in _RECORDING and self.current_state in _RECORDING:
            self._finish()
        self.current_state = state
        if state in _RECORDING:
            self._step_event = RecordEvent(f"ProfileStep#{self.step_num}", TracerEventType.ProfileStep)
            self._step_event.begin()

    def _end_step(self) -> None:
        if self._step_event:
            self._step_event.end()
            self._step_event = None

    def _finish(self) -> None:
        self._end_step()
        core = [Span(*row) for row in _core.profile.stop()]
        if not self.record_shapes:
            core = [s if s.kind != "Operator" else Span(s.name, s.kind, s.begin, s.end, s.thread) for s in core]
        self.profiler_result = ProfilerResult(core + _spans.stop_recording(), (self._first_step, self.step_num))
        self.current_state = ProfilerState.CLOSED
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()
