"""Adam (Kingma and Ba, 2015), with AMSGrad (Reddi et al., 2018)."""

from __future__ import annotations

from ..base import core
from . import multi_tensor
from .fused import FusedOptimizer


def check_unit_interval(name, value) -> None:
    """Raises ValueError unless 0 <= value < 1; tensors are taken on trust."""
    if value is None:
        raise ValueError(f"{name} is not set")
    if not isinstance(value, core.Tensor) and not 0 <= value < 1:
        raise ValueError(f"Invalid value of {name}, expect {name} in [0,1).")


def check_not_negative(name, label, value) -> None:
    """Raises ValueError unless value >= 0."""
    if not 0.0 <= value:
        raise ValueError(f"Invalid {label}: {value}, expect {name} >= 0.")


def check_adam_rates(learning_rate, beta1, beta2, epsilon) -> None:
    """Raises ValueError for numbers outside their ranges: learning_rate and epsilon >= 0, the betas in [0, 1)."""
    if isinstance(learning_rate, (float, int)):
        check_not_negative("learning_rate", "learning rate", learning_rate)
    check_not_negative("epsilon", "epsilon value", epsilon)
    check_unit_interval("beta1", beta1)
    check_unit_interval("beta2", beta2)


class Adam(FusedOptimizer):
    """Moments ``m`` and ``v`` of the gradient with rates ``beta1`` and ``beta2``, corrected for their zero start.

    ``p <- p - lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)``; with ``amsgrad`` the largest ``v`` so
    far. ``weight_decay`` is an L2 penalty on the gradient (``AdamW`` decouples it). Moments of 16-bit parameters are
    f32.
    """

    type = "adam"
    _moment1_acc_str = "moment1"
    _moment2_acc_str = "moment2"
    _moment2_acc_max_str = "moment2_max"
    _beta1_pow_acc_str = "beta1_pow_acc"
    _beta2_pow_acc_str = "beta2_pow_acc"
    _group_options = ("beta1", "beta2", "epsilon", "lazy_mode")

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-08,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name=None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate is not set")
        check_unit_interval("beta1", beta1)
        check_unit_interval("beta2", beta2)
        if epsilon is None:
            raise ValueError("epsilon is not set")
        if not isinstance(epsilon, core.Tensor) and not epsilon >= 0:
            raise ValueError("Invalid value of epsilon, expect epsilon >= 0.")
        self._multi_precision = multi_precision
        self._amsgrad = amsgrad
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._beta1, self._beta2, self._epsilon = beta1, beta2, epsilon
        self._lazy_mode = lazy_mode
        self._use_multi_tensor = use_multi_tensor
        self._default_dict = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": lazy_mode}

    def _states(self, param):
        moment1 = self._state("moment1", param, low_precision_as_f32=True)
        moment2 = self._state("moment2", param, low_precision_as_f32=True)
        largest = self._state("moment2_max", param, low_precision_as_f32=True) if self._amsgrad else None
        power1 = self._state(
            "beta1_pow_acc", param, fill_value=core.number(self._beta1), shape=[1], low_precision_as_f32=True
        )
        power2 = self._state(
            "beta2_pow_acc", param, fill_value=core.number(self._beta2), shape=[1], low_precision_as_f32=True
        )
        return moment1, moment2, largest, power1, power2

    def _launch(self, bucket, grads, lr) -> None:
        moment1, moment2, largest, power1, power2 = bucket.states
        multi_tensor.fused_adam_multi_(
            bucket.params,
            grads,
            moment1,
            moment2,
            largest,
            power1,
            power2,
            bucket.masters,
            lr,
            core.number(self._beta1),
            core.number(self._beta2),
            core.number(self._epsilon),
            bucket.decay,
            self._amsgrad,
        )
