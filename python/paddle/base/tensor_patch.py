"""Methods of Tensor that are better said in Python: printing, copying, pickling, moving, hooks.

``install`` adds each only where the extension has none of its own.
"""

from __future__ import annotations

import copy
import itertools

import numpy as np

from . import core


class TensorHookRemoveHelper:
    """What ``register_hook`` returns; ``remove()`` ends the hook."""

    def __init__(self, tensor, hook_id) -> None:
        self._tensor, self._hook_id = tensor, hook_id

    def remove(self) -> bool:
        """Removes the hook; False if it was removed before."""
        if self._hook_id is None:
            return False
        self._tensor._remove_hook(self._hook_id)
        self._hook_id = None
        return True


def register_hook(self, hook):
    """``hook(grad)`` runs when this tensor's gradient is there; what it returns (if anything) replaces it.

    Raises:
        RuntimeError: the tensor needs no gradient.
    """
    if self.stop_gradient:
        raise RuntimeError("Cannot register hook on a tensor that stop gradient.")
    if core._core.trace.tracing():
        from ..jit import custom_gradient

        return custom_gradient.register_hook(self, hook)
    return TensorHookRemoveHelper(self, self._register_hook(hook))


def get_value(self, scope=None):
    """The tensor that this variable of a program is in a scope (the global one by default); itself where it has elements."""
    from .._core import ir

    if not ir.is_variable(self):
        return self
    from ..static.io import value_in

    return value_in(scope, self)


def set_value(self, value, scope=None) -> None:
    """Writes values (a tensor or an array of this shape and dtype) into this tensor's memory, or where it is a program's
    state into a scope.

    Raises:
        ValueError: shapes or dtypes differ.
    """
    from .._core import ir

    if not isinstance(value, core.Tensor):
        value = core.to_tensor(np.asarray(value))
    if ir.is_declared(self):
        from ..static.io import write_value

        return write_value(scope, self, value)
    if value.dtype != self.dtype:
        raise ValueError(f"[set_value] {self.name}: expected dtype {self.dtype}, got {value.dtype}")
    core.set_value_(self, value)


def _repr(self) -> str:
    from .._core import ir
    from ..framework.printing import tensor_to_string

    if ir.is_variable(self):  # it has no elements
        sizes = [n if type(n) is int else -1 for n in self.shape]
        return (
            f"var {self.name} : DENSE_TENSOR.shape({', '.join(map(str, sizes))}).dtype({str(self.dtype).rsplit('.', 1)[-1]})"
            f".stop_gradient({self.stop_gradient})"
        )
    return tensor_to_string(self)


def _format(self, spec) -> str:
    return format(self.item(), spec) if self.ndim == 0 else str(self)


def _deepcopy(self, memo):
    clone = core.clone(self).detach()  # a leaf: the copy of a result has no history
    clone.stop_gradient, clone.persistable = self.stop_gradient, self.persistable
    clone.name = f"{self.name}_deepcopy_{next(_copies)}"
    memo[id(self)] = clone
    for key, value in getattr(self, "__dict__", {}).items():
        setattr(clone, key, copy.deepcopy(value, memo))
    return clone


_copies = itertools.count()


def _rebuild(array, name, stop_gradient, attributes):
    from ..framework.io_utils import numpy_to_tensor

    tensor = numpy_to_tensor(array, name)
    tensor.stop_gradient = stop_gradient
    for key, value in attributes.items():
        setattr(tensor, key, value)
    return tensor


def _reduce_ex(self, protocol):
    from ..framework.io_utils import tensor_to_numpy

    own = dict(getattr(self, "__dict__", {}))
    return _rebuild, (tensor_to_numpy(self.detach()), self.name, self.stop_gradient, own)


