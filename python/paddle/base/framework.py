"""Parameter (EagerParamBase)."""

from __future__ import annotations

import copy

import paddle
from paddle import Tensor

from . import unique_name

__all__ = ["EagerParamBase", "Parameter"]


def sizes_of_parameter(shape):
    """A parameter's shape as a list of ints; ValueError for a negative size, TypeError for text."""
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    elif isinstance(shape, int):
        shape = [shape]
    if isinstance(shape, str) or any(isinstance(s, str) for s in shape):
        raise TypeError(f"[create_parameter] expected a shape of ints, got {shape!r}")
    sizes = [int(s) for s in shape]
    for s in sizes:
        if s < 0:
            raise ValueError(
                f"Each dimension of shape for Parameter must be greater than 0, but received {list(shape)}"
            )
    return sizes


class EagerParamBase(Tensor):
    """A tensor that a Layer registers and an optimizer updates.

    Two forms, as ``paddle.nn.Parameter``:

    - ``Parameter(data=None, requires_grad=True)`` shares the storage of `data` (Tensor; empty when None).
    - ``EagerParamBase(shape, dtype, name=None, trainable=True, ...)`` is filled with zeros.

    Attributes: `trainable` (bool, the opposite of `stop_gradient`), `optimize_attr` (dict with ``learning_rate``),
    `regularizer`, `do_model_average`, `need_clip`, `is_distributed`.
    """

    def __init__(self, *args, **kwargs):
        by_shape = "shape" in kwargs or (args and not isinstance(args[0], Tensor) and args[0] is not None)
        if by_shape:
            self.__init_by_shape__(*args, **kwargs)
        else:
            self.__init_by_tensor__(*args, **kwargs)

    def __init_by_shape__(self, shape, dtype, **kwargs):
        if shape is None:
            raise ValueError("The shape of Parameter should not be None")
        if dtype is None:
            raise ValueError("The dtype of Parameter should not be None")
        self._adopt(paddle.zeros(sizes_of_parameter(shape), dtype), **kwargs)

    def __init_by_tensor__(self, data=None, requires_grad=True, **kwargs):
        if data is None:
            data = paddle.zeros([0])
        kwargs.setdefault("trainable", requires_grad)
        self._adopt(data, **kwargs)

    def _adopt(self, value, name=None, trainable=True, optimize_attr=None, regularizer=None, do_model_average=True,
               need_clip=True, is_distributed=False, **_):  # fmt: skip
        super().__init__(value.detach())
        self._describe(name, trainable, optimize_attr, regularizer, do_model_average, need_clip, is_distributed)

    def _describe(self, name=None, trainable=True, optimize_attr=None, regularizer=None, do_model_average=True,
                  need_clip=True, is_distributed=False, **_):  # fmt: skip
        self.name = name if name else unique_name.generate("_eager_param_base")
        self.persistable = True
        self.stop_gradient = not trainable
        self.optimize_attr = {"learning_rate": 1.0} if optimize_attr is None else optimize_attr
        self.regularizer = regularizer
        self.do_model_average = do_model_average
        self.need_clip = need_clip
        self.is_distributed = is_distributed
        self._init_func = None

    @classmethod
    def declared(cls, tensor, **kwargs):
        """A parameter of programs from a tensor without elements; keywords are those of the constructor by shape."""
        param = cls.__new__(cls)
        Tensor.__init__(param, tensor)
        param._describe(**kwargs)
        return param

    @classmethod
    def from_tensor(cls, tensor, **kwargs):
        """A parameter that shares `tensor`'s storage; keywords are those of the constructor by shape."""
        param = cls.__new__(cls)
        param._adopt(tensor, **kwargs)
        return param

    is_parameter = True

    @property
    def trainable(self):
        """Whether gradients reach this parameter (bool)."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, trainable):
        if not isinstance(trainable, bool):
            raise ValueError(f"The type of trainable MUST be bool, but the type is {type(trainable)}")
        self.stop_gradient = not trainable

    def set_init_func(self, obj):
        """Keeps `obj` (a callable of no arguments) for `initialize`."""
        self._init_func = obj

    def initialize(self):
        """Runs the function kept by `set_init_func`, once."""
        if self._init_func is None:
            raise RuntimeError("Required self._init_func is not None, but received None.")
        self._init_func()
        self._init_func = None

    def __deepcopy__(self, memo):
        value = paddle.assign(self.detach())
        clone = type(self).from_tensor(
            value, name=unique_name.generate(self.name + "_deepcopy"), trainable=self.trainable
        )
        memo[id(self)] = clone
        own = {k: v for k, v in getattr(self, "__dict__", {}).items() if k != "_init_func"}
        for key, attribute in own.items():
            setattr(clone, key, copy.deepcopy(attribute, memo))
        return clone

    def __reduce_ex__(self, protocol):
        own = {k: v for k, v in getattr(self, "__dict__", {}).items() if k != "_init_func"}
        as_numpy = self.detach()
        kept = str(self.dtype).rsplit(".", 1)[-1]
        if kept == "bfloat16":  # NumPy has no bfloat16; float32 holds every value exactly
            as_numpy = as_numpy.astype("float32")
        return _rebuild, (type(self), as_numpy.numpy(), kept, self.name, self.trainable, own)

    def __repr__(self):
        return "Parameter containing:\n" + super().__str__()

    __str__ = __repr__


def _rebuild(cls, array, dtype, name, trainable, attributes):
    value = paddle.to_tensor(array)
    if str(value.dtype).rsplit(".", 1)[-1] != dtype:
        value = value.astype(dtype)
    param = cls.from_tensor(value, name=name, trainable=trainable)
    for key, attribute in attributes.items():
        setattr(param, key, attribute)
    return param


Parameter = EagerParamBase


# Names that clients import from here and that live elsewhere.
_ELSEWHERE = {
    "create_parameter": "nn._create", "create_named_parameter": "nn._create", "ParamAttr": "nn._param_attr",
    "in_dygraph_mode": "framework.mode", "in_dynamic_mode": "framework.mode", "in_pir_mode": "framework.mode",
    "in_dynamic_or_pir_mode": "framework.mode", "in_pir_executor_mode": "framework.mode",
    "use_pir_api": "framework.mode",
    "dygraph_only": "framework.mode", "dygraph_not_support": "framework.mode", "get_flags": "framework.flags",
    "set_flags": "framework.flags", "_current_expected_place": "framework.place",
    "_current_expected_place_": "framework.place", "_get_paddle_place": "framework.place",
    "convert_np_dtype_to_dtype_": "framework.dtype", "_dygraph_tracer": "framework",
    "disable_signal_handler": "framework",
    "require_version": "utils.versions", "core": "base", "is_compiled_with_cuda": "base.core",
    "is_compiled_with_xpu": "base.core", "is_compiled_with_rocm": "base.core", "is_compiled_with_cinn": "base.core",
    "Program": "static", "Variable": "static", "Block": "static", "Operator": "static", "program_guard": "static",
    "default_main_program": "static", "default_startup_program": "static", "device_guard": "static",
    "name_scope": "static", "cpu_places": "static", "cuda_places": "static", "switch_main_program": "static",
    "switch_startup_program": "static",
}  # fmt: skip


def __getattr__(name):
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'paddle.base.framework' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module("paddle." + _ELSEWHERE[name]), name)
    globals()[name] = value
    return value
