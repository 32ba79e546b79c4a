"""The multi-tensor updates: the core's operators, or where it has none their definition by plain operators."""

from __future__ import annotations

from .. import _C_ops
from ..base import core


def _write(param, master, value) -> None:
    """The new value goes to the master copy, if any, and in the parameter's dtype to the parameter."""
    if master is not None:
        core.assign_(master, value)
    core.assign_(param, value if value.dtype == param.dtype else value.astype(param.dtype))


def _rows(params, grads, masters, *states):
    masters = [None] * len(params) if masters is None else masters
    return zip(params, grads, masters, *states)


def sgd_(params, grads, lr, weight_decay, masters) -> None:
    """``p -= lr * (g + weight_decay * p)``."""
    for param, grad, master in _rows(params, grads, masters):
        value = param if master is None else master
        grad = grad.astype(value.dtype)
        if weight_decay:
            grad = grad + value * weight_decay
        _write(param, master, value - grad * lr)


def momentum_(params, grads, velocities, lr, mu, use_nesterov, weight_decay, rescale, masters) -> None:
    """``v = mu * v + g; p -= lr * v`` (Nesterov: ``lr * (g + mu * v)``), g scaled by ``rescale`` and decayed first."""
    for param, grad, master, velocity in _rows(params, grads, masters, velocities):
        value = param if master is None else master
        grad = grad.astype(velocity.dtype) * rescale
        if weight_decay:
            grad = grad + value * weight_decay
        core.assign_(velocity, velocity * mu + grad)
        step = grad + velocity * mu if use_nesterov else velocity
        _write(param, master, value - step * lr)


def adam_(
    params,
    grads,
    moment1s,
    moment2s,
    maxima,
    power1s,
    power2s,
    masters,
    lr,
    beta1,
    beta2,
    epsilon,
    weight_decay,
    amsgrad,
) -> None:
    """Adam with decoupled ``weight_decay``. The powers hold ``beta^t`` of this step t, and ``beta^(t+1)`` after it."""
    maxima = [None] * len(params) if maxima is None else maxima
    rows = _rows(params, grads, masters, moment1s, moment2s, maxima, power1s, power2s)
    for param, grad, master, moment1, moment2, largest, power1, power2 in rows:
        value = param if master is None else master
        value = value.astype(moment1.dtype)
        grad = grad.astype(moment1.dtype)
        if weight_decay:
            value = value * (1.0 - lr * weight_decay)
        core.assign_(moment1, moment1 * beta1 + grad * (1.0 - beta1))
        core.assign_(moment2, moment2 * beta2 + grad * grad * (1.0 - beta2))
        spread = moment2
        if amsgrad:
            core.assign_(largest, largest.maximum(moment2))
            spread = largest
        root = (spread / (1.0 - power2)).sqrt() + epsilon
        _write(param, master, value - moment1 / (1.0 - power1) / root * lr)
        core.assign_(power1, power1 * beta1)
        core.assign_(power2, power2 * beta2)


fused_sgd_ = getattr(_C_ops, "fused_sgd_", sgd_)
fused_momentum_ = getattr(_C_ops, "fused_momentum_", momentum_)
fused_adam_multi_ = getattr(_C_ops, "fused_adam_multi_", adam_)
