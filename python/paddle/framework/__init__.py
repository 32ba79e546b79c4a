"""Modes, element types, devices, random state, flags, and reading and writing of files."""

from __future__ import annotations

import importlib

from ..autograd.grad_mode import no_grad
from ..base import core
from .dtype import convert_np_dtype_to_dtype_, finfo, get_default_dtype, iinfo, set_default_dtype
from .flags import get_flags, set_flags
from .mode import (
    disable_static,
    dygraph_not_support,
    dygraph_only,
    enable_static,
    in_dygraph_mode,
    in_dynamic_mode,
    in_dynamic_or_pir_mode,
    in_pir_executor_mode,
    in_pir_mode,
    use_pir_api,
)
from .place import _current_expected_place, _current_expected_place_, _get_paddle_place
from .random import get_cuda_rng_state, get_rng_state, seed, set_cuda_rng_state, set_rng_state

CPUPlace, CUDAPlace, CUDAPinnedPlace = core.CPUPlace, core.CUDAPlace, core.CUDAPinnedPlace
XPUPlace, CustomPlace = core.XPUPlace, core.CustomPlace
XPUPinnedPlace, IPUPlace = core.XPUPinnedPlace, core.IPUPlace

_LAZY = {
    "save": ".io", "load": ".io", "async_save": ".io", "clear_async_save_task_queue": ".io",
    "ParamAttr": "..base.param_attr", "EagerParamBase": "..base.framework", "Parameter": "..base.framework",
    "create_parameter": "..base.framework", "LayerHelper": "..base.layer_helper", "grad": "..autograd.backward_mode",
    "Program": "..static", "Block": "..static", "Variable": "..static", "default_main_program": "..static",
    "default_startup_program": "..static", "program_guard": "..static", "switch_main_program": "..static",
    "switch_startup_program": "..static",
}  # fmt: skip
_MODULES = ("io", "random", "framework", "io_utils", "flags", "mode", "place")


def disable_signal_handler() -> None:
    """Nothing to do: no signal handlers are installed."""


def _dygraph_tracer():
    """A handle with ``_has_grad``, which old programs read and set."""
    return _tracer


class _Tracer:
    @property
    def _amp_level(self):
        return core.amp_state()[0]

    @property
    def _amp_dtype(self):
        return str(core.amp_state()[1]).rsplit(".", 1)[-1]

    @property
    def _has_grad(self):
        return core.grad_enabled()

    @_has_grad.setter
    def _has_grad(self, value):
        core.set_grad_enabled(bool(value))


_tracer = _Tracer()


def _no_check_dy2st_diff():
    """A context in which nothing changes: capture needs no such switch here."""
    import contextlib

    return contextlib.nullcontext()


def is_parameter(var) -> bool:
    """Whether ``var`` is a Parameter."""
    from ..base.framework import EagerParamBase

    return isinstance(var, EagerParamBase)


def is_persistable(var) -> bool:
    """Whether ``var`` outlives a program's run."""
    return bool(getattr(var, "persistable", False))


def __getattr__(name):
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name], __name__), name)
    elif name in _MODULES:
        value = importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module 'paddle.framework' has no attribute {name!r}")
    globals()[name] = value
    return value
