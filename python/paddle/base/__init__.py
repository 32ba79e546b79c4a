"""What clients know as ``paddle.base``: the core, names, parameters, and old places of things that are elsewhere
now."""

from __future__ import annotations

import importlib

from . import core
from .core import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, Tensor, XPUPlace

_ = CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, Tensor, XPUPlace
_MODULES = frozenset(
    ["framework", "unique_name", "param_attr", "data_feeder", "dygraph", "layer_helper", "executor", "core", "backward"]
)
_LAZY = {
    "ParamAttr": ".param_attr", "WeightNormParamAttr": ".param_attr", "require_version": "..utils.versions",
    "get_flags": "..framework.flags", "set_flags": "..framework.flags", "in_dygraph_mode": "..framework.mode",
    "in_pir_mode": "..framework.mode", "in_dynamic_or_pir_mode": "..framework.mode",
    "enable_dygraph": ".dygraph.base", "disable_dygraph": ".dygraph.base", "is_compiled_with_cuda": ".core",
    "is_compiled_with_xpu": ".core", "is_compiled_with_rocm": ".core", "is_compiled_with_cinn": ".core",
    "XPUPinnedPlace": ".core", "IPUPlace": ".core", "Program": "..static", "Variable": "..static",
    "Executor": "..static", "program_guard": "..static", "default_main_program": "..static",
    "default_startup_program": "..static", "global_scope": "..static", "scope_guard": "..static", "Scope": "..static",
    "append_backward": "..static", "gradients": "..static", "device_guard": "..static", "name_scope": "..static",
    "cpu_places": "..static", "cuda_places": "..static", "CompiledProgram": "..static", "BuildStrategy": "..static",
    "DataFeeder": "..static",
}  # fmt: skip


def __getattr__(name):
    if name in _MODULES:
        value = importlib.import_module("." + name, __name__)
    elif name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name], __name__), name)
    elif name == "libpaddle":
        value = core._core
    else:
        raise AttributeError(f"module 'paddle.base' has no attribute {name!r}")
    globals()[name] = value
    return value