def to(self, *args, **kwargs):
    """This tensor on another device and in another dtype: ``to(device)``, ``to(dtype)``, ``to(device, dtype)``,
    ``to(other)``. With a dtype a copy even if nothing changes."""
    from ..framework.place import convert_to_place

    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    for value in [*args, kwargs.get("other")]:
        if isinstance(value, core.Tensor):
            device, dtype = value.place, value.dtype
        elif isinstance(value, core.DType) or (isinstance(value, str) and value.rsplit(".", 1)[-1] in core.DTYPES):
            dtype = value
        elif isinstance(value, (str, core.Place)):
            device = value
    moved = self if device is None else _on(self, convert_to_place(device))
    if dtype is None:
        return moved
    if str(moved.dtype).rsplit(".", 1)[-1] == str(dtype).rsplit(".", 1)[-1]:
        return moved.clone() if moved is self else moved
    return moved.astype(dtype)


def _on(tensor, place):
    return tensor if tensor.place == place else tensor._copy_to(place, True)


def cpu(self):
    """This tensor in the host's memory."""
    return _on(self, core.CPUPlace())


def cuda(self, device_id=None, blocking=True):
    """This tensor on a CUDA device; in a program under construction, whose executor chooses the device, itself."""
    from ..jit._trace_api import is_traced  # jit needs tensors, which need this

    if is_traced(self):
        return self
    return _on(self, core.CUDAPlace(0 if device_id is None else device_id))


def clone(self):
    """A copy in memory of its own; gradients flow through."""
    return core._C_ops.assign(self)


def itself(self, *args, **kwargs):
    """This tensor."""
    return self


def contiguous(self):
    """This tensor, or where its elements aren't in order in memory, a copy in which they are."""
    return self if self.is_contiguous() else core._C_ops.assign(self)


def apply_(self, func):
    """Writes ``func(self)`` into this tensor.

    Raises:
        RuntimeError: the tensor needs a gradient.
    """
    if not self.stop_gradient:
        raise RuntimeError("Cannot apply function on a tensor that required gradient.")
    core.set_value_(self, func(self))
    return self


def apply(self, func):
    """``func(self)``.

    Raises:
        RuntimeError: the tensor needs a gradient.
    """
    if not self.stop_gradient:
        raise RuntimeError("Cannot apply function on a tensor that required gradient.")
    return func(self)


def get_tensor(self):
    """What official Paddle calls the DenseTensor of a tensor: ``shape()``, ``set(array, place)``, ``numpy()``."""
    from ..static.scope import DenseTensor

    return DenseTensor(_Held(self))


class _Held:
    """A tensor in the place of a scope's variable: setting it writes into the tensor."""

    def __init__(self, tensor):
        self.name = tensor.name
        self._tensor = tensor

    @property
    def value(self):
        return self._tensor

    @value.setter
    def value(self, fresh):
        if list(fresh.shape) == list(self._tensor.shape) and fresh.dtype == self._tensor.dtype:
            set_value(self._tensor, fresh)
        else:
            self._tensor._become(fresh)


METHODS = {
    "register_hook": register_hook, "set_value": set_value, "__repr__": _repr, "__str__": _repr, "__format__": _format,
    "__deepcopy__": _deepcopy, "__reduce_ex__": _reduce_ex, "to": to, "cpu": cpu, "cuda": cuda, "clone": clone,
    "pin_memory": itself, "value": itself, "get_tensor": get_tensor, "contiguous": contiguous,
    "__array_priority__": 100.0,  # array + tensor is a tensor
    "_grad_ivar": lambda self: self.grad,
    "apply_": apply_, "apply": apply,
    "dim": lambda self: self.ndim, "ndimension": lambda self: self.ndim,
    "numel": lambda self: core._C_ops.numel(self),
    "nbytes": property(lambda self: self.size * self.itemsize),
}  # fmt: skip


def install() -> None:
    """Adds what ``Tensor`` lacks."""
    for name, method in METHODS.items():
        if getattr(core.Tensor, name, None) is getattr(object, name, None):
            setattr(core.Tensor, name, method)
