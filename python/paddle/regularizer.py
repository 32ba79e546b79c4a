"""Penalties on parameters, for optimizers' ``weight_decay`` and for ``ParamAttr``."""

from __future__ import annotations

__all__ = ["L1Decay", "L2Decay"]


class WeightDecayRegularizer:
    """Base class. ``regularizer(param, grad, block)`` returns the gradient with that of the penalty added."""

    def __call__(self, param, grad, block=None):
        raise NotImplementedError


class L1Decay(WeightDecayRegularizer):
    """``coeff * sum(|p|)``; adds ``coeff * sign(p)`` to the gradient."""

    def __init__(self, coeff: float = 0.0) -> None:
        if coeff is None:
            raise AssertionError("[L1Decay] coeff must be a number, got None")
        self._coeff = coeff

    def __call__(self, param, grad, block=None):
        return grad + param.sign() * self._coeff

    def __str__(self) -> str:
        return f"L1Decay, coeff={self._coeff:f}"


class L2Decay(WeightDecayRegularizer):
    """``coeff / 2 * sum(p^2)``; adds ``coeff * p`` to the gradient."""

    def __init__(self, coeff: float = 0.0) -> None:
        if coeff is None:
            raise AssertionError("[L2Decay] coeff must be a number, got None")
        self._coeff = coeff

    def __call__(self, param, grad, block=None):
        return grad + param * self._coeff

    def __str__(self) -> str:
        return f"L2Decay, coeff={self._coeff:f}"
