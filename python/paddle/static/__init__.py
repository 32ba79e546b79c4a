"""Static mode: programs that are built first and run by an Executor; descriptions of inputs for functions that become programs."""

from __future__ import annotations

import importlib as _importlib

from .input_spec import InputSpec  # noqa: F401

_SUBMODULES = ("nn", "amp", "io")
_HOME = {
    name: module
    for module, names in {
        "program": "Program default_main_program default_startup_program program_guard switch_main_program "
        "switch_startup_program",
        "variables": "Print create_global_var create_parameter data is_persistable name_scope setitem device_guard",
        "host_call": "py_func",
        "executor": "Executor",
        "scope": "Scope global_scope scope_guard",
        "backward": "append_backward gradients",
        "compiler": "BuildStrategy CompiledProgram ExecutionStrategy IpuCompiledProgram IpuStrategy ipu_shard_guard "
        "set_ipu_shard",
        "io": "save load save_inference_model load_inference_model normalize_program serialize_program "
        "deserialize_program serialize_persistables deserialize_persistables save_to_file load_from_file "
        "load_program_state set_program_state save_vars load_vars",
        "metric": "accuracy auc ctr_metric_bundle",
        "averages": "ExponentialMovingAverage",
    }.items()
    for name in names.split()
}
_ELSEWHERE = {
    "WeightNormParamAttr": ("..base.param_attr", "WeightNormParamAttr"),
    "Variable": ("..base.core", "Tensor"),
    "Parameter": ("..base.framework", "EagerParamBase"),
    "Block": ("..pir.program", "Block"),
    "Operator": ("..pir", "Operation"),
    "CPUPlace": ("..base.core", "CPUPlace"),
    "DataFeeder": ("..base.data_feeder", "DataFeeder"),
}
__all__ = ["InputSpec", "nn", *_HOME, *_ELSEWHERE, "cpu_places", "cuda_places", "xpu_places"]


def cpu_places(device_count=None):
    """`device_count` places on the CPU (one by default)."""
    from ..base import core

    return [core.CPUPlace()] * (device_count or 1)


def cuda_places(device_ids=None):
    """Places on the CUDA devices, none without any."""
    from ..base import core

    ids = range(core.get_cuda_device_count()) if device_ids is None else device_ids
    return [core.CUDAPlace(i) for i in ids]


def xpu_places(device_ids=None):
    """Places on the XPUs, none without any."""
    from ..base import core

    return [core.XPUPlace(i) for i in device_ids or ()]


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    if name in _HOME:
        value = getattr(_importlib.import_module("." + _HOME[name], __name__), name)
    elif name in _ELSEWHERE:
        module, attribute = _ELSEWHERE[name]
        value = getattr(_importlib.import_module(module, __name__), attribute)
    else:
        raise AttributeError(f"module 'paddle.static' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
