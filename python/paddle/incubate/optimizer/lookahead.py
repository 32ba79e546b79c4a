"""Lookahead (Zhang et al., 2019): slow weights that follow the fast ones every k steps."""

from __future__ import annotations

from ...autograd.grad_mode import no_grad
from ...base import core
from ...optimizer import Optimizer


class LookAhead(Optimizer):
    """``slow += alpha * (fast - slow)`` every ``k`` steps of ``inner_optimizer``, then ``fast = slow``.

    Raises:
        AssertionError: ``alpha`` outside [0, 1], or ``k`` not positive. TypeError: the inner one is no Optimizer.
    """

    def __init__(self, inner_optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        if inner_optimizer is None:
            raise AssertionError("inner optimizer can not be None")
        if not 0.0 <= alpha <= 1.0:
            raise AssertionError("alpha should be larger or equal to 0.0, and less or equal than 1.0")
        if not (isinstance(k, int) and k > 0):
            raise AssertionError("k should be a positive integer")
        if not isinstance(inner_optimizer, Optimizer):
            raise TypeError(f"[LookAhead] expected an Optimizer, got {type(inner_optimizer).__name__}")
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, alpha, k
        params = [p for group, _ in inner_optimizer._groups() for p in group]
        super().__init__(float(alpha), params, None, None, name)
        self.type = "lookahead"
        self._global_step = 0

    @no_grad()
    def step(self) -> None:
        """One step of the inner optimizer; every k-th also moves the slow weights."""
        self.inner_optimizer.step()
        self._global_step += 1
        if self._global_step == 1:  # as in official Paddle the slow weights start after the first step
            for p in self._parameter_list:
                core.assign_(self._add_accumulator("slow", p), p.detach())
        if self._global_step % self.k:
            return
        for p in self._parameter_list:
            if not p.stop_gradient:
                slow = self._get_accumulator("slow", p)
                core.assign_(slow, slow * (1.0 - self.alpha) + p * self.alpha)
                core.assign_(p, slow)

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        """Steps with the gradients that ``loss.backward()`` left."""
        pairs = self.backward(loss)
        self.step()
        return [], pairs

    def clear_grad(self, set_to_zero: bool = True) -> None:
        self.inner_optimizer.clear_grad(set_to_zero)

    def get_lr(self) -> float:
        return self.inner_optimizer.get_lr()

    def state_dict(self) -> dict:
        """The slow weights, and the inner optimizer's state."""
        return {**super().state_dict(), **self.inner_optimizer.state_dict()}
