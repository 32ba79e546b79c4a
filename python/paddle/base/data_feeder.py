"""Checks of arguments, and dtypes as names."""

from __future__ import annotations

import numpy as np

from ..framework.dtype import dtype_name
from . import core

__all__ = ["DataFeeder", "convert_dtype", "check_type", "check_dtype", "check_variable_and_dtype", "check_shape"]


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


class DataFeeder:
    """Makes a feed of samples: a list of tuples with one entry for each of ``feed_list``.

    Args:
        feed_list: variables made by ``static.data``, or their names.
        place: kept for callers.
        program: where names are looked up; None: the default main program.
    """

    def __init__(self, feed_list, place=None, program=None) -> None:
        from ..static.program import default_main_program

        program = default_main_program() if program is None else program
        self._variables = [program.global_block().var(v) if isinstance(v, str) else v for v in feed_list]
        self.place = place

    def feed(self, iterable) -> dict:
        """name -> array of all samples' entries.

        Raises:
            ValueError: a sample has another number of entries, or they don't fit the variable's shape.
        """
        columns = [[] for _ in self._variables]
        for sample in iterable:
            if len(sample) != len(columns):
                raise ValueError(f"[DataFeeder] expected {len(columns)} entries in a sample, got {len(sample)}")
            for column, entry in zip(columns, sample):
                column.append(np.asarray(entry))
        made = {}
        for variable, column in zip(self._variables, columns):
            sizes = [n if type(n) is int else -1 for n in variable.shape]
            array = np.stack(column).astype(convert_dtype(variable.dtype))
            known = int(np.prod([n for n in sizes[1:] if n >= 0]))
            if array.ndim != len(sizes) and -1 not in sizes[1:]:
                if array[0].size != known:
                    raise ValueError(f"[DataFeeder] expected samples of shape {sizes[1:]} for '{variable.name}'")
                array = array.reshape([len(column), *sizes[1:]])
            made[variable.name] = array
        return made
