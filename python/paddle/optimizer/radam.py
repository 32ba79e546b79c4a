"""RAdam: Adam with the variance of its adaptive rate rectified (Liu et al., 2020)."""

from __future__ import annotations

import math

from ..base import core
from .adam import check_adam_rates
from .optimizer import Optimizer


class RAdam(Optimizer):
    """While ``rho_t = rho_inf - 2 t beta2^t / (1 - beta2^t)`` is at most 5 the step is plain momentum; then Adam's
    times the rectification. The accumulator ``rho`` holds ``t beta2^t / (1 - beta2^t)``."""

    type = "radam"
    _group_options = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon: float = 1e-08,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name=None,
    ) -> None:
        check_adam_rates(learning_rate, beta1, beta2, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._default_dict = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}

    def _states(self, param):
        starts = (("beta1_pow", 1.0), ("beta2_pow", 1.0), ("rho", 1.0), ("moment1", 0.0), ("moment2", 0.0))
        return [self._state(name, param, low_precision_as_f32=True, fill_value=value) for name, value in starts]

    @staticmethod
    def _progress(power2, beta2):
        """``beta2^t`` and ``t beta2^t / (1 - beta2^t)`` in float64. Near rho's threshold large numbers cancel, and what
        float32 keeps of ``1 - beta2^t`` is too little: the number of steps is exact, so all is computed from it."""
        rate = math.log(max(beta2, 1e-38))
        count = (power2.astype("float64").clip(min=1e-38).log() / rate).round()
        power = (count * rate).exp()
        return power, count * power / (1.0 - power)

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        power1, power2, progress, moment1, moment2 = self._states(param)
        target, grad = self._target(param, grad, moment1)
        beta1, beta2 = core.number(self._beta1), core.number(self._beta2)
        rho_inf = 2.0 / (1.0 - beta2) - 1.0
        core.assign_(power1, power1 * beta1)
        core.assign_(power2, power2 * beta2)
        power, advanced = self._progress(power2, beta2)
        core.assign_(progress, advanced.astype(progress.dtype))
        rho = rho_inf - advanced * 2.0
        core.decay_(moment1, beta1, grad * (1.0 - beta1))
        core.decay_(moment2, beta2, grad * grad * (1.0 - beta2))
        mean = moment1 / (1.0 - power1)
        rectified = (rho > 5.0).astype(rho.dtype)
        # Below the threshold the rectification is not defined; clipping keeps NaN out of the masked product.
        safe = rho.clip(min=5.0)
        factor = ((safe - 4.0) * (safe - 2.0) * (rho_inf / ((rho_inf - 4.0) * (rho_inf - 2.0))) / safe).sqrt()
        scale = (rectified * factor * (1.0 - power).sqrt()).astype(moment2.dtype)
        plain = (1.0 - rectified).astype(moment2.dtype)
        delta = mean * (scale / (moment2.sqrt() + self._epsilon) + plain)
        self._subtract(param, target, delta * self._create_param_lr(param_and_grad))
