"""Old names of dynamic mode: ``guard``, ``to_variable`` and others."""

from __future__ import annotations

import contextlib

from ...autograd.backward_mode import grad
from ...autograd.grad_mode import no_grad
from ...framework.mode import disable_static, enable_static, in_dynamic_mode
from .. import core

no_grad_ = no_grad
enabled = in_dynamic_mode
_ = grad


def enable_dygraph(place=None) -> None:
    """Enters dynamic mode."""
    disable_static(place)


def disable_dygraph() -> None:
    """Enters static mode."""
    enable_static()


@contextlib.contextmanager
def guard(place=None):
    """Dynamic mode inside, on ``place`` if given."""
    was_static = not in_dynamic_mode()
    before = core.current_place()
    disable_static(place)
    try:
        yield
    finally:
        core.set_current_place(before)
        if was_static:
            enable_static()


@contextlib.contextmanager
def param_guard(parameters):
    """Kept for old programs: parameters need no conversion."""
    yield


def to_variable(value, name=None, zero_copy=None, dtype=None):
    """A tensor of ``value``."""
    tensor = value if isinstance(value, core.Tensor) else core.to_tensor(value, dtype)
    if name is not None:
        tensor.name = name
    return tensor
