"""Adagrad (Duchi et al., 2011)."""

from __future__ import annotations

from ..base import core
from .optimizer import Optimizer


class Adagrad(Optimizer):
    """``h <- h + g^2``; ``p <- p - lr * g / (sqrt(h) + epsilon)``; ``h`` starts at ``initial_accumulator_value``."""

    type = "adagrad"
    _group_options = ("epsilon", "initial_accumulator_value")

    def __init__(
        self,
        learning_rate,
        epsilon: float = 1e-06,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name=None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate is not set")
        if epsilon is None:
            raise ValueError("epsilon is not set")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon = epsilon
        self._initial_accumulator_value = initial_accumulator_value
        self._default_dict = {"epsilon": epsilon, "initial_accumulator_value": initial_accumulator_value}

    def _states(self, param):
        return self._state("moment", param, fill_value=self._initial_accumulator_value)

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        moment = self._states(param)
        target, grad = self._target(param, grad, moment)
        core.assign_(moment, moment + grad * grad)
        self._subtract(param, target, grad / (moment.sqrt() + self._epsilon) * self._create_param_lr(param_and_grad))
