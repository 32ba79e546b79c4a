"""Functional derivatives, and the switch for decomposing operators into primitives."""

from __future__ import annotations

from ...autograd import functional
from ...autograd.backward_mode import grad as _grad
from ...autograd.functional import jvp, vjp
from ...framework.flags import get_flags, set_flags

__all__ = ["vjp", "jvp", "Jacobian", "Hessian", "enable_prim", "disable_prim", "forward_grad", "grad"]
_ = jvp, vjp


def enable_prim() -> None:
    """Operators are decomposed into primitives in programs."""
    set_flags({"FLAGS_prim_all": True})


def disable_prim() -> None:
    """Ends ``enable_prim``."""
    set_flags({"FLAGS_prim_all": False})


def prim2orig(block=None) -> None:
    """Nothing to do: a program's operators are decomposed as it is compiled, and stay in it as they were written."""


def prim_enabled() -> bool:
    """Whether operators are decomposed."""
    return bool(get_flags("FLAGS_prim_all")["FLAGS_prim_all"])


class Jacobian:
    """The matrix of ``func``'s derivatives at ``xs``: rows are ``func``'s flattened outputs, columns the flattened
    inputs (several inputs or outputs side by side); with ``is_batched`` the first axis is the batch."""

    def __init__(self, func, xs, is_batched: bool = False) -> None:
        inputs = [self._leaf(x) for x in (xs if isinstance(xs, (list, tuple)) else [xs])]
        outputs = func(*inputs)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        self._matrix = self._join(outputs, inputs, is_batched)

    @staticmethod
    def _leaf(x):
        x = x.detach() if x.stop_gradient else x
        x.stop_gradient = False
        return x

    def _join(self, outputs, inputs, batched):
        from ...base import core

        lead = 1 if batched else 0
        flat = []
        for y in outputs:
            y = y.reshape([y.shape[0], -1] if batched else [-1])
            row = [self._rows(y, x, batched) for x in inputs]
            flat.append(core.concat(row, lead + 1))
        return core.concat(flat, lead)

    @staticmethod
    def _rows(y, x, batched):
        from ...base import core

        parts = []
        for i in range(y.shape[-1]):
            g = functional._row(y[:, i].sum() if batched else y[i], x)
            parts.append(g.reshape([x.shape[0], 1, -1] if batched else [1, -1]))
        return core.concat(parts, 1 if batched else 0)

    @property
    def shape(self) -> list:
        return list(self._matrix.shape)

    def __getitem__(self, indexes):
        return self._matrix[indexes]


class Hessian:
    """The matrix of second derivatives of ``func``, which gives one number (``[B, 1]`` with ``is_batched``)."""

    def __init__(self, func, xs, is_batched: bool = False) -> None:
        def first_derivatives(*inputs):
            value = func(*inputs)
            size = 1
            for n in value.shape[1:] if is_batched else value.shape:
                size *= n
            if size != 1:
                raise RuntimeError(
                    "The function given to Hessian should return as single element Tensor or "
                    "batched single element Tensor."
                )
            grads = _grad([value.sum()], list(inputs), create_graph=True, allow_unused=True)
            return [functional._zeros_like(x) if g is None else g for g, x in zip(grads, inputs)]

        self._jacobian = Jacobian(first_derivatives, xs, is_batched)

    @property
    def shape(self) -> list:
        return self._jacobian.shape

    def __getitem__(self, indexes):
        return self._jacobian[indexes]


def forward_grad(outputs, inputs, grad_inputs=None):
    """Tangents of ``outputs`` for tangents ``grad_inputs`` of ``inputs`` (default ones), by differentiating twice."""
    from ...base import core

    outs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    ins = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    probes = [core.full(y.shape, 1.0, y.dtype) for y in outs]
    for p in probes:
        p.stop_gradient = False
    pulled = _grad(outs, ins, probes, retain_graph=True, create_graph=True, allow_unused=True)
    tangents = grad_inputs if grad_inputs is not None else [core.full(x.shape, 1.0, x.dtype) for x in ins]
    tangents = list(tangents) if isinstance(tangents, (list, tuple)) else [tangents]
    live = [(g, t) for g, t in zip(pulled, tangents) if g is not None]
    pushed = _grad([g for g, _ in live], probes, [t for _, t in live], create_graph=True, allow_unused=True)
    pushed = [functional._zeros_like(y) if g is None else g for g, y in zip(pushed, outs)]
    return pushed if isinstance(outputs, (list, tuple)) else pushed[0]


def grad(outputs, inputs, grad_outputs=None):
    """Gradients that can be differentiated again; one tensor for one input."""
    result = _grad(outputs, inputs, grad_outputs, create_graph=True, allow_unused=True)
    return result if isinstance(inputs, (list, tuple)) else result[0]
