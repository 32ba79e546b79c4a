"""The derivatives by function, under the module's name."""

from __future__ import annotations

from . import Hessian, Jacobian, jvp, vjp  # noqa: F401

__all__ = []


def _separate(xs):
    """Tensors with the same values, each a tensor of its own: gradients to one leave out the others."""
    if isinstance(xs, (list, tuple)):
        return tuple(_separate(x) for x in xs)
    other = xs.clone().detach() if xs.stop_gradient else xs.detach().clone()
    other.stop_gradient = xs.stop_gradient
    return other
