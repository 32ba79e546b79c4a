"""The one place where the Python sources meet the extension module.

What is needed of ``paddle._core``:

- ``Tensor``; ``DType`` with one object per name in ``DTYPES`` as attributes of the module; the places ``Place``,
  ``CPUPlace``, ``CUDAPlace``, ``CUDAPinnedPlace``, ``XPUPlace``, ``CustomPlace``;
- gradients: ``grad_enabled()``, ``set_grad_enabled(bool)``, ``backward(tensors, grads, retain_graph)``,
  ``grad(outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, no_grad_vars)``,
  ``py_layer_apply(cls, ctx, tensors, run)``, ``saved_tensors_hooks_push(pack, unpack)``, ``..._pop()``;
- state: ``seed(int)``, ``get_rng_state()`` -> (seed, offset), ``set_rng_state((seed, offset))``, ``flag_names()``,
  ``flag_get(name)``, ``flag_set(name, value)``, ``get_default_dtype()``, ``set_default_dtype(DType)``,
  ``current_place()``, ``set_current_place(place)``, ``amp_state()`` and ``set_amp_state(level, dtype, white, black)``.
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

Place = _core.Place
CPUPlace = _core.CPUPlace
CUDAPlace = _core.CUDAPlace
CUDAPinnedPlace = _core.CUDAPinnedPlace
XPUPlace = _core.XPUPlace
CustomPlace = _core.CustomPlace

grad_enabled = _core.grad_enabled
set_grad_enabled = _core.set_grad_enabled


def to_tensor(data, dtype=None, place=None, stop_gradient=True):
    """``paddle.to_tensor`` without importing the package at module load."""
    import paddle

    return paddle.to_tensor(data, dtype, place, stop_gradient)


def full(shape, value, dtype):
    """A new tensor of ``shape`` filled with ``value``, on the current device."""
    import paddle

    return paddle.full(shape, value, dtype)


def concat(tensors, axis=0):
    """Concatenation along ``axis``."""
    return _C_ops.concat(tensors, axis)


def assign_(destination, source) -> None:
    """Writes ``source`` into ``destination``'s storage (same shape and dtype)."""
    destination.copy_(source, False)


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


def is_compiled_with_cuda() -> bool:
    """True where a CUDA device can be used."""
    count = getattr(_core, "device_count", None)
    return bool(count is not None and count("gpu"))


def is_compiled_with_rocm() -> bool:
    return False


def is_compiled_with_xpu() -> bool:
    return False


def is_compiled_with_ipu() -> bool:
    return False


def is_compiled_with_cinn() -> bool:
    return True


def is_compiled_with_dist() -> bool:
    return True


def is_compiled_with_mkldnn() -> bool:
    return True


is_compiled_with_distribute = is_compiled_with_dist


def is_compiled_with_custom_device(device_type) -> bool:
    """True where a plugin for ``device_type`` is loaded."""
    return device_type in get_all_custom_device_type()


def get_all_custom_device_type() -> list:
    """Types of the devices that plugins brought."""
    kinds = getattr(_core, "device_types", None)
    return [k for k in kinds() if k not in ("cpu", "gpu", "null")] if kinds is not None else []


def get_cuda_device_count() -> int:
    """Number of CUDA devices, 0 without any."""
    count = getattr(_core, "device_count", None)
    return int(count("gpu")) if count is not None else 0


def get_custom_device_count(device_type) -> int:
    """Number of devices of a plugin's type."""
    count = getattr(_core, "device_count", None)
    return int(count(device_type)) if count is not None else 0


def set_num_threads(count) -> None:
    """Threads that one operator may use."""
    setter = getattr(_core, "set_num_threads", None)
    if setter is not None:
        setter(int(count))


def __getattr__(name):
    if name == "libpaddle":
        return _core
    try:
        return getattr(_core, name)
    except AttributeError:
        raise AttributeError(f"module 'paddle.base.core' has no attribute {name!r}") from None
