"""The one place where the Python sources meet the extension module.

Everything here is a thin name for something in ``paddle._core``, or what clients know as ``paddle.base.core``.
"""

from __future__ import annotations

from .. import _C_ops, _core

Tensor = _core.Tensor
DType = _core.DType
DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip

_OLD_NAMES = {"uint16": "bfloat16"}  # paddle.uint16 is what files and old programs call bfloat16


def _dtype_object(name):
    found = getattr(_core, name, None)
    if isinstance(found, DType):
        return found
    found = getattr(DType, name, None)
    return found if isinstance(found, DType) else None


dtype_objects = {}
for _name in DTYPES:
    _found = _dtype_object(_OLD_NAMES.get(_name, _name))
    if _found is not None:
        dtype_objects[_name] = _found
float16, bfloat16 = dtype_objects["float16"], dtype_objects["bfloat16"]
float32, float64 = dtype_objects["float32"], dtype_objects["float64"]
int32, int64 = dtype_objects["int32"], dtype_objects["int64"]
bool_, uint8 = dtype_objects["bool"], dtype_objects["uint8"]

ArgumentError = _core.ArgumentError  # TypeError, ValueError and NotImplementedError: what a function doesn't take
OutOfRangeError = _core.OutOfRangeError  # IndexError and ValueError: no such index, or axis

Place = _core.Place
CPUPlace = _core.CPUPlace
CustomPlace = _core.CustomPlace


def _absent_place(name, kind):
    """A class of places for a kind of device that this build has not: it can be asked for, but not made."""

    def refuse(cls, *args):
        raise ValueError(f"[{name}] this build of paddle has no {kind} devices")

    return type(name, (Place,), {"__new__": refuse, "__module__": "paddle", "__doc__": f"A place on a {kind} device."})


CUDAPlace = getattr(_core, "CUDAPlace", None) or _absent_place("CUDAPlace", "CUDA")
CUDAPinnedPlace = getattr(_core, "CUDAPinnedPlace", None) or _absent_place("CUDAPinnedPlace", "CUDA")
XPUPlace = getattr(_core, "XPUPlace", None) or _absent_place("XPUPlace", "XPU")
XPUPinnedPlace = getattr(_core, "XPUPinnedPlace", None) or _absent_place("XPUPinnedPlace", "XPU")
IPUPlace = _absent_place("IPUPlace", "IPU")

current_place = _core.current_place
grad_enabled = _core.grad_enabled
set_grad_enabled = _core.set_grad_enabled
_AMP_LEVELS = {"O0": 0, "OD": 1, "O1": 1, "O2": 2}


def amp_state():
    """(level "O0" | "O1" | "O2", dtype, white names, black names) of autocast here."""
    level, dtype, white, black = _core.amp_state()
    return f"O{level}" if isinstance(level, int) else level, dtype, white, black


def set_amp_state(level, dtype, white, black) -> None:
    """Sets what ``amp_state`` gives."""
    _core.set_amp_state(_AMP_LEVELS[level], dtype, white, black)


def to_tensor(data, dtype=None, place=None, stop_gradient=True):
    """``paddle.to_tensor``: a new tensor of a number, a nest of numbers, an array or a tensor."""
    return _core.to_tensor(data, dtype, place, stop_gradient)


def full(shape, value, dtype):
    """A new tensor of ``shape`` filled with ``value``, on the current device."""
    return _C_ops.full(list(shape), value, dtype, current_place())


def concat(tensors, axis=0):
    """Concatenation along ``axis``."""
    return _C_ops.concat(tensors, axis)


def assign_(destination, source) -> None:
    """Writes ``source`` into ``destination``'s storage (same shape and dtype)."""
    destination.copy_(source, False)


def number(value) -> float:
    """A Python float of a number or of a tensor with one element."""
    return float(value.item()) if isinstance(value, Tensor) else float(value)


def set_value_(tensor, value) -> None:
    """Writes a tensor's or an array's values into ``tensor``, cast to its dtype.

    Raises:
        ValueError: the shapes differ.
    """
    value = value if isinstance(value, Tensor) else to_tensor(value)
    if list(value.shape) != list(tensor.shape):
        raise ValueError(f"[set_value] expected shape {list(tensor.shape)} for {tensor.name}, got {list(value.shape)}")
    assign_(tensor, value if value.dtype == tensor.dtype else value.astype(tensor.dtype))


def decay_(state, rate, update) -> None:
    """``state = state * rate + update`` in place."""
    assign_(state, state * rate + update)


def clone(tensor):
    """The values in memory of their own, without history."""
    return _C_ops.assign(tensor.detach())


