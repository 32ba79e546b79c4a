"""Lists of tensors, as programs that loop over them use. While a program is captured, places may be values of the program."""

from __future__ import annotations

from ..base.core import _C_ops
from ._common import Tensor


def _capture():
    """The tracing interface while a program is captured, else None."""
    from ..jit import _trace_api as api

    return api if api.tracing() else None


def _place(i):
    """`i` as a number where it is known, else the tensor."""
    if not isinstance(i, Tensor):
        return int(i)
    return i if _capture() else int(i)


def _traced(array):
    """A list as a value of the program."""
    from ..jit.dy2static.containers import TracedList

    return array if isinstance(array, TracedList) else TracedList.like(array[0], array)


def create_array(dtype="float32", initialized_list=None):
    """A list for tensors, with those of `initialized_list`."""
    return list(initialized_list or [])


def array_length(array):
    """The number of elements of a list of ``create_array``: a number, while a program is captured a tensor int64 [1]."""
    if _capture() is None:
        return len(array)
    if isinstance(array, list):
        return _C_ops.full([1], len(array), "int64")
    return _C_ops.reshape(_traced(array).length(), [1])


def array_read(array, i):
    """Element `i` (a number or a tensor of one element)."""
    i = _place(i)
    return _traced(array)[i] if isinstance(i, Tensor) else array[i]


def array_write(x, i, array=None):
    """Puts `x` at place `i` (at most the length) of `array`, a new one by default; returns it.

    Raises:
        IndexError: beyond the end. RuntimeError: a place that only running tells is not the end of a list whose length is known.
    """
    i = _place(i)
    array = [] if array is None else array
    if not isinstance(array, list):
        array[i] = x
        return array
    if isinstance(i, Tensor):
        end = _C_ops.equal(i, _C_ops.full([], len(array), i.dtype))
        _capture().assert_(end, f"[array_write] expected the end of the list, place {len(array)}")
        array.append(x)
        return array
    if i > len(array):
        raise IndexError(f"[array_write] expected a place in [0, {len(array)}], got {i}")
    if i < len(array):
        array[i] = x
    else:
        array.append(x)
    return array
