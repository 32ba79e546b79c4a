"""NAdam: Adam with Nesterov momentum (Dozat, 2016)."""

from __future__ import annotations

from ..base import core
from .adam import check_adam_rates, check_not_negative
from .optimizer import Optimizer


class NAdam(Optimizer):
    """Momentum at step t is ``beta1 * (1 - 0.5 * 0.96^(t * momentum_decay))``, looked ahead by one step.

    The powers and the product of momenta are kept per element, since that is the form of saved optimizer states.
    """

    type = "nadam"
    _group_options = ("beta1", "beta2", "epsilon", "momentum_decay")

    def __init__(
        self,
        learning_rate=0.002,
        beta1=0.9,
        beta2=0.999,
        epsilon: float = 1e-08,
        momentum_decay: float = 0.004,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name=None,
    ) -> None:
        check_adam_rates(learning_rate, beta1, beta2, epsilon)
        check_not_negative("momentum_decay", "momentum_decay value", momentum_decay)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon, self._momentum_decay = beta1, beta2, epsilon, momentum_decay
        self._default_dict = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "momentum_decay": momentum_decay}

    def _states(self, param):
        starts = (
            ("momentum_decay_pow", 1.0),
            ("beta2_pow", 1.0),
            ("mu_product", 1.0),
            ("moment1", 0.0),
            ("moment2", 0.0),
        )
        return [self._state(name, param, low_precision_as_f32=True, fill_value=value) for name, value in starts]

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        decay_pow, power2, mu_product, moment1, moment2 = self._states(param)
        target, grad = self._target(param, grad, moment1)
        beta1, beta2, decay = core.number(self._beta1), core.number(self._beta2), self._momentum_decay
        core.assign_(decay_pow, decay_pow * 0.96)
        core.assign_(power2, power2 * beta2)
        damping = decay_pow**decay
        mu = (1.0 - damping * 0.5) * beta1
        mu_next = (1.0 - damping * (0.5 * 0.96**decay)) * beta1
        core.assign_(mu_product, mu_product * mu)
        core.decay_(moment1, beta1, grad * (1.0 - beta1))
        core.decay_(moment2, beta2, grad * grad * (1.0 - beta2))
        ahead = mu_next * moment1 / (1.0 - mu_product * mu_next) + (1.0 - mu) * grad / (1.0 - mu_product)
        root = (moment2 / (1.0 - power2)).sqrt() + self._epsilon
        self._subtract(param, target, ahead / root * self._create_param_lr(param_and_grad))
