"""Clipping the gradients that parameters hold, in place."""

from __future__ import annotations

import math

import paddle

__all__ = []


def _gradients(parameters):
    parameters = [parameters] if isinstance(parameters, paddle.Tensor) else list(parameters)
    return [p for p in parameters if p.grad is not None]


@paddle.no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    """Scales the gradients so that the norm of them all, taken as one vector, is at most `max_norm`.

    Args:
        parameters (iterable of Tensor | Tensor): those without a gradient are left out.
        max_norm (float): the bound.
        norm_type (float): which p-norm; may be infinite.
        error_if_nonfinite (bool): raise when the norm is not finite.

    Returns:
        The norm before clipping, a scalar Tensor.

    Raises:
        RuntimeError: see `error_if_nonfinite`.
        ValueError: `norm_type` is not among 0, 1, 2, inf ... as `paddle.norm` takes them.
    """
    holders = _gradients(parameters)
    max_norm, norm_type = float(max_norm), float(norm_type)
    if norm_type not in (math.inf, 0, 1, 2) and norm_type <= 0:
        raise ValueError(f"norm_type only support [inf, 0, 1, 2], but got {norm_type}")
    if not holders:
        return paddle.to_tensor(0.0)
    if norm_type == math.inf:
        total = paddle.max(paddle.stack([paddle.max(paddle.abs(p.grad)) for p in holders]))
    else:
        each = [paddle.norm(p.grad.flatten(), p=norm_type) for p in holders]
        total = paddle.norm(paddle.stack(each), p=norm_type)
    if error_if_nonfinite and not bool(paddle.isfinite(total)):
        raise RuntimeError(
            f"The total norm of {norm_type} order of the gradients from `parameters` is non-finite, so it cannot be "
            "clipped. In any case, disable this error and scale the gradient by non-finite norm, set "
            "`error_if_nonfinite=False`"
        )
    factor = paddle.clip(max_norm / (total + 1e-6), max=1.0)
    for p in holders:
        p.grad.set_value(p.grad * factor.astype(p.grad.dtype))
    return total


@paddle.no_grad()
def clip_grad_value_(parameters, clip_value):
    """Clips every element of the gradients to ± `clip_value` (float >= 0); parameters without a gradient are left
    out."""
    clip_value = float(clip_value)
    for p in _gradients(parameters):
        p.grad.set_value(paddle.clip(p.grad, -clip_value, clip_value))
