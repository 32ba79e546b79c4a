"""ASGD: the mean of the last gradient of each of ``batch_num`` batches (stochastic average gradient)."""

from __future__ import annotations

from ..base import core
from .optimizer import Optimizer


class ASGD(Optimizer):
    """``d`` is the sum of the newest gradient of every batch; ``p <- p - lr / min(t, batch_num) * d``.

    Source: Schmidt, Le Roux, Bach, "Minimizing finite sums with the stochastic average gradient".
    """

    type = "asgd"

    def __init__(
        self,
        learning_rate=0.001,
        batch_num: int = 1,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        multi_precision: bool = False,
        name=None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("learning_rate should not be none")
        if batch_num is None:
            raise ValueError("batch_num should not be none")
        if not 0 < batch_num:
            raise ValueError("batch_num should be greater than 0")
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._n = batch_num

    def _states(self, param):
        return (
            self._state("d", param),
            self._state("y", param, shape=[self._n, *param.shape]),
            self._state("m", param, shape=[1], dtype=core.int64),
        )

    def _append_optimize_op(self, block, param_and_grad) -> None:
        param, grad = param_and_grad
        total, newest, count = self._states(param)
        target, grad = self._target(param, grad, total)
        done = int(count.item())
        slot = done % self._n
        core.assign_(total, total - newest[slot] + grad)
        newest[slot] = grad
        rate = self._create_param_lr(param_and_grad) / min(done + 1, self._n)
        self._subtract(param, target, total * rate)
        core.assign_(count, count + 1)
