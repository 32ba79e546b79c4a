"""LAMB: layer-wise adaptive moments for large batches (You et al., 2020)."""

from __future__ import annotations

from ..base import core
from .adam import check_unit_interval
from .optimizer import Optimizer


class Lamb(Optimizer):
    """Adam's direction plus ``lamb_weight_decay * p``, scaled per parameter by ``|p| / |direction|``.

    ``exclude_from_weight_decay_fn(param)`` True means no decay for it; such parameters take the plain direction unless
    ``always_adapt``.
    """

    type = "lamb"
    _group_options = ("beta1", "beta2", "epsilon", "lamb_weight_decay", "exclude_from_weight_decay_fn")

    def __init__(
        self,
        learning_rate=0.001,
        lamb_weight_decay: float = 0.01,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-06,
        parameters=None,
        grad_clip=None,
        exclude_from_weight_decay_fn=None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name=None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate is not set")
        check_unit_interval("beta1", beta1)
        check_unit_interval("beta2", beta2)
        if epsilon is None:
            raise ValueError("epsilon is not set")
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._lamb_weight_decay = lamb_weight_decay
        self._exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        self._always_adapt = always_adapt
        self._default_dict = {
            "beta1": beta1,
            "beta2": beta2,
            "epsilon": epsilon,
            "lamb_weight_decay": lamb_weight_decay,
            "exclude_from_weight_decay_fn": exclude_from_weight_decay_fn,
        }

    def _states(self, param):
        def scalar(name, value):
            return self._state(name, param, low_precision_as_f32=True, fill_value=float(value), shape=[1])

        return (
            self._state("moment1", param, low_precision_as_f32=True),
            self._state("moment2", param, low_precision_as_f32=True),
            scalar("beta1_pow_acc", self._beta1),
            scalar("beta2_pow_acc", self._beta2),
        )

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        moment1, moment2, power1, power2 = self._states(param)
        target, grad = self._target(param, grad, moment1)
        beta1, beta2 = core.number(self._beta1), core.number(self._beta2)
        exclude = self._exclude_from_weight_decay_fn
        decay = 0.0 if exclude is not None and exclude(param) else self._lamb_weight_decay
        core.decay_(moment1, beta1, grad * (1.0 - beta1))
        core.decay_(moment2, beta2, grad * grad * (1.0 - beta2))
        value = target if target.dtype == moment1.dtype else target.astype(moment1.dtype)
        root = (moment2 / (1.0 - power2)).sqrt() + core.number(self._epsilon)
        direction = moment1 / (1.0 - power1) / root + value * decay
        rate = self._create_param_lr(param_and_grad)
        if decay != 0.0 or self._always_adapt:
            size, length = (value * value).sum().sqrt(), (direction * direction).sum().sqrt()
            both = ((size > 0) & (length > 0)).astype(size.dtype)
            # Where either norm is 0 the ratio is 1; the guard keeps 0/0 out of the product.
            ratio = both * size / (length + (1.0 - both)) + (1.0 - both)
            direction = direction * ratio
        self._subtract(param, target, direction * rate)
        core.assign_(power1, power1 * beta1)
        core.assign_(power2, power2 * beta2)
