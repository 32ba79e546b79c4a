"""What static mode makes for ``paddle.base.state``: tensors that a program refers to by name, with their first values
in the start-up program.

Such a tensor's elements are never read. Its values live in a Scope, under its name.
"""

from __future__ import annotations

import contextlib

from .._core import ir, trace
from ..autograd.grad_mode import no_grad
from ..base import core, unique_name
from ..base.state import EagerMaker
from .backward import append_backward
from .program import appending_to, default_main_program, default_startup_program

__all__ = ["StaticMaker", "declare", "is_declared"]


def is_declared(tensor) -> bool:
    """Whether ``tensor`` stands for a variable of a scope, rather than for its own elements."""
    return ir.is_declared(tensor)


def declare(name, shape, dtype, fill, startup_program=None):
    """A persistable tensor whose first value ``fill()`` appends to the start-up program."""
    tensor = ir.declared(name, list(shape), dtype)
    first_value(tensor, fill, startup_program)
    return tensor


def first_value(tensor, fill, startup_program=None) -> None:
    """Appends to the start-up program that ``tensor`` becomes ``fill()``."""
    with appending_to(startup_program or default_startup_program()), no_grad():
        trace.rebind(tensor, fill())


class StaticMaker(EagerMaker):
    """State of programs."""

    def parameter(self, initializer, shape, dtype, kwargs):
        from ..base.framework import EagerParamBase

        main = default_main_program()
        known = main._parameter_named(kwargs.get("name"))
        if known is not None:
            if list(known.shape) != list(shape):
                raise ValueError(
                    f"[create_parameter] {known.name} exists with shape {list(known.shape)}, got {list(shape)}"
                )
            return known
        parameter = EagerParamBase.declared(ir.declared(kwargs.get("name") or "", list(shape), dtype), **kwargs)
        main._declare(parameter)
        with appending_to(default_startup_program()), no_grad():
            if _makes_values(initializer):
                trace.rebind(parameter, initializer._values(list(shape), parameter.dtype))
            else:
                initializer(parameter)
        return parameter

    def full(self, name, shape, value, dtype, like=None):
        tensor = declare(name, shape, dtype, lambda: core.full(list(shape), value, dtype))
        default_main_program()._declare(tensor)
        return tensor

    def computed(self, name, source, dtype, compute):
        tensor = declare(name, list(source.shape), dtype, lambda: compute(source))
        default_main_program()._declare(tensor)
        return tensor

    def learning_rate(self, optimizer):
        """A variable of the program: a schedule sets it before each run."""
        main = default_main_program()
        known = main._rates.get(id(optimizer))
        if known is not None:
            return known[0]
        value = optimizer.get_lr()
        rate = self.full(unique_name.generate("learning_rate"), [], float(value), "float32")
        main._rates[id(optimizer)] = (rate, optimizer)
        return rate

    def parameters_of(self, optimizer):
        return []

    def gradients(self, optimizer, loss, startup_program, parameters, no_grad_set):
        if parameters is None:
            parameters = [p for group, _ in optimizer._groups() for p in group] or None
        pairs = append_backward(loss, parameters, no_grad_set)
        if not optimizer._parameter_list:
            optimizer._parameter_list = optimizer._param_groups = [p for p, g in pairs if g is not None]
        return [(p, g) for p, g in pairs if g is not None]

    @contextlib.contextmanager
    def updating(self, startup_program=None):
        from .program import switch_startup_program

        main = default_main_program()
        before = switch_startup_program(startup_program) if startup_program is not None else None
        role, main._role = main._role, 2
        try:
            yield
        finally:
            main._role = role
            if before is not None:
                switch_startup_program(before)

    def update_operators(self, before):
        ops = default_main_program().global_block().ops
        return len(ops) if before is None else ops[before:]


def _makes_values(initializer) -> bool:
    from ..nn.initializer.initializer import Initializer

    cls = type(initializer)
    return (
        getattr(cls, "_values", Initializer._values) is not Initializer._values
        and cls.__call__ is Initializer.__call__
        and cls.forward is Initializer.forward
    )
