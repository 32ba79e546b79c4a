"""Devices: which there are, which one is current, their memory, streams and events."""

from __future__ import annotations

import importlib

from ..base import core
from ..base.core import (
    XPUPinnedPlace,
    get_all_custom_device_type,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from ..framework import random as _random
from ..framework.place import Device, convert_to_place, get_device, set_device
from .memory import (
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
)
from .stream import Event, Stream, StreamContext, current_stream, get_stream_from_external, set_stream, stream_guard

__all__ = [
    "get_cudnn_version", "set_device", "get_device", "XPUPlace", "IPUPlace", "is_compiled_with_xpu",
    "is_compiled_with_ipu", "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_rocm",
    "is_compiled_with_distribute", "is_compiled_with_custom_device", "get_all_device_type", "get_all_custom_device_type",
    "get_available_device", "get_available_custom_device", "get_device_properties", "Stream", "Event", "current_stream",
    "set_stream", "stream_guard", "device_guard", "synchronize", "device_count", "empty_cache", "max_memory_allocated",
    "max_memory_reserved", "reset_max_memory_allocated", "reset_max_memory_reserved", "memory_allocated",
    "memory_reserved", "is_available", "is_current_stream_capturing", "get_device_name", "get_device_capability",
    "get_rng_state", "set_rng_state", "Device", "StreamContext", "device", "get_stream_from_external", "ipc_collect",
    "is_bf16_supported", "manual_seed", "reset_peak_memory_stats", "BFloat16Tensor", "BoolTensor", "ByteTensor",
    "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor",
]  # fmt: skip

_convert_to_place, _Device = convert_to_place, Device
_TENSOR_TYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32", "LongTensor": "int64",
    "BoolTensor": "bool",
}  # fmt: skip


def get_cudnn_version() -> int | None:
    """The version of cuDNN, None without."""
    version = getattr(core._core, "cudnn_version", None)
    return version() if version is not None and is_compiled_with_cuda() else None


def XPUPlace(dev_id: int):  # noqa: N802
    """The place of an XPU."""
    return core.XPUPlace(dev_id)


def IPUPlace():  # noqa: N802
    """The place of an IPU.

    Raises:
        RuntimeError: there is none.
    """
    raise RuntimeError("[IPUPlace] there is no IPU")


def get_all_device_type() -> list:
    """Kinds of devices beside the CPU that can be used, such as ``["gpu"]``."""
    return [k for k in core.device_kinds() if k not in ("null", "cpu")]


def get_available_device() -> list:
    """Devices beside the CPU that can be used, such as ``["gpu:0"]``."""
    devices = [f"gpu:{i}" for i in range(core.get_cuda_device_count())]
    return devices + get_available_custom_device()


def get_available_custom_device() -> list:
    """Devices that plugins brought, such as ``["opencl:0"]``."""
    return [f"{k}:{i}" for k in get_all_custom_device_type() for i in range(core.get_custom_device_count(k))]


def device_count() -> int:
    """Number of accelerators of the current kind (0 on a machine with CPUs only)."""
    kinds = get_all_custom_device_type()
    return core.get_cuda_device_count() or (core.get_custom_device_count(kinds[0]) if kinds else 0)


def is_available() -> bool:
    """Whether there is an accelerator."""
    return device_count() > 0


def _place(device):
    return core.current_place() if device is None else convert_to_place(device)


def _ask(name, device):
    asked = getattr(core._core, name, None)
    if asked is None:
        raise ValueError(f"[{name}] not known for {_place(device)}")
    return asked(_place(device))


def get_device_properties(device=None):
    """Name, memory and so on of a device."""
    return _ask("device_properties", device)


def get_device_name(device=None) -> str:
    """The product's name."""
    return _ask("device_name", device)


def get_device_capability(device=None) -> tuple:
    """(major, minor) of a CUDA device's capability."""
    return _ask("device_capability", device)


def synchronize(device=None) -> None:
    """Waits until the device has done all that was asked of it."""
    wait = getattr(core._core, "synchronize", None)
    if wait is not None:
        wait(_place(device))


def empty_cache() -> None:
    """Gives memory that the allocators keep for later back to the system."""
    core._core.trim_memory()


class device_guard:  # noqa: N801 - the public name
    """``device`` is current inside."""

    def __init__(self, device) -> None:
        self._place = convert_to_place(device)

    def __enter__(self):
        self._before = core.current_place()
        core.set_current_place(self._place)
        return self

    def __exit__(self, *exception) -> bool:
        core.set_current_place(self._before)
        return False


class device(device_guard):  # noqa: N801 - the public name
    """``device_guard`` that also takes an index, or None for no change."""

    def __init__(self, device=None) -> None:
        if device is None:
            self._place = core.current_place()
        else:
            super().__init__(f"gpu:{device}" if isinstance(device, int) else device)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 can be computed with."""
    return True


def is_current_stream_capturing() -> bool:
    """Whether a CUDA graph is being captured; never without CUDA."""
    return False


def manual_seed(seed: int) -> None:
    """Sets the seed of the random operators."""
    _random.manual_seed(seed)


def get_rng_state(device=None):
    """The state of the generator of ``device``."""
    return _random.default_generator.get_state()


def set_rng_state(new_state, device=None) -> None:
    """Restores a state of ``get_rng_state``."""
    _random.default_generator.set_state(new_state)


def ipc_collect() -> None:
    """Nothing to do: shared memory is released with its last user."""


def _tensor_type(name, dtype):
    def make(*args, **kwargs):
        import paddle

        if args and all(isinstance(a, int) for a in args):
            return paddle.empty(list(args), dtype=dtype)
        return paddle.to_tensor(args[0] if args else [], dtype=dtype, **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"A {dtype} tensor of the given data, or of the given sizes without values."
    return make


def __getattr__(name):
    if name in _TENSOR_TYPES:
        value = _tensor_type(name, _TENSOR_TYPES[name])
    elif name in ("cuda", "xpu"):
        value = importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module 'paddle.device' has no attribute {name!r}")
    globals()[name] = value
    return value
