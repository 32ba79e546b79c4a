"""Averages of parameters over the last steps (Polyak averaging over a window)."""

from __future__ import annotations

import contextlib

from ...autograd.grad_mode import no_grad
from ...base import core
from ...optimizer import Optimizer


class ModelAverage(Optimizer):
    """Sums the parameters at every ``step``; ``apply`` puts their mean in place.

    The window is ``average_window_rate`` times the number of steps, within ``min_average_window`` and
    ``max_average_window``; when it is full the sum starts anew and the former one still counts.
    """

    def __init__(
        self,
        average_window_rate: float,
        parameters=None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        super().__init__(0.0, parameters, None, None, name)
        self.average_window = average_window_rate
        self.min_average_window, self.max_average_window = min_average_window, max_average_window
        self.type = "average_accumulates"
        self._updates = self._in_sum = self._in_former = 0
        self._restore: dict = {}

    @no_grad()
    def step(self) -> None:
        """Adds the parameters as they are now."""
        self._updates += 1
        self._in_sum += 1
        full = self._in_sum >= self.min_average_window and self._in_sum >= min(
            self.max_average_window, self._updates * self.average_window
        )
        for p in self._parameter_list:
            total = self._add_accumulator("sum_1", p)
            former = self._add_accumulator("sum_3", p)
            core.assign_(total, total + p.detach())
            if full:
                core.assign_(former, total)
                core.assign_(total, total * 0.0)
        if full:
            self._in_former, self._in_sum = self._in_sum, 0

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None) -> None:
        """``step``."""
        self.step()

    @contextlib.contextmanager
    def apply(self, executor=None, need_restore: bool = True):
        """The parameters are their means inside; afterwards as before, unless ``need_restore`` is False."""
        count = self._in_sum + self._in_former
        with no_grad():
            for p in self._parameter_list if count else []:
                self._restore[p.name] = core.clone(p)
                mean = (self._get_accumulator("sum_1", p) + self._get_accumulator("sum_3", p)) / float(count)
                core.assign_(p, mean)
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    @no_grad()
    def restore(self, executor=None) -> None:
        """Takes the parameters from before ``apply`` back."""
        for p in self._parameter_list:
            value = self._restore.pop(p.name, None)
            if value is not None:
                core.assign_(p, value)
