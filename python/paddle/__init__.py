"""A deep learning framework with PaddlePaddle 3's Python API.

Only what every program touches is imported here; the rest of the package loads on first use.
"""

from __future__ import annotations

import importlib as _importlib
import math as _math
import os as _os

# Threads between two parallel loops spin for some 0.2 ms, then sleep: the OpenMP runtime's own default spins for
# milliseconds, at the expense of whoever shares the processors. It reads this once, when it is loaded.
if "OMP_WAIT_POLICY" not in _os.environ:
    _os.environ.setdefault("GOMP_SPINCOUNT", "20000")

from . import _core
from ._core import Tensor
from .autograd.backward_mode import grad
from .autograd.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .base import core as _base_core
from .base import tensor_patch as _tensor_patch
from .framework.dtype import finfo, get_default_dtype, iinfo, set_default_dtype
from .framework.flags import get_flags, set_flags
from .framework.mode import disable_static, enable_static, in_dynamic_mode
from .framework.place import get_device, set_device
from .framework.random import (
    Generator,
    get_cuda_rng_state,
    get_rng_state,
    manual_seed,
    seed,
    set_cuda_rng_state,
    set_rng_state,
)
from .framework.size import Size
from .version import commit as __git_commit__
from .version import full_version as __version__

dtype = _base_core.DType
globals().update(_base_core.dtype_objects)  # paddle.float32 ...; paddle.bool too: inside this module bool is a dtype
half, float, double = _base_core.float16, _base_core.float32, _base_core.float64
short, int, long = _base_core.dtype_objects["int16"], _base_core.int32, _base_core.int64
cfloat, cdouble = _base_core.dtype_objects["complex64"], _base_core.dtype_objects["complex128"]
CPUPlace, CUDAPlace, CUDAPinnedPlace = _base_core.CPUPlace, _base_core.CUDAPlace, _base_core.CUDAPinnedPlace
XPUPlace, CustomPlace = _base_core.XPUPlace, _base_core.CustomPlace
inf, nan, pi, e, newaxis = _math.inf, _math.nan, _math.pi, _math.e, None
_tensor_patch.install()
from . import tensor  # noqa: E402 - completes Tensor; needs the dtypes above

_SUBMODULES = frozenset(
    """amp audio autograd base callbacks compat dataset device distributed distribution fft fluid
    framework functional geometric hapi hub incubate inference io jit linalg metric nn onnx optimizer pir profiler quantization
    random reader regularizer signal sparse special static sysconfig tensor text utils version vision
    common_ops_import pir_utils""".split()
)
# Names that live in a submodule and are also offered here.
_LAZY = {
    name: module
    for module, names in {
        ".framework.io": "save load async_save clear_async_save_task_queue",
        ".framework": "disable_signal_handler in_dynamic_or_pir_mode",
        ".framework.printing": "set_printoptions",
        ".framework.mmap_storage": "MmapStorage",
        ".base.param_attr": "ParamAttr",
        ".base.framework": "create_parameter",
        ".nn.initializer.lazy_init": "LazyGuard",
        ".device": "device_guard is_compiled_with_cuda is_compiled_with_xpu is_compiled_with_rocm "
        "is_compiled_with_cinn "
        "is_compiled_with_ipu is_compiled_with_distribute is_compiled_with_custom_device get_cudnn_version "
        "XPUPinnedPlace "
        "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor "
        "LongTensor ShortTensor",
        ".amp": "get_autocast_dtype get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_enabled",
        ".distributed": "DataParallel",
        ".hapi": "Model summary flops",
        ".reader": "batch",
        ".utils.dlpack": "from_dlpack to_dlpack",
        ".compat": "enable_compat disable_compat",
        ".linalg": "eigvalsh",
    }.items()
    for name in names.split()
}


def _lookup(name):
    if name in _SUBMODULES:
        return _importlib.import_module("." + name, __name__)
    if name in _LAZY:
        return getattr(_importlib.import_module(_LAZY[name], __name__), name)
    if name == "autocast":
        return _lookup("amp").auto_cast
    if name == "cuda":
        return _lookup("device").cuda
    value = getattr(tensor, name, None)
    if isinstance(value, type(_math)):  # the files of that package are not paddle's
        value = None
    if value is None:
        raise AttributeError(f"module 'paddle' has no attribute {name!r}")
    return value


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'paddle' has no attribute {name!r}")
    value = _lookup(name)
    globals()[name] = value  # the next access finds it at once
    return value


def __dir__():
    names = set(globals()) | _SUBMODULES | set(_LAZY)
    names.update(n for n in dir(tensor) if not n.startswith("_"))
    return sorted(names - {"fluid"})


def to_tensor(data, dtype=None, place=None, stop_gradient=True):
    """A new tensor.

    Args:
        data: a number, a nest of lists of numbers, a NumPy array, or a tensor (copied).
        dtype: default: the array's own; Python floats become the default dtype, ints int64.
        place: default: the current device.
        stop_gradient: False makes the tensor collect a gradient.
    """
    return _core.to_tensor(data, dtype, place, stop_gradient)


def is_tensor(x=None, *, obj=None) -> bool:
    """Whether ``x`` (or ``obj``) is a Tensor (parameters and other subclasses too)."""
    return isinstance(obj if x is None else x, Tensor)
