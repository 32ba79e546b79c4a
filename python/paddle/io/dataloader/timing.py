"""Tells a running profiler how long a loop waits for data."""

from __future__ import annotations

import functools
import sys


def timed(next_batch):
    """`__next__`, measured while a profiler runs."""

    @functools.wraps(next_batch)
    def wrapped(self):
        timer = sys.modules.get("paddle.profiler.timer")  # not imported for its own sake
        if timer is None or timer.active is None:
            return next_batch(self)
        from ...profiler.spans import RecordEvent, TracerEventType

        timer.active.before_reader()
        try:
            with RecordEvent("DataLoader", TracerEventType.Dataloader):
                return next_batch(self)
        finally:
            if timer.active is not None:
                timer.active.after_reader()

    return wrapped
