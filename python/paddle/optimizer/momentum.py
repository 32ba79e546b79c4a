"""Gradient descent with momentum, plain or Nesterov's."""

from __future__ import annotations

from . import multi_tensor
from .fused import FusedOptimizer


class Momentum(FusedOptimizer):
    """``v <- momentum * v + g``, then ``p <- p - lr * v``, or ``p <- p - lr * (g + momentum * v)`` with
    ``use_nesterov``.

    ``rescale_grad`` multiplies the gradient first. ``use_multi_tensor`` is accepted; the step is always fused.
    """

    _fuses_l2 = True
    _group_options = ("momentum", "use_nesterov", "rescale_grad")

    def __init__(
        self,
        learning_rate=0.001,
        momentum: float = 0.9,
        parameters=None,
        use_nesterov: bool = False,
        weight_decay=None,
        grad_clip=None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name=None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate is not set")
        if momentum is None:
            raise ValueError("momentum is not set")
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.type = "momentum"
        self._momentum = momentum
        self._use_nesterov = bool(use_nesterov)
        self._rescale_grad = rescale_grad
        self._use_multi_tensor = use_multi_tensor
        self._default_dict = {
            "momentum": momentum,
            "use_nesterov": self._use_nesterov,
            "rescale_grad": rescale_grad,
        }

    def _states(self, param):
        return (self._state("velocity", param),)

    def _launch(self, bucket, grads, lr) -> None:
        multi_tensor.fused_momentum_(
            bucket.params,
            grads,
            bucket.states[0],
            lr,
            float(self._momentum),
            self._use_nesterov,
            bucket.decay,
            float(self._rescale_grad),
            bucket.masters,
        )
