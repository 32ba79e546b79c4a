"""How far a run is, on the terminal."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

__all__ = []


def _shown(value) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.4f}" if abs(value) > 1e-3 else f"{value:.4e}"
    return str(value)


def _pace(seconds: float, unit: str) -> str:
    for scale, suffix in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f" - {seconds / scale:.0f}{suffix}/{unit}"
    return f" - {seconds * 1e6:.0f}us/{unit}"


def _remaining(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if seconds > 3600:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if seconds > 60 else f"{rest}s"


class ProgressBar:
    """Writes the count of steps, values and the time per step.

    Args:
        num (int, optional): how many steps there will be.
        width (int): characters of the bar.
        verbose (int): 0 is silent, 1 a bar that is written over, 2 a line for each update.
        start (bool): the time counts from now on.
        file (file): where it is written.
        name (str): what a step is called.

    Raises:
        TypeError: `num` is neither None nor an integer above 0.
    """

    def __init__(self, num=None, width=30, verbose=1, start=True, file=None, name="step") -> None:
        if num is not None and (not isinstance(num, int) or num <= 0):
            raise TypeError("num should be None or integer (> 0)")
        self._num, self._width, self._verbose, self.name = num, width, verbose, name
        self.file = sys.stdout if file is None else file
        self._total_width = 0
        # Written over wherever backspaces are understood; elsewhere each update has a line of its own.
        terminal = getattr(self.file, "isatty", lambda: False)()
        self._dynamic_display = terminal or os.name == "posix" or "ipykernel" in sys.modules
        if start:
            self.start()

    def start(self) -> None:
        """The time counts from here."""
        self.file.flush()
        self._start = time.time()

    def update(self, current_num, values=()) -> None:
        """After step `current_num`; `values` are pairs (name, number or list of numbers)."""
        seconds = (time.time() - self._start) / current_num if current_num else 0
        info = "".join(
            f" - {k}:" + "".join(f" {_shown(v)}" for v in (value if isinstance(value, list) else [value]))
            for k, value in values
        )
        if self._verbose == 1:
            self._write_bar(current_num, info, seconds)
        elif self._verbose in (2, 3):
            self.file.write(self._count(current_num) + info + _pace(seconds, self.name) + "\n")
            self.file.flush()

    def _count(self, current: int) -> str:
        if self._num is None:
            return f"{self.name} {current:3d}"
        return f"{self.name} {current:{len(str(self._num))}d}/{self._num}"

    def _bar(self, current: int) -> str:
        if self._num is None:
            return self._count(current)
        done = int(self._width * current / self._num)
        head = "" if not done else "=" * (done - 1) + (">" if current < self._num else "=")
        return f"{self._count(current)} [{head}{'.' * (self._width - done)}]"

    def _write_bar(self, current: int, info: str, seconds: float) -> None:
        before = self._total_width
        self.file.write("\b" * before + "\r" if self._dynamic_display else "\n")
        if self._num is not None and current < self._num:
            info += f" - ETA: {_remaining(seconds * (self._num - current))}"
        line = self._bar(current) + info + _pace(seconds, self.name)
        self._total_width = len(line)
        line = line.ljust(before)
        if self._num is None or current >= self._num:
            line += "\n"
        self.file.write(line)
        self.file.flush()
