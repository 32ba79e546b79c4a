"""BFGS and its form with limited memory (Nocedal and Wright, "Numerical Optimization", algorithms 6.1 and 7.5)."""

from __future__ import annotations

import paddle

from ....optimizer.line_search import Point, strong_wolfe

__all__ = []


class _Objective:
    """The function, how often it was called, and its value and gradient along a direction."""

    def __init__(self, function, dtype):
        self.function, self.dtype, self.calls = function, dtype, 0

    def __call__(self, x):
        x = x.detach()
        x.stop_gradient = False
        with paddle.enable_grad():
            value = self.function(x)
            (grad,) = paddle.grad([value], [x])
        self.calls += 1
        return value.detach(), grad.detach().astype(self.dtype)

    def along(self, x, direction):
        """Step length -> Point."""

        def at(step):
            value, grad = self(x + step * direction)
            return Point(step, float(value), grad, float((grad * direction).sum()))

        return at


def _checked(position, line_search_fn, dtype, inverse):
    if dtype not in ("float32", "float64"):
        raise ValueError(f"The dtype must be 'float32' or 'float64', but the specified is {dtype}.")
    if line_search_fn != "strong_wolfe":
        raise NotImplementedError(
            f"Currently only support line_search_fn = 'strong_wolfe', but the specified is '{line_search_fn}'"
        )
    if len(position.shape) != 1:
        raise ValueError(f"expected an initial_position of one dimension, got shape {list(position.shape)}")
    n = position.shape[0]
    start = paddle.eye(n, dtype=dtype) if inverse is None else paddle.assign(inverse).astype(dtype)
    if list(start.shape) != [n, n] or not bool(paddle.allclose(start, start.T)):
        raise ValueError(
            "The initial_inverse_hessian_estimate should be symmetric and of shape "
            f"[{n}, {n}], but got shape {list(start.shape)}"
        )
    return position.detach().astype(dtype), start


def _minimize(objective, x, direction_of, remember, max_iters, tolerance_grad, tolerance_change, trials, first_step):
    """(converged, x, value, gradient) after at most ``max_iters`` searches along ``direction_of(gradient)``."""
    value, grad = objective(x)
    for _ in range(max_iters):
        if float(grad.abs().max()) < tolerance_grad:
            return True, x, value, grad
        direction = direction_of(grad)
        start = Point(0.0, float(value), grad, float((grad * direction).sum()))
        if not start.slope < 0:  # no descent: what is remembered is of no more use
            return False, x, value, grad
        found, _ = strong_wolfe(
            objective.along(x, direction), float(first_step), start, float(direction.abs().max()), max_trials=trials
        )
        step = found.step * direction
        if found.step == 0.0:
            return False, x, value, grad
        remember(step, found.grad - grad)
        x, grad = x + step, found.grad
        value = paddle.full_like(value, found.value)
        if float(step.abs().max()) < tolerance_change:
            return True, x, value, grad
    return float(grad.abs().max()) < tolerance_grad, x, value, grad


def _answer(converged, objective, x, value, grad):
    return paddle.to_tensor([bool(converged)]), paddle.to_tensor([objective.calls], dtype="int64"), x, value, grad


def minimize_bfgs(
    objective_func, initial_position, max_iters=50, tolerance_grad=1e-7, tolerance_change=1e-9,
    initial_inverse_hessian_estimate=None, line_search_fn="strong_wolfe", max_line_search_iters=50,
    initial_step_length=1.0, dtype="float32", name=None,
):  # fmt: skip
    """Minimises a function of a vector by the BFGS method.

    Args:
        objective_func (callable): of a tensor [N], gives a scalar.
        initial_position (Tensor): [N].
        max_iters (int): how many line searches at most.
        tolerance_grad, tolerance_change (float): it has converged where the gradient's, or the step's, largest element
            is smaller.
        initial_inverse_hessian_estimate (Tensor, optional): [N, N], symmetric, positive definite; the identity by default.
        line_search_fn (str): "strong_wolfe".
        max_line_search_iters (int): evaluations of one line search.
        initial_step_length (float): what each line search tries first.
        dtype (str): "float32" or "float64".

    Returns:
        (converged [1], number of calls [1], position [N], value, gradient [N], inverse Hessian [N, N]).

    Raises:
        ValueError: `dtype`, a shape, or an estimate that isn't symmetric. NotImplementedError: another line search.
    """
    x, inverse = _checked(initial_position, line_search_fn, dtype, initial_inverse_hessian_estimate)
    objective, kept = _Objective(objective_func, dtype), [inverse]

    def remember(s, y):
        curvature = (s * y).sum()
        if float(curvature) <= 0.0:
            return
        rho = 1.0 / curvature
        left = paddle.eye(s.shape[0], dtype=s.dtype) - rho * paddle.outer(s, y)
        kept[0] = paddle.matmul(paddle.matmul(left, kept[0]), left, transpose_y=True) + rho * paddle.outer(s, s)

    found = _minimize(
        objective, x, lambda g: -paddle.matmul(kept[0], g), remember, max_iters, tolerance_grad, tolerance_change,
        max_line_search_iters, initial_step_length,
    )  # fmt: skip
    return (*_answer(found[0], objective, *found[1:]), kept[0])


def minimize_lbfgs(
    objective_func, initial_position, history_size=100, max_iters=50, tolerance_grad=1e-8, tolerance_change=1e-8,
    initial_inverse_hessian_estimate=None, line_search_fn="strong_wolfe", max_line_search_iters=50,
    initial_step_length=1.0, dtype="float32", name=None,
):  # fmt: skip
    """Minimises a function of a vector by the BFGS method with limited memory.

    Args:
        history_size (int): how many steps are remembered instead of the inverse Hessian.
        others: as in ``minimize_bfgs``.

    Returns:
        (converged [1], number of calls [1], position [N], value, gradient [N]).

    Raises:
        ValueError, NotImplementedError: as ``minimize_bfgs``.
    """
    x, inverse = _checked(initial_position, line_search_fn, dtype, initial_inverse_hessian_estimate)
    objective, history = _Objective(objective_func, dtype), []

    def direction_of(grad):
        q, weights = grad, []
        for s, y, rho in reversed(history):
            weights.append(rho * (s * q).sum())
            q = q - weights[-1] * y
        r = paddle.matmul(inverse, q)
        for (s, y, rho), a in zip(history, reversed(weights)):
            r = r + s * (a - rho * (y * r).sum())
        return -r

    def remember(s, y):
        curvature = (s * y).sum()
        if float(curvature) > 0.0:
            history.append((s, y, 1.0 / curvature))
            del history[:-history_size]

    found = _minimize(
        objective, x, direction_of, remember, max_iters, tolerance_grad, tolerance_change, max_line_search_iters,
        initial_step_length,
    )  # fmt: skip
    return _answer(found[0], objective, *found[1:])
