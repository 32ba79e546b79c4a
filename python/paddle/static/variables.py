"""Inputs, parameters and other variables of the main program."""

from __future__ import annotations

import contextlib

import numpy as np

from ..base import core, unique_name
from .program import default_main_program
from .state import declare

__all__ = [
    "Print",
    "create_global_var",
    "create_parameter",
    "data",
    "is_persistable",
    "name_scope",
    "setitem",
]


def data(name: str, shape, dtype=None, lod_level: int = 0):
    """An input of the main program.

    Args:
        name: the key of its value in the executor's feed.
        shape: sizes; None or -1 for one that may differ between runs.
        dtype: None: the default dtype.
        lod_level: 0; levels of detail went with Paddle 2.

    Raises:
        TypeError: ``name`` is no str, ``shape`` neither list nor tuple.
        ValueError: the program has a variable of that name with another shape or dtype.
    """
    if not isinstance(name, str):
        raise TypeError(f"The type of 'name' in data must be str, but received {type(name)}.")
    if not isinstance(shape, (list, tuple)):
        raise TypeError(f"The type of 'shape' in data must be list or tuple, but received {type(shape)}.")
    from ..framework.dtype import get_default_dtype

    dtype = get_default_dtype() if dtype is None else dtype
    main = default_main_program()
    known = main._named(name)
    if known is not None:
        fits = len(known.shape) == len(shape) and known.dtype == _as_dtype(dtype)
        if not fits:
            raise ValueError(f"[static.data] the program has a variable '{name}' of another shape or dtype")
        return known
    return main._data(name, list(shape), dtype, True)


def _as_dtype(dtype):
    from .._core import trace

    return trace.as_dtype(dtype)


def create_parameter(shape, dtype, name=None, attr=None, is_bias=False, default_initializer=None):
    """``paddle.create_parameter``."""
    from ..nn._create import create_parameter as make

    return make(shape, dtype, name, attr, is_bias, default_initializer)


def create_global_var(shape, value, dtype, persistable=False, force_cpu=False, name=None):
    """A variable that starts as ``value`` everywhere and is kept in the scope between runs.

    Raises:
        TypeError: ``shape`` is neither list nor tuple.
    """
    if not isinstance(shape, (list, tuple, np.ndarray)):
        raise TypeError(f"The type of 'shape' in create_global_var must be list or tuple, but received {type(shape)}.")
    name = name or unique_name.generate("global_var")
    sizes = [int(n) for n in shape]
    tensor = declare(name, sizes, dtype, lambda: core.full(sizes, value, dtype))
    default_main_program()._declare(tensor)
    return tensor


def is_persistable(var) -> bool:
    """Whether a variable is kept in the scope between runs."""
    return bool(var.persistable)


def setitem(x, index, value):
    """`x` with ``x[index] = value`` done to a copy; for where nothing can be written in place."""
    out = core._C_ops.assign(x)
    out[index] = value
    return out


@contextlib.contextmanager
def name_scope(prefix=None):
    """A prefix for names of operators, for people; names of variables don't change.

    Raises:
        TypeError: ``prefix`` is no str, or empty.
    """
    if prefix is None or not isinstance(prefix, str) or not prefix:
        raise TypeError(f"The type of 'prefix' in name_scope must be a str that is not empty, but received {prefix!r}.")
    _scopes.append(prefix)
    try:
        yield
    finally:
        _scopes.pop()


_scopes: list = []


def Print(
    input,
    first_n=-1,
    message=None,
    summarize=20,
    print_tensor_name=True,
    print_tensor_type=True,
    print_tensor_shape=True,
    print_tensor_layout=True,
    print_tensor_lod=True,
    print_phase="both",
):
    """Prints a variable whenever the program runs; returns it."""
    from ..jit import _trace_api as api
    from ..jit.dy2static.texts import print_traced

    parts = []
    if message:
        parts.append(message)
    if print_tensor_name:
        parts.append(f"Variable: {input.name}\n")
    if api.tracing():
        print_traced([*parts, input])
    else:
        print(*parts, input)
    return input


def device_guard(device=None):
    """``paddle.device_guard``."""
    from ..device import device_guard as guard

    return guard(device)
