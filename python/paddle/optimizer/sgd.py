"""Stochastic gradient descent."""

from __future__ import annotations

from . import multi_tensor
from .fused import FusedOptimizer


class SGD(FusedOptimizer):
    """``p <- p - lr * (g + weight_decay * p)``.

    ``multi_precision`` keeps an f32 master copy of each 16-bit parameter. See ``Optimizer`` for the other arguments.
    """

    _fuses_l2 = True

    def __init__(
        self,
        learning_rate=0.001,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        multi_precision: bool = False,
        name=None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate is not set")
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.type = "sgd"

    def _launch(self, bucket, grads, lr) -> None:
        multi_tensor.fused_sgd_(bucket.params, grads, lr, bucket.decay, bucket.masters)
