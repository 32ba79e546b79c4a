"""Gradients: running them, switching their recording, functions with gradients of their own, matrices of
derivatives."""

from __future__ import annotations

import importlib

from .backward_mode import backward, grad
from .grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled

__all__ = ["jacobian", "hessian", "backward", "PyLayer", "Function", "PyLayerContext", "saved_tensors_hooks"]

_LAZY = {
    "PyLayer": ".py_layer", "PyLayerContext": ".py_layer", "Function": ".py_layer",
    "once_differentiable": ".py_layer", "saved_tensors_hooks": ".hooks",
    "jacobian": ".functional", "hessian": ".functional", "Jacobian": ".functional", "Hessian": ".functional",
    "vjp": ".functional", "jvp": ".functional",
}  # fmt: skip
_ = backward, grad, enable_grad, is_grad_enabled, no_grad, set_grad_enabled


def __getattr__(name):
    if name not in _LAZY:
        if name in ("py_layer", "functional"):
            return importlib.import_module("." + name, __name__)
        raise AttributeError(f"module 'paddle.autograd' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name], __name__), name)
    globals()[name] = value
    return value
