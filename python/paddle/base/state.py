"""Who makes what outlives a step: parameters, an optimizer's accumulators, its learning rate.

``maker`` makes them at once. Static mode puts its own in its place, which appends their first values to the start-up
program; nothing else asks for the mode.
"""

from __future__ import annotations

import contextlib

from .._core import trace
from . import core


class EagerMaker:
    """State with values from the start."""

    def parameter(self, initializer, shape, dtype, kwargs):
        """A parameter of ``shape`` filled by ``initializer``."""
        return initializer._make_parameter(shape, dtype, kwargs)

    def full(self, name, shape, value, dtype, like=None):
        """A persistable tensor of one value. ``like``: it lies as that tensor does, where that is distributed."""
        with trace.outside():  # state, not part of a program that is being captured
            if like is not None:
                tensor = core._C_ops.full_like(like.detach(), value, dtype)
            else:
                tensor = core.full(shape, value, dtype)
        return self._named(tensor, name)

    def computed(self, name, source, dtype, compute):
        """A persistable tensor of ``source``'s shape that starts as ``compute(source)``."""
        with trace.outside():
            tensor = compute(source)
        return self._named(tensor, name)

    @staticmethod
    def _named(tensor, name):
        tensor.name = name
        tensor.stop_gradient = True
        tensor.persistable = True
        return tensor

    def learning_rate(self, optimizer):
        """What updates multiply with: a float, or in a captured program a tensor that is the rate of each run."""
        if not trace.tracing():
            return optimizer.get_lr()
        from ..jit import host

        return host.number(optimizer.get_lr, optimizer, "learning_rate")

    def parameters_of(self, optimizer):
        """Those of an optimizer that was given none.

        Raises:
            AttributeError: always: only a program knows its parameters.
        """
        raise AttributeError("[Optimizer] parameters must not be None: pass model.parameters()")

    def gradients(self, optimizer, loss, startup_program, parameters, no_grad_set):
        """Pairs of (parameter, gradient); ``loss.backward()`` must have run."""
        params = parameters if parameters else [p for group, _ in optimizer._groups() for p in group]
        return [(p, g) for p, g in zip(params, core.collect_grads(params)) if g is not None]

    def updating(self, startup_program=None):
        """A context for the operators that update parameters."""
        return contextlib.nullcontext()

    def update_operators(self, before):
        """Operators that were appended since ``before`` (what this gave then): none here."""
        return []


eager = EagerMaker()
maker = eager


def install(other) -> None:
    """Puts another maker in charge; None: the eager one."""
    global maker
    maker = eager if other is None else other
