"""RMSProp (Hinton's lecture 6e), plain, centered, with momentum."""

from __future__ import annotations

from ..base import core
from .optimizer import Optimizer


class RMSProp(Optimizer):
    """``s <- rho s + (1 - rho) g^2``; ``v <- momentum v + lr g / sqrt(s + epsilon)``; ``p <- p - v``.

    ``centered`` subtracts the square of the running mean of ``g`` from ``s`` under the root.
    """

    type = "rmsprop"
    _group_options = ("rho", "epsilon", "momentum", "centered")

    def __init__(
        self,
        learning_rate,
        rho: float = 0.95,
        epsilon: float = 1e-06,
        momentum: float = 0.0,
        centered: bool = False,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name=None,
    ) -> None:
        for key, value in (
            ("learning_rate", learning_rate),
            ("rho", rho),
            ("epsilon", epsilon),
            ("momentum", momentum),
        ):
            if value is None:
                raise ValueError(f"{key} is not set.")
        for key, value in (("epsilon", epsilon), ("momentum", momentum), ("rho", rho)):
            if not 0.0 <= value:
                raise ValueError(f"Invalid value of {key}, expect {key} >= 0.")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._rho, self._epsilon, self._momentum, self._centered = rho, epsilon, momentum, centered
        self._default_dict = {"rho": rho, "epsilon": epsilon, "momentum": momentum, "centered": centered}

    def _states(self, param):
        return [self._state(name, param) for name in ("momentum", "mean_square", "mean_grad")]

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        velocity, mean_square, mean_grad = self._states(param)
        target, grad = self._target(param, grad, mean_square)
        rho = self._rho
        core.decay_(mean_square, rho, grad * grad * (1.0 - rho))
        spread = mean_square
        if self._centered:
            core.decay_(mean_grad, rho, grad * (1.0 - rho))
            spread = mean_square - mean_grad * mean_grad
        step = grad / (spread + self._epsilon).sqrt() * self._create_param_lr(param_and_grad)
        core.decay_(velocity, self._momentum, step)
        self._subtract(param, target, velocity)
