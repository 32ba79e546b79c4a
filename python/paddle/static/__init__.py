"""Descriptions of inputs and control flow for functions that become programs."""

from __future__ import annotations

import importlib as _importlib

from .input_spec import InputSpec  # noqa: F401

__all__ = ["InputSpec", "nn", "setitem"]

_SUBMODULES = ("nn",)


def setitem(x, index, value):
    """`x` with ``x[index] = value`` done to a copy; for where nothing can be written in place."""
    from ..base.core import _C_ops

    out = _C_ops.assign(x)
    out[index] = value
    return out


def create_parameter(shape, dtype, name=None, attr=None, is_bias=False, default_initializer=None):
    """``paddle.create_parameter``."""
    from ..base.framework import create_parameter as make

    return make(shape, dtype, name, attr, is_bias, default_initializer)


def device_guard(device=None):
    """``paddle.device_guard``."""
    from ..device import device_guard as guard

    return guard(device)


def cpu_places(device_count=None):
    """`device_count` places on the CPU (one by default)."""
    from ..base import core

    return [core.CPUPlace()] * (device_count or 1)


def cuda_places(device_ids=None):
    """Places on the CUDA devices, none without any."""
    from ..base import core

    ids = range(core.get_cuda_device_count()) if device_ids is None else device_ids
    return [core.CUDAPlace(i) for i in ids]


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    if name == "WeightNormParamAttr":
        from ..base.param_attr import WeightNormParamAttr

        return WeightNormParamAttr
    if name == "Variable":
        from ..base import core

        return core.Tensor
    raise AttributeError(f"module 'paddle.static' has no attribute {name!r}")
