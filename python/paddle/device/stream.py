"""Streams and events. A device without queues, as the CPU is, does each thing when it is asked: its stream is always
done."""

from __future__ import annotations

import time

from ..base import core
from ..framework.place import convert_to_place


class Event:
    """A moment on a stream; with ``enable_timing`` the time between two can be asked."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._timing, self._time = enable_timing, None

    def record(self, stream=None) -> None:
        """Marks now, after all that was asked of ``stream``."""
        (stream or current_stream()).synchronize()
        self._time = time.perf_counter()

    def query(self) -> bool:
        """Whether the moment has passed."""
        return True

    def synchronize(self) -> None:
        """Waits for the moment."""

    def elapsed_time(self, end_event) -> float:
        """Milliseconds from this event to ``end_event``.

        Raises:
            RuntimeError: one was not recorded, or not made with ``enable_timing``.
        """
        if self._time is None or end_event._time is None or not (self._timing and end_event._timing):
            raise RuntimeError("[Event] elapsed_time needs two recorded events made with enable_timing=True")
        return (end_event._time - self._time) * 1e3


class Stream:
    """A queue of work on a device."""

    def __init__(self, device=None, priority: int = 2, stream_base=None) -> None:
        self.device = core.current_place() if device is None else convert_to_place(device)
        self.priority, self.stream_base = priority, stream_base

    def wait_event(self, event) -> None:
        """Later work waits for ``event``."""
        event.synchronize()

    def wait_stream(self, stream) -> None:
        """Later work waits for what ``stream`` has been asked so far."""
        stream.synchronize()

    def record_event(self, event=None):
        """Records ``event`` (a new one by default) here, and returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all work is done."""
        return True

    def synchronize(self) -> None:
        """Waits until all work is done."""
        wait = getattr(core._core, "synchronize", None)
        if wait is not None:
            wait(self.device)


_current: Stream | None = None


def current_stream(device=None) -> Stream:
    """The stream that work goes to."""
    global _current
    if _current is None:
        _current = Stream(device)
    return _current


def set_stream(stream: Stream) -> Stream:
    """Makes ``stream`` current; returns the one before."""
    global _current
    before = current_stream()
    _current = stream
    return before


class StreamContext:
    """``stream`` is current inside; None changes nothing."""

    def __init__(self, stream=None) -> None:
        self.stream = stream

    def __enter__(self):
        self._before = set_stream(self.stream) if self.stream is not None else None
        return self.stream

    def __exit__(self, *exception) -> bool:
        if self._before is not None:
            set_stream(self._before)
        return False


def stream_guard(stream=None) -> StreamContext:
    """A context in which ``stream`` is current; None changes nothing."""
    return StreamContext(stream)


def get_stream_from_external(data_ptr: int, device=None) -> Stream:
    """A stream that another library made.

    Raises:
        ValueError: the device has no streams of its own.
    """
    raise ValueError("[get_stream_from_external] the current device has no streams to share")
