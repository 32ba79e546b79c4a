"""Rprop: steps of their own size per element, by the signs of gradients (Riedmiller and Braun, 1993)."""

from __future__ import annotations

from ..base import core
from .optimizer import Optimizer


class Rprop(Optimizer):
    """Where the gradient kept its sign the step grows by ``etas[1]``, where it turned it shrinks by ``etas[0]`` and the
    gradient counts as 0; steps stay within ``learning_rate_range`` and start at ``learning_rate``."""

    type = "rprop"

    def __init__(
        self,
        learning_rate=0.001,
        learning_rate_range=(1e-05, 50),
        parameters=None,
        etas=(0.5, 1.2),
        grad_clip=None,
        multi_precision: bool = False,
        name=None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate is not set")
        low, high = learning_rate_range
        start = learning_rate if isinstance(learning_rate, (int, float)) else None
        if not 0.0 < low <= high or (start is not None and not low <= start <= high):
            raise ValueError("'0.0 < learning_rate_range[0] <= learning_rate <= learning_rate_range[1]' must be true")
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError("'0.0 < etas[0] < 1.0 < etas[1]' must be true")
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        self._learning_rate_range = [float(low), float(high)]
        self._etas = [float(e) for e in etas]
        self._initial_learning_rate = self.get_lr()

    def _states(self, param):
        rates = self._state("learning_rates", param, fill_value=self._initial_learning_rate)
        return self._state("prevs", param), rates

    def _create_accumulators(self, block, parameters) -> None:
        for param in parameters:
            self._state("prevs", param)
            self._states(param)

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        previous, rates = self._states(param)
        target, grad = self._target(param, grad, previous)
        agreement = grad * previous
        same = (agreement > 0).astype(grad.dtype)
        turned = (agreement < 0).astype(grad.dtype)
        grad = grad * (1.0 - turned)
        factor = 1.0 + same * (self._etas[1] - 1.0) + turned * (self._etas[0] - 1.0)
        core.assign_(rates, (rates * factor).clip(*self._learning_rate_range))
        core.assign_(previous, grad)
        self._subtract(param, target, grad.sign() * rates)
