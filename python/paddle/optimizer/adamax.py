"""Adamax: Adam with the infinity norm (Kingma and Ba, 2015, section 7.1)."""

from __future__ import annotations

from ..base import core
from .adam import check_unit_interval
from .optimizer import Optimizer


class Adamax(Optimizer):
    """``m <- beta1 m + (1 - beta1) g``; ``u <- max(beta2 u + epsilon, |g|)``; ``p <- p - lr / (1 - beta1^t) * m /
    u``."""

    type = "adamax"
    _group_options = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-08,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name=None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate is not set")
        check_unit_interval("beta1", beta1)
        check_unit_interval("beta2", beta2)
        if epsilon is None:
            raise ValueError("epsilon is not set")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._default_dict = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}

    def _states(self, param):
        return (
            self._state("moment", param, low_precision_as_f32=True),
            self._state("inf_norm", param, low_precision_as_f32=True),
            self._state(
                "beta1_pow_acc", param, low_precision_as_f32=True, fill_value=core.number(self._beta1), shape=[1]
            ),
        )

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        moment, inf_norm, power = self._states(param)
        target, grad = self._target(param, grad, moment)
        beta1, beta2 = core.number(self._beta1), core.number(self._beta2)
        core.decay_(moment, beta1, grad * (1.0 - beta1))
        largest = grad.abs().maximum(inf_norm * beta2 + core.number(self._epsilon))
        core.assign_(inf_norm, largest)
        self._subtract(param, target, moment / inf_norm * (self._create_param_lr(param_and_grad) / (1.0 - power)))
        core.assign_(power, power * beta1)
