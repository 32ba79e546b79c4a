"""Throughput of a training loop: time per batch, time waiting for data, samples per second."""

from __future__ import annotations

import time


class StepTimer:
    """Means over the steps since the last `info()`."""

    def __init__(self):
        self._last = None
        self._clear()
        self._reader_begin = None

    def _clear(self):
        self.steps, self.seconds, self.reader_seconds, self.samples = 0, 0.0, 0.0, 0

    def begin(self) -> None:
        self._last = time.perf_counter()

    def step(self, num_samples: int | None) -> None:
        now = time.perf_counter()
        if self._last is not None:
            self.steps += 1
            self.seconds += now - self._last
            self.samples += num_samples or 0
        self._last = now

    def before_reader(self) -> None:
        self._reader_begin = time.perf_counter()

    def after_reader(self) -> None:
        if self._reader_begin is not None:
            self.reader_seconds += time.perf_counter() - self._reader_begin
            self._reader_begin = None

    def info(self, unit: str | None) -> str:
        steps = max(self.steps, 1)
        per_second = (self.samples or self.steps) / self.seconds if self.seconds else 0.0
        unit = unit or ("samples" if self.samples else "steps")
        text = (f" reader_cost: {self.reader_seconds / steps:.5f} s batch_cost: {self.seconds / steps:.5f} s "
                f"ips: {per_second:.3f} {unit}/s")  # fmt: skip
        self._clear()
        return text


active: StepTimer | None = None  # the running profiler's; DataLoader tells it when it is waited for
