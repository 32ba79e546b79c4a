"""Named stopwatches that a job's parts share."""

from __future__ import annotations

import time

from ...per_rank import PerRank

_timers = PerRank()


class Timer:
    """A stopwatch that may be started and stopped many times."""

    def __init__(self, name) -> None:
        self.name = name
        self.reset()

    def reset(self) -> None:
        self._total, self._since = 0.0, None

    def start(self) -> None:
        """Goes on. RuntimeError if it is running."""
        if self._since is not None:
            raise RuntimeError(f"the timer {self.name!r} is running already")
        self._since = time.perf_counter()

    def stop(self) -> None:
        """Stands still. RuntimeError if it does already."""
        if self._since is None:
            raise RuntimeError(f"the timer {self.name!r} is not running")
        self._total += time.perf_counter() - self._since
        self._since = None

    def elapsed(self, reset=True) -> float:
        """Seconds so far; with ``reset`` it begins anew. If it was running it goes on."""
        running = self._since is not None
        if running:
            self.stop()
        seconds = self._total
        if reset:
            self.reset()
        if running:
            self.start()
        return seconds


class Timers:
    """Timers by name; ``timers(name)`` makes one when it is first asked for."""

    def __init__(self) -> None:
        self.timers: dict = {}

    def __call__(self, name, use_event=False) -> Timer:
        return self.timers.setdefault(name, Timer(name))

    def log(self, names, normalizer=1.0, reset=True) -> None:
        """Prints milliseconds, divided by ``normalizer``, of some timers.

        Raises:
            ValueError: a normalizer that is not positive.
        """
        if normalizer <= 0:
            raise ValueError(f"[timers.log] expected normalizer > 0, got {normalizer}")
        parts = [f"{n}: {self.timers[n].elapsed(reset) * 1000.0 / normalizer:.2f}" for n in names]
        print("time (ms)" + "".join(f" | {p}" for p in parts), flush=True)


def is_timer_initialized() -> bool:
    return _timers.get() is not None


def set_timers() -> None:
    """Makes this rank's timers. RuntimeError if there are some."""
    if is_timer_initialized():
        raise RuntimeError("timers has been already initialized.")
    _timers.set(Timers())


def get_timers() -> Timers:
    """This rank's timers. RuntimeError before :func:`set_timers`."""
    if not is_timer_initialized():
        raise RuntimeError("timers is not initialized.")
    return _timers.get()
