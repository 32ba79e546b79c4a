"""Checks of arguments, and dtypes as names."""

from __future__ import annotations

import numpy as np

from ..framework.dtype import dtype_name
from . import core

__all__ = ["convert_dtype", "check_type", "check_dtype", "check_variable_and_dtype", "check_shape"]


def convert_dtype(dtype) -> str:
    """The name of an element type: ``"float32"``; NumPy's uint16 is ``"bfloat16"`` only as paddle.bfloat16.

    Raises:
        TypeError: it names none.
    """
    if isinstance(dtype, str) and dtype == "uint16":
        return "uint16"
    return dtype_name(dtype)


def check_type(input, input_name, expected_type, op_name, extra_message="") -> None:
    """Raises TypeError unless ``input`` is of ``expected_type`` (a class or a tuple)."""
    if not isinstance(input, expected_type):
        raise TypeError(
            f"The type of '{input_name}' in {op_name} must be {expected_type}, but received "
            f"{type(input)}. {extra_message}"
        )


def check_dtype(input_dtype, input_name, expected_dtype, op_name, extra_message="") -> None:
    """Raises TypeError unless the element type is among the names ``expected_dtype``."""
    name = convert_dtype(input_dtype)
    if name not in expected_dtype:
        raise TypeError(
            f"The data type of '{input_name}' in {op_name} must be {expected_dtype}, but received "
            f"{name}. {extra_message}"
        )


def check_variable_and_dtype(input, input_name, expected_dtype, op_name, extra_message="") -> None:
    """``check_type`` for a tensor, and ``check_dtype`` of its element type."""
    check_type(input, input_name, core.Tensor, op_name, extra_message)
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)


def check_shape(
    shape,
    op_name,
    expected_shape_type=(list, tuple),
    expected_element_type=(int,),
    expected_tensor_dtype=("int32", "int64"),
) -> None:
    """Raises TypeError unless ``shape`` is a list or tuple of ints or integer tensors, or such a tensor."""
    if isinstance(shape, core.Tensor):
        check_dtype(shape.dtype, "shape", expected_tensor_dtype, op_name)
        return
    check_type(shape, "shape", expected_shape_type, op_name)
    for item in shape:
        if isinstance(item, core.Tensor):
            check_dtype(item.dtype, "element of shape", expected_tensor_dtype, op_name)
        else:
            check_type(item, "element of shape", (*expected_element_type, np.integer), op_name)


def convert_float_to_uint16(data, data_format="NCHW"):
    """bfloat16 bits (uint16) of float32 values, rounded to nearest even."""
    bits = np.ascontiguousarray(data, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(data), np.uint32(0x7FC0), rounded).astype(np.uint16).reshape(np.shape(data))


def convert_uint16_to_float(data):
    """float32 values of bfloat16 bits (uint16)."""
    return (np.asarray(data).astype(np.uint32) << 16).view(np.float32)
