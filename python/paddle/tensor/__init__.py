"""Functions on tensors: what ``paddle.<name>`` and the methods of Tensor are made of.

An operator whose record takes the public arguments is public as it is; a function here normalises arguments,
or composes operators.
The package can also be called: ``paddle.tensor(data)`` is a new tensor.
"""

from __future__ import annotations

import sys as _sys
import types as _types

from .. import _core
from ..base.core import _C_ops
from . import (
    array,
    attribute,
    creation,
    indexing,
    linalg,
    logic,
    manipulation,
    math,
    methods,
    random,
    search,
    stat,
)
from . import (
    einsum as _einsum,
)
from ._common import in_place as _in_place

_sources = (creation, random, manipulation, indexing, math, linalg, search, stat, attribute, logic, array)


def _is_public(name, value, module):
    return not name.startswith("_") and callable(value) and getattr(value, "__module__", "").startswith(__name__)


for _module in _sources:
    for _name, _value in vars(_module).items():
        if _is_public(_name, _value, _module) and _name not in (
            "accepts",
            "axes_list",
            "axis_in",
            "created",
            "finish",
            "in_place",
        ):
            globals()[_name] = _value
einsum = _einsum.einsum

# Operators are public as they are, except those that have a form of their own above.
_own = {"clip", "clamp"}
for _name, _value in _core._public.get("paddle", {}).items():
    if _name not in _own:
        globals()[_name] = _value
for _name, _other in methods._ALIASES.items():
    if _other in globals():
        globals()[_name] = globals()[_other]
for _name in ("round_", "erf_", "square_"):
    if not hasattr(_core.Tensor, _name) and hasattr(_core.Tensor, _name[:-1]):
        setattr(_core.Tensor, _name, _in_place(getattr(_core.Tensor, _name[:-1])))

methods.install()
# x.abs_() is also paddle.abs_(x).
for _name in dir(_core.Tensor):
    if (
        _name.endswith("_")
        and not _name.startswith("_")
        and _name not in globals()
        and callable(getattr(_core.Tensor, _name))
    ):
        globals()[_name] = getattr(_core.Tensor, _name)
for _name in ("fill_", "zero_", "grad_", "requires_grad_", "copy_", "detach_", "apply_", "set_"):
    globals().pop(_name, None)
# These belong to paddle.linalg alone.
for _name in ("cov", "corrcoef", "multi_dot", "matrix_power", "vector_norm", "matrix_norm", "vecdot_"):
    globals().pop(_name, None)
softmax = methods.softmax
_ = _C_ops


class _Callable(_types.ModuleType):
    def __call__(self, data, dtype=None, device=None, requires_grad=False, pin_memory=False):
        return creation.tensor(data, dtype, device, requires_grad, pin_memory)


_sys.modules[__name__].__class__ = _Callable
