"""Limited-memory BFGS (Nocedal and Wright, "Numerical Optimization", algorithm 7.4)."""

from __future__ import annotations

from ..autograd.grad_mode import enable_grad, no_grad
from ..base import core
from .line_search import Point, strong_wolfe
from .optimizer import Optimizer


class LBFGS(Optimizer):
    """One ``step(closure)`` runs up to ``max_iter`` iterations; the closure clears gradients, computes the loss, calls
    ``backward`` and returns the loss.

    Args:
        max_eval: most calls of the closure per step (None: 1.25 * max_iter).
        tolerance_grad: stop when the largest gradient component is at most this.
        tolerance_change: stop when step or loss change less.
        history_size: pairs of (step, gradient change) kept.
        line_search_fn: None (fixed ``learning_rate``) or "strong_wolfe".
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-07,
        tolerance_change: float = 1e-09,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters=None,
        weight_decay=None,
        grad_clip=None,
        name: str | None = None,
    ) -> None:
        rate = float(learning_rate) if isinstance(learning_rate, int) else learning_rate
        super().__init__(rate, parameters, weight_decay, grad_clip, name)
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.history_size, self.line_search_fn = history_size, line_search_fn
        self.state = {"func_evals": 0, "n_iter": 0}
        self._params = [p for params, _ in self._groups() for p in params]

    def state_dict(self) -> dict:
        """``{"state": ...}``: counters, the last direction, step, gradient and loss, and the history."""
        return {"state": dict(self.state)}

    def set_state_dict(self, state_dict) -> None:
        self.state = dict(state_dict["state"])

    load_state_dict = set_state_dict

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        """Not possible: the algorithm needs to compute the loss several times. Use ``step(closure)``."""
        raise NotImplementedError("LBFGS optimizer does not support `minimize`; call step(closure)")

    # ---- flat views of parameters and gradients ---------------------------------------------------------------------
    def _flat_grad(self):
        grads = core.collect_grads(self._params)
        pairs = [(p, core.full(p.shape, 0.0, p.dtype) if g is None else g) for p, g in zip(self._params, grads)]
        if self._grad_clip is not None:
            pairs = self._grad_clip(pairs)
        pairs = self.append_regularization_ops(pairs, self.regularization)
        return core.concat([g.reshape([-1]) for _, g in pairs])

    def _move(self, alpha, direction) -> None:
        offset = 0
        for p in self._params:
            size = int(p.size)
            core.assign_(p, p + direction[offset : offset + size].reshape(p.shape) * alpha)
            offset += size

    def _evaluate(self, closure):
        with enable_grad():
            loss = float(closure())
        return loss, self._flat_grad()

    # ---- the algorithm ----------------------------------------------------------------------------------------------
    def step(self, closure):
        """Minimises; returns the loss of the first evaluation."""
        with no_grad():
            return self._step(closure)

    def _step(self, closure):
        state = self.state
        with enable_grad():
            first = closure()
        loss, evals = float(first), 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if float(grad.abs().max()) <= self.tolerance_grad:
            return first
        direction, alpha = state.get("d"), state.get("alpha")
        iterations = 0
        while iterations < self.max_iter:
            iterations += 1
            state["n_iter"] += 1
            direction = self._direction(grad, direction, alpha)
            state["prev_flat_grad"], state["prev_loss"] = grad, loss
            rate = self.get_lr()
            alpha = min(1.0, 1.0 / float(grad.abs().sum())) * rate if state["n_iter"] == 1 else rate
            slope = float((grad * direction).sum())
            if slope > -self.tolerance_change:
                break
            used, loss, grad, alpha = self._search(closure, alpha, direction, loss, grad, slope, iterations)
            evals += used
            state["func_evals"] += used
            if self._is_done(iterations, evals, grad, direction, alpha, loss):
                break
        state["d"], state["alpha"] = direction, alpha
        return first

    def _search(self, closure, alpha, direction, loss, grad, slope, iterations):
        if self.line_search_fn is None:
            self._move(alpha, direction)
            if iterations == self.max_iter:
                return 0, loss, grad, alpha
            loss, grad = self._evaluate(closure)
            return 1, loss, grad, alpha
        origin = [core.clone(p) for p in self._params]

        def evaluate(step):
            self._move(step, direction)
            value, gradient = self._evaluate(closure)
            for p, start in zip(self._params, origin):
                core.assign_(p, start)
            return Point(step, value, gradient, float((gradient * direction).sum()))

        scale = float(direction.abs().max())
        start = Point(0.0, loss, grad, slope)
        point, used = strong_wolfe(evaluate, alpha, start, scale, tolerance_change=self.tolerance_change)
        self._move(point.step, direction)
        return used, point.value, point.grad, point.step

    def _is_done(self, iterations, evals, grad, direction, alpha, loss) -> bool:
        return (
            iterations == self.max_iter
            or evals >= self.max_eval
            or float(grad.abs().max()) <= self.tolerance_grad
            or float((direction * alpha).abs().max()) <= self.tolerance_change
            or abs(loss - self.state["prev_loss"]) < self.tolerance_change
        )

    def _direction(self, grad, direction, alpha):
        """Minus the inverse Hessian estimate times the gradient, by the two-loop recursion."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(old_yk=[], old_sk=[], ro=[], H_diag=core.full([], 1.0, grad.dtype))
            return -grad
        change = grad - state["prev_flat_grad"]
        moved = direction * alpha
        curvature = (change * moved).sum()
        changes, moves, inverses = state["old_yk"], state["old_sk"], state["ro"]
        if float(curvature) > 1e-10:
            if len(changes) == self.history_size:
                for history in (changes, moves, inverses):
                    history.pop(0)
            changes.append(change)
            moves.append(moved)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / (change * change).sum()
        count = len(changes)
        if len(state.get("al") or ()) != self.history_size:
            state["al"] = [None] * self.history_size
        weights = state["al"]
        q = -grad
        for i in range(count - 1, -1, -1):
            weights[i] = (moves[i] * q).sum() * inverses[i]
            q = q - changes[i] * weights[i]
        r = q * state["H_diag"]
        for i in range(count):
            r = r + moves[i] * (weights[i] - (changes[i] * r).sum() * inverses[i])
        return r
