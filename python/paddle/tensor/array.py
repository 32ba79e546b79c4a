"""Lists of tensors, as programs that loop over them use."""

from __future__ import annotations

from ._common import Tensor


def create_array(dtype="float32", initialized_list=None):
    """A list for tensors, with those of `initialized_list`."""
    return list(initialized_list or [])


def array_length(array):
    """The number of elements of a list of ``create_array``."""
    return len(array)


def array_read(array, i):
    """Element `i` (a number or a tensor of one element)."""
    return array[int(i)]


def array_write(x, i, array=None):
    """Puts `x` at place `i` (at most the length) of `array`, a new one by default; returns it.

    Raises:
        IndexError: beyond the end.
    """
    i = int(i) if isinstance(i, Tensor) else i
    array = [] if array is None else array
    if i > len(array):
        raise IndexError(f"[array_write] expected a place in [0, {len(array)}], got {i}")
    if i < len(array):
        array[i] = x
    else:
        array.append(x)
    return array
