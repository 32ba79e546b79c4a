"""What can be a value of a program, its type, and how two types become one."""

from __future__ import annotations

from typing import Any

from .. import _trace_api as api
from .errors import Dy2StaticValueError, user_location
from .slots import MISSING

_KINDS = {bool: 0, int: 1, float: 2, complex: 3}


def is_number(x: Any) -> bool:
    return type(x) in _KINDS or api.is_symint(x)


def is_leaf_value(x: Any) -> bool:
    return api.is_tensor(x) or is_number(x) or api.is_array(x)


def describe(x: Any) -> str:
    if x is MISSING:
        return "undefined"
    if api.is_tensor(x):
        return f"a Tensor of shape {list(x.shape)}, {api.dtype_name(x.dtype)}"
    if isinstance(x, (list, tuple, dict)):
        return f"a {type(x).__name__} of {len(x)}"
    return f"{x!r} ({type(x).__name__})"


def truth(x):
    """A boolean 0-D tensor from a tensor used as a condition."""
    size = 1
    for n in x.shape:
        if api.is_symint(n) or n != 1:
            size = None
    if size is None:
        raise Dy2StaticValueError(
            f"the condition is a Tensor of shape {list(x.shape)}; one with a single element is expected ({user_location()})"
        )
    if len(x.shape):
        x = x.reshape([])
    return x if api.dtype_name(x.dtype) == "bool" else api.cast(x, "bool")


def number_dtype(x) -> str:
    if type(x) is bool:
        return "bool"
    if type(x) is float:
        return api.default_dtype()
    return "complex64" if type(x) is complex else "int64"


def zero_like(v):
    """Zeros as a tensor is, or a tensor of the number's type."""
    if api.is_tensor(v):
        return api.constant(0, tuple(v.shape), api.dtype_name(v.dtype))
    return api.constant(0, (), number_dtype(v))


def dtype_kind(name: str) -> int:
    if name == "bool":
        return 0
    if name.startswith(("int", "uint")):
        return 1
    return 3 if name.startswith("complex") else 2


_ORDER = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def type_of(x) -> tuple[str, bool]:
    """The dtype's name, and whether it is only that of a Python number."""
    return (api.dtype_name(x.dtype), False) if api.is_tensor(x) else (number_dtype(x), True)


def common_dtype(a: tuple[str, bool], b: tuple[str, bool]) -> str:
    """The dtype for a result that is ``a`` or ``b`` (see :func:`type_of`). Numbers give way to tensors of their kind or above."""
    (na, number_a), (nb, number_b) = a, b
    if na == nb:
        return na
    if number_a != number_b:
        tensor, number = (nb, na) if number_a else (na, nb)
        if dtype_kind(number) <= dtype_kind(tensor):
            return tensor
    if {na, nb} == {"float16", "bfloat16"}:
        return "float32"
    return max(na, nb, key=lambda n: _ORDER.index(n) if n in _ORDER else len(_ORDER))


def as_tensor(x, dtype: str, shape=()):
    """``x`` (tensor, number or symbolic size) as a tensor of ``dtype``; a number fills ``shape``."""
    if api.is_tensor(x):
        return x if api.dtype_name(x.dtype) == dtype else api.cast(x, dtype)
    if api.is_array(x):
        return x
    return api.constant(x, tuple(shape), dtype)


def is_tensor_like(x) -> bool:
    return api.is_tensor(x) or is_number(x)


def same(a, b) -> bool:
    try:
        return bool(a == b)
    except Exception:
        return False


def same_object(a, b) -> bool:
    return not is_leaf_value(b) and type(a) is type(b) and same(a, b)