def _collect_grads(params):
    return [None if p.stop_gradient else p.grad for p in params]


def _clear_gradients(params, set_to_zero) -> None:
    for p in params:
        if not p.stop_gradient:
            p.clear_gradient(set_to_zero)


# Both walk all parameters at each step; the extension's own loops save some 50 ns a parameter.
collect_grads = getattr(_core, "collect_grads", _collect_grads)
clear_gradients = getattr(_core, "clear_gradients", _clear_gradients)


class _Eager:
    """What clients know as ``paddle.base.core.eager``."""

    Tensor = Tensor


eager = _Eager


class _VarType:
    """The old enumeration of dtypes and kinds of variables; dtypes answer with today's dtype objects."""

    BOOL, UINT8, INT16 = bool_, uint8, dtype_objects["int16"]
    INT8, INT32, INT64 = dtype_objects["int8"], int32, int64
    FP16, BF16, FP32, FP64 = float16, bfloat16, float32, float64
    COMPLEX64, COMPLEX128 = dtype_objects["complex64"], dtype_objects["complex128"]
    LOD_TENSOR = DENSE_TENSOR = 7
    SELECTED_ROWS, FEED_MINIBATCH, FETCH_LIST, STEP_SCOPES = 8, 9, 10, 11
    LOD_TENSOR_ARRAY = DENSE_TENSOR_ARRAY = 13
    READER, RAW, STRINGS, VOCAB = 15, 17, 25, 26


class VarDesc:
    """Namespace of ``VarType``."""

    VarType = _VarType


def device_kinds() -> list:
    """Kinds of devices in this process, such as ``["cpu", "opencl"]``."""
    kinds = getattr(_core, "device_kinds", None)
    return list(kinds()) if kinds is not None else ["cpu"]


def _count(kind) -> int:
    return int(_core.device_count(kind)) if kind in device_kinds() else 0


def is_compiled_with_cuda() -> bool:
    """True where a CUDA device can be used."""
    return _count("gpu") > 0


def is_compiled_with_rocm() -> bool:
    """Whether this build uses ROCm: never."""
    return False


def is_compiled_with_xpu() -> bool:
    """Whether this build uses XPUs: never."""
    return False


def is_compiled_with_ipu() -> bool:
    """Whether this build uses IPUs: never."""
    return False


def is_compiled_with_cinn() -> bool:
    """Whether the compiler is there: always."""
    return True


def is_compiled_with_dist() -> bool:
    """Whether distributed training is there: always."""
    return True


def is_compiled_with_mkldnn() -> bool:
    return True


is_compiled_with_distribute = is_compiled_with_dist


def is_compiled_with_custom_device(device_type) -> bool:
    """True where a plugin for ``device_type`` is loaded."""
    return device_type in get_all_custom_device_type()


def get_all_custom_device_type() -> list:
    """Kinds of devices that plugins brought."""
    return [k for k in device_kinds() if k not in ("cpu", "gpu", "null")]


def get_cuda_device_count() -> int:
    """Number of CUDA devices, 0 without any."""
    return _count("gpu")


def get_custom_device_count(device_type) -> int:
    """Number of devices of a plugin's kind."""
    return _count(device_type)


def set_num_threads(count) -> None:
    """Threads that one operator may use."""
    setter = getattr(_core, "set_num_threads", None)
    if setter is not None:
        setter(int(count))


def _set_has_grad(value) -> None:
    """``set_grad_enabled`` under the name that clients use."""
    set_grad_enabled(bool(value))


def device_memory_stat_current_value(name, index=0) -> int:
    """Bytes "Allocated" or "Reserved" now on the current device."""
    return _core.memory_stats()["in_use" if name == "Allocated" else "reserved"]


def device_memory_stat_peak_value(name, index=0) -> int:
    """The most bytes "Allocated" or "Reserved" so far on the current device."""
    return _core.memory_stats()["peak_in_use" if name == "Allocated" else "peak_reserved"]


def nvprof_nvtx_push(name) -> None:
    """Marks a range for NVIDIA's profiler; nothing without CUDA."""


def nvprof_nvtx_pop() -> None:
    """Ends a range for NVIDIA's profiler; nothing without CUDA."""


def __getattr__(name):
    if name == "libpaddle":
        return _core
    if name == "DataType":
        return DType
    if name in ("default_cpu_generator", "default_cuda_generator", "default_custom_device_generator", "Generator"):
        from ..framework.random import Generator, default_generator

        return Generator if name == "Generator" else lambda *args: default_generator
    try:
        return getattr(_core, name)
    except AttributeError:
        raise AttributeError(f"module 'paddle.base.core' has no attribute {name!r}") from None
