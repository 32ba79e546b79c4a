"""Exponential moving averages of parameters, as parts of programs."""

from __future__ import annotations

import contextlib

import paddle

from .._core import trace
from ..base import core, unique_name
from .program import default_main_program
from .scope import global_scope
from .variables import create_global_var

__all__ = ["ExponentialMovingAverage"]


class ExponentialMovingAverage:
    """``ema <- decay * ema + (1 - decay) * parameter`` at each run, divided by ``1 - decay^t`` when applied.

    Args:
        decay: between 0 and 1.
        thres_steps: a variable with the number of steps; the decay is then at most ``(1 + steps) / (10 + steps)``.
        name: prefix of the averages' names.
    """

    def __init__(self, decay: float = 0.999, thres_steps=None, name=None) -> None:
        self._decay, self._steps = decay, thres_steps
        self._name = (name + "_") if name else ""
        self._averages = []
        main = default_main_program()
        for parameter in main.all_parameters():
            if parameter.stop_gradient:
                continue
            label = unique_name.generate(self._name + parameter.name + "_ema")
            average = create_global_var(list(parameter.shape), 0.0, parameter.dtype, True, name=label)
            self._averages.append((parameter, average))
        self._power = create_global_var(
            [1], 1.0, "float32", True, name=unique_name.generate(self._name + "ema_decay_pow")
        )

    def _rate(self):
        if self._steps is None:
            return self._decay
        steps = self._steps.astype("float32")
        return paddle.minimum((steps + 1.0) / (steps + 10.0), paddle.full_like(steps, self._decay))

    def update(self) -> None:
        """Appends the update to the main program."""
        main = default_main_program()
        role, main._role = main._role, 2
        try:
            with paddle.no_grad():
                rate = self._rate()
                for parameter, average in self._averages:
                    paddle.assign(average * rate + parameter * (1.0 - rate), average)
                paddle.assign(self._power * rate, self._power)
        finally:
            main._role = role

    @contextlib.contextmanager
    def apply(self, executor, need_restore: bool = True):
        """Inside the block the parameters in the global scope are the averages."""
        scope = global_scope()
        with trace.outside():
            power = float(scope.var(self._power.name).value)
            self._kept = {}
            for parameter, average in self._averages:
                variable = scope.var(parameter.name)
                self._kept[parameter.name] = variable.value
                value = scope.var(average.name).value
                variable.value = value / (1.0 - power) if power < 1.0 else core.clone(value)
                variable.value.name = parameter.name
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor) -> None:
        """Puts the parameters back."""
        for name, value in self._kept.items():
            global_scope().var(name).value = value
        self._kept = {}
