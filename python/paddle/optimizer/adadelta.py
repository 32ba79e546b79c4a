"""Adadelta (Zeiler, 2012)."""

from __future__ import annotations

from ..base import core
from .optimizer import Optimizer


class Adadelta(Optimizer):
    """Running means ``G`` of ``g^2`` and ``U`` of squared updates, both with rate ``rho``.

    ``d = g * sqrt((U + epsilon) / (G + epsilon))``; ``p <- p - lr * d``.
    """

    type = "adadelta"
    _group_options = ("epsilon", "rho")

    def __init__(
        self,
        learning_rate=0.001,
        epsilon: float = 1e-06,
        rho: float = 0.95,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name=None,
    ) -> None:
        for key, value in (("learning_rate", learning_rate), ("epsilon", epsilon), ("rho", rho)):
            if value is None:
                raise ValueError(f"{key} is not set.")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon, self._rho = epsilon, rho
        self._default_dict = {"epsilon": epsilon, "rho": rho}

    def _states(self, param):
        return self._state("_avg_squared_grad", param), self._state("_avg_squared_update", param)

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        mean_grad, mean_update = self._states(param)
        target, grad = self._target(param, grad, mean_grad)
        rho, epsilon = self._rho, self._epsilon
        core.decay_(mean_grad, rho, grad * grad * (1.0 - rho))
        delta = grad * ((mean_update + epsilon) / (mean_grad + epsilon)).sqrt()
        core.decay_(mean_update, rho, delta * delta * (1.0 - rho))
        self._subtract(param, target, delta * self._create_param_lr(param_and_grad))
