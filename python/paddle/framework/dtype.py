"""Element types: objects, conversions, limits, and the default."""

from __future__ import annotations

import numpy as np

from ..base import core

__all__ = ["iinfo", "finfo"]

dtype = core.DType
globals().update({k: v for k, v in core.dtype_objects.items() if k not in ("bool",)})
bool = core.bool_

_NUMPY_NAMES = {"bool_": "bool", "float": "float64", "int": "int64", "complex": "complex128", "half": "float16",
                "double": "float64", "long": "int64", "uint16": "bfloat16"}  # fmt: skip


def dtype_name(d) -> str:
    """``"float32"`` for ``paddle.float32``, ``"float32"``, ``"paddle.float32"``, ``numpy.float32``,
    ``numpy.dtype("f4")``.

    ``uint16`` is the old name of bfloat16.

    Raises:
        TypeError: ``d`` names no element type.
    """
    if isinstance(d, core.DType):
        text = str(d).rsplit(".", 1)[-1]
    elif isinstance(d, str):
        text = d.rsplit(".", 1)[-1]
    else:
        try:
            text = np.dtype(d).name
        except TypeError:
            raise TypeError(f"[dtype] expected a paddle, NumPy or named element type, got {d!r}") from None
    text = _NUMPY_NAMES.get(text, text)
    if text not in core.dtype_objects:
        raise TypeError(f"[dtype] unknown element type {d!r}")
    return text


def convert_np_dtype_to_dtype_(np_dtype):
    """The paddle dtype for a NumPy dtype, a name, or a paddle dtype."""
    return core.dtype_objects[dtype_name(np_dtype)]


def set_default_dtype(d) -> None:
    """The element type of tensors made from Python floats and of new parameters: float16, bfloat16, float32 or
    float64."""
    name = d if isinstance(d, str) else dtype_name(d)
    if name not in ("float16", "float32", "float64", "bfloat16"):
        raise TypeError(
            f"set_default_dtype only supports [float16, float32, float64, bfloat16] , but received "
            f"{getattr(d, '__name__', name)}"
        )
    core.set_default_dtype(core.dtype_objects[name])


def get_default_dtype() -> str:
    """The name of the default element type, ``"float32"`` unless changed."""
    return dtype_name(core.get_default_dtype())


class iinfo:  # noqa: N801 - the public name
    """Limits of an integer type: ``min``, ``max``, ``bits``, ``dtype``.

    Raises:
        ValueError: not an integer type.
    """

    def __init__(self, dtype) -> None:
        self.dtype = dtype_name(dtype)
        if not self.dtype.startswith(("int", "uint")):
            raise ValueError(f"[iinfo] expected an integer type, got {self.dtype}")
        info = np.iinfo(self.dtype)
        self.min, self.max, self.bits = int(info.min), int(info.max), int(info.bits)

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


# (bits, mantissa bits, smallest exponent, largest value, resolution) of types that NumPy doesn't know.
_EXTRA_FLOATS = {
    "bfloat16": (16, 7, -126, (2.0 - 2.0**-7) * 2.0**127, 0.01),
    "float8_e4m3fn": (8, 3, -6, 448.0, 1.0),
    "float8_e5m2": (8, 2, -14, 57344.0, 1.0),
}


class finfo:  # noqa: N801 - the public name
    """Limits of a floating type: ``min``, ``max``, ``eps``, ``resolution``, ``smallest_normal`` (= ``tiny``), ``bits``.

    A complex type has the limits of its parts.

    Raises:
        ValueError: not a floating or complex type.
    """

    def __init__(self, dtype) -> None:
        self.dtype = dtype_name(dtype)
        if self.dtype in _EXTRA_FLOATS:
            self.bits, mantissa, exponent, self.max, self.resolution = _EXTRA_FLOATS[self.dtype]
            self.eps, self.smallest_normal = 2.0**-mantissa, 2.0**exponent
        elif self.dtype.startswith(("float", "complex")):
            info = np.finfo(self.dtype)
            self.max, self.eps, self.bits = float(info.max), float(info.eps), int(info.bits)
            self.resolution, self.smallest_normal = float(info.resolution), float(info.smallest_normal)
        else:
            raise ValueError(f"[finfo] expected a floating or complex type, got {self.dtype}")
        self.min, self.tiny = -self.max, self.smallest_normal

    def __repr__(self) -> str:
        names = ("min", "max", "eps", "resolution", "smallest_normal", "tiny")
        values = ", ".join(f"{n}={getattr(self, n):g}" for n in names)
        return f"paddle.finfo({values}, bits={self.bits}, dtype={self.dtype})"
