"""The stub of paddle._core, whose heart is the class Tensor."""

from __future__ import annotations

import inspect

from . import signature
from .classes import class_stub
from .operators import Operators

# The C attributes of Tensor: their types can't be asked for.
_ATTRIBUTES = {
    "shape": "list[int]", "strides": "list[int]", "ndim": "int", "rank": "int", "size": "int", "itemsize": "int",
    "name": "str", "stop_gradient": "bool", "persistable": "bool", "is_leaf": "bool", "inplace_version": "int",
    "grad": "Tensor | None", "data": "Tensor", "nbytes": "int", "dim": "int",
    "T": "Tensor", "mT": "Tensor", "H": "Tensor", "mH": "Tensor", "real": "Tensor", "imag": "Tensor",
}  # fmt: skip
_SKIP = {"__class__", "__dict__", "__doc__", "__module__", "__new__", "__init_subclass__", "__subclasshook__",
         "__getattribute__", "__setattr__", "__delattr__", "__dir__", "__weakref__"}  # fmt: skip
_BINARY = {f"__{r}{n}__" for r in ("", "r", "i") for n in
           "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()}  # fmt: skip
_COMPARE = {f"__{n}__" for n in "lt le gt ge".split()}
_FIXED = {
    "__eq__": "def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]\n",
    "__ne__": "def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]\n",
    "__hash__": "def __hash__(self) -> int: ...\n", "__repr__": "def __repr__(self) -> str: ...\n",
    "__str__": "def __str__(self) -> str: ...\n", "__format__": "def __format__(self, spec: str) -> str: ...\n",
    "__bool__": "def __bool__(self) -> bool: ...\n", "__int__": "def __int__(self) -> int: ...\n",
    "__float__": "def __float__(self) -> float: ...\n", "__complex__": "def __complex__(self) -> complex: ...\n",
    "__index__": "def __index__(self) -> int: ...\n", "__len__": "def __len__(self) -> int: ...\n",
    "__iter__": "def __iter__(self) -> Iterator[Tensor]: ...\n",
    "__contains__": "def __contains__(self, value: object) -> bool: ...\n",
    "__getitem__": "def __getitem__(self, index: Any) -> Tensor: ...\n",
    "__setitem__": "def __setitem__(self, index: Any, value: Any) -> None: ...\n",
    "__neg__": "def __neg__(self) -> Tensor: ...\n", "__pos__": "def __pos__(self) -> Tensor: ...\n",
    "__abs__": "def __abs__(self) -> Tensor: ...\n", "__invert__": "def __invert__(self) -> Tensor: ...\n",
    "__init__": "def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n",
    "__sizeof__": "def __sizeof__(self) -> int: ...\n",
    "__reduce_ex__": "def __reduce_ex__(self, protocol: Any) -> Any: ...\n",
    "numpy": "def numpy(self) -> np.ndarray: ...\n",
}  # fmt: skip


def _attribute(name: str, settable: bool) -> str:
    kind = _ATTRIBUTES.get(name, "Any")
    text = f"@property\ndef {name}(self) -> {kind}: ...\n"
    return text + (f"@{name}.setter\ndef {name}(self, value: Any) -> None: ...\n" if settable else "")


def _member(name: str, value, operators: Operators) -> str:
    if name in _FIXED:
        return _FIXED[name]
    if name in _BINARY | _COMPARE:
        ignored = "  # type: ignore[misc]" if name.startswith("__i") or name in _COMPARE else ""
        return f"def {name}(self, other: Any) -> Tensor: ...{ignored}\n"
    if operators.is_operator(value):
        return operators.stub(name, value, method=True)
    if isinstance(value, property):
        return _attribute(name, value.fset is not None)
    if inspect.isgetsetdescriptor(value) or inspect.ismemberdescriptor(value):
        return _attribute(name, name in ("stop_gradient", "persistable", "name", "grad", "data"))
    if isinstance(value, (staticmethod, classmethod)):
        kind = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
        return f"@{kind}\n" + signature.function(name, value.__func__)
    if callable(value):
        return signature.function(name, value, method=True)
    return f"{name}: Any\n"


def core_stub(core, operators: Operators) -> str:
    """paddle/_core.pyi."""
    tensor = core.Tensor
    members = [(n, inspect.getattr_static(tensor, n)) for n in sorted(set(vars(tensor)) - _SKIP)]
    body = "".join(_member(n, v, operators) for n, v in members)
    body = "".join(f"    {line}\n" for line in signature.unshadowed(body, dict(members)).splitlines())
    head = "import builtins\n" + signature.HEADER.replace("from paddle._core import Tensor as Tensor\n", "import numpy as np\n\n")
    out = [head, "class Tensor:\n", body, "\n"]
    for name, value in sorted(vars(core).items()):
        if name.startswith("__") or name == "Tensor":
            continue
        if inspect.isclass(value):
            out.append(class_stub(name, value))
        elif callable(value):
            out.append(signature.function(name, value))
        else:
            out.append(f"{name}: Any\n")
    return "".join(out)
