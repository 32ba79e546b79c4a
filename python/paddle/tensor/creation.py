"""New tensors: filled, ranges, copies, windows of indices."""

from __future__ import annotations

import builtins
import math

import numpy as np

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import (
    Tensor,
    accepts,
    created,
    dtype_or_default,
    is_number,
    is_unknown,
    place_of,
    shape_args,
    size_of,
    sized,
    tensor_of,
)

_float, _int = builtins.float, builtins.int


def _filled(shape, value, dtype, out, device, requires_grad):
    if is_unknown([value]):
        return created(_C_ops.full_with_tensor(value, shape, dtype), out, requires_grad)
    return created(_C_ops.full(shape, value, dtype, place_of(device)), out, requires_grad)


@accepts(shape="size")
def full(shape, fill_value, dtype=None, name=None, *, out=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of `shape` whose elements are `fill_value`.

    Args:
        shape (list|tuple|Tensor|int): sizes.
        fill_value (number|str|Tensor): the value.
        dtype: by default the default float type; bool and complex128 for a bool and a complex `fill_value`.
    """
    if dtype is None:
        if isinstance(fill_value, bool):
            dtype = core.bool_
        elif isinstance(fill_value, builtins.complex):
            dtype = core.dtype_objects["complex128"]
        else:
            dtype = core.get_default_dtype()
    if isinstance(fill_value, str):
        fill_value = _float(fill_value)
    return _filled(shape_args(shape), fill_value, dtype, out, device, requires_grad)


def _constant(name, value):
    @sized
    def make(shape, dtype=None, name=None, *, out=None, device=None, requires_grad=False, pin_memory=False):
        result = _C_ops.full(shape_args(shape), value, dtype_or_default(dtype), place_of(device))
        return created(result, out, requires_grad) if requires_grad or out is not None else result

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""A tensor of {name}.

    Args:
        shape (list|tuple|Tensor|int): sizes; several numbers mean the same as a list of them.
        dtype: the default float type by default.
    """
    return make


zeros, ones = _constant("zeros", 0), _constant("ones", 1)


@sized
def empty(shape, dtype=None, name=None, *, out=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of `shape` whose elements are not initialised."""
    result = _C_ops.empty(shape_args(shape), dtype_or_default(dtype), place_of(device))
    return created(result, out, requires_grad)


@accepts(x="input")
def full_like(x, fill_value, dtype=None, name=None, *, device=None, requires_grad=False, pin_memory=False):
    """A tensor of the shape and (without `dtype`) element type of `x`, filled with `fill_value`."""
    return created(_C_ops.full_like(x, fill_value, dtype, place_of(device)), None, requires_grad)


@accepts(x="input")
def zeros_like(x, dtype=None, name=None, *, device=None, requires_grad=False, pin_memory=False):
    """Zeros of the shape and (without `dtype`) element type of `x`."""
    return created(_C_ops.full_like(x, 0, dtype, place_of(device)), None, requires_grad)


@accepts(x="input")
def ones_like(x, dtype=None, name=None, *, device=None, requires_grad=False, pin_memory=False):
    """Ones of the shape and (without `dtype`) element type of `x`."""
    return created(_C_ops.full_like(x, 1, dtype, place_of(device)), None, requires_grad)


@accepts(x="input")
def empty_like(x, dtype=None, name=None, *, device=None, requires_grad=False, pin_memory=False):
    """A tensor of the shape and (without `dtype`) element type of `x`, not initialised."""
    dtype = x.dtype if dtype is None else dtype
    return created(_C_ops.empty(x.shape, dtype, place_of(device) or x.place), None, requires_grad)


def _is_float(v):
    if isinstance(v, Tensor):
        return not str(v.dtype).rsplit(".", 1)[-1].startswith(("int", "uint", "bool"))
    return isinstance(v, (_float, np.floating))


def arange(start=0, end=None, step=1, dtype=None, *, out=None, device=None, requires_grad=False, pin_memory=False,
           name=None):  # fmt: skip
    """start, start + step, ... up to but without `end`; with one argument from 0 to it.

    The dtype is int64 for integers, else the default float type.

    Raises:
        ValueError: `step` is 0.
    """
    if end is None:
        start, end = 0, start
    if dtype is None:
        tensors = [v for v in (start, end, step) if isinstance(v, Tensor)]
        dtype = core.int64
        if any(_is_float(v) for v in (start, end, step)):
            dtype = tensors[0].dtype if tensors and _is_float(tensors[0]) else core.get_default_dtype()
        elif tensors:
            dtype = tensors[0].dtype
    return created(_C_ops.arange(start, end, step, dtype, place_of(device)), out, requires_grad)


def range(start=0, end=None, step=1, dtype=None, *, out=None, device=None, requires_grad=False, name=None):  # noqa: A001
    """start, start + step, ... up to and with `end`; with one argument from 0 to it. Numbers give the default dtype."""
    if end is None:
        start, end = 0, start
    count = math.floor((_float(end) - _float(start)) / _float(step)) + 1
    if dtype is None:
        own = [v.dtype for v in (start, end, step) if isinstance(v, Tensor)]
        dtype = own[0] if own else core.get_default_dtype()
    values = _C_ops.arange(0, count, 1, core.float64, place_of(device)) * _float(step) + _float(start)
    return created(_C_ops.cast(values, dtype), out, requires_grad)


def _count(num):
    if isinstance(num, Tensor):
        num = size_of(num)
    if isinstance(num, _int) and is_number(num) and num < 0:
        raise ValueError(f"[linspace] expected num >= 0, got {num}")
    return num


@accepts(stop="end", num="steps")
def linspace(start, stop, num, dtype=None, name=None, *, out=None, device=None, requires_grad=False):
    """`num` values from `start` to `stop`, both included, at equal distances."""
    result = _C_ops.linspace(start, stop, _count(num), dtype_or_default(dtype), place_of(device))
    return created(result, out, requires_grad)


@accepts(stop="end", num="steps")
def logspace(start, stop, num, base=10.0, dtype=None, name=None, *, out=None, device=None, requires_grad=False):
    """`base` to the power of `linspace(start, stop, num)`."""
    dtype = dtype_or_default(dtype)
    exponents = _C_ops.linspace(start, stop, _count(num), core.float64, place_of(device))
    base = _float(base) if not isinstance(base, Tensor) else base.astype("float64")
    return created(_C_ops.cast(base**exponents, dtype), out, requires_grad)


@accepts(num_rows="n", num_columns="m")
def eye(num_rows, num_columns=None, dtype=None, name=None, *, out=None, device=None, requires_grad=False,
        pin_memory=False):  # fmt: skip
    """The identity matrix of `num_rows` by `num_columns` (by default square)."""
    columns = num_rows if num_columns is None else num_columns
    result = _C_ops.eye(num_rows, columns, dtype_or_default(dtype), place_of(device))
    return created(result, out, requires_grad)


@accepts(x="input")
def clone(x, name=None):
    """A copy; gradients flow through it."""
    return _C_ops.assign(x)


def assign(x, output=None):
    """A copy of a tensor, an array, a number or a list; into `output` if given, which is then returned.

    A number makes a tensor of shape [1]; Python floats float64, as for arrays.
    """
    if not isinstance(x, Tensor):
        array = np.asarray(x)
        if isinstance(x, (list, tuple)) and any(isinstance(v, Tensor) for v in x):
            array = np.asarray([v.numpy() if isinstance(v, Tensor) else v for v in x])
        if array.dtype == object:
            raise TypeError(
                f"[assign] expected a tensor, an array, numbers or a list of numbers, got {type(x).__name__}"
            )
        x = _core.to_tensor(array if array.ndim else array.reshape([1]), None, None, True)
        if output is None:
            return x
    if output is None:
        return _C_ops.assign(x)
    if output.shape == x.shape and output.dtype == x.dtype and output.stop_gradient and x.stop_gradient:
        output.copy_(x, False)
        return output
    if output.shape == x.shape and output.dtype == x.dtype and (output.stop_gradient or not output.is_leaf):
        return output._write_back(_C_ops.assign(x))
    output._become(_C_ops.assign(x))
    return output


def _triangle(name, keep):
    def indices(row, col=None, offset=0, dtype="int64"):
        col = row if col is None else col
        for what, value in (("row", row), ("col", col)):
            if not isinstance(value, _int) or value < 0:
                raise TypeError(f"[{name}] expected {what} to be a non-negative int, got {value!r}")
        if not isinstance(offset, _int):
            raise TypeError(f"[{name}] expected offset to be an int, got {offset!r}")
        found = np.stack(keep(row, offset, col))
        return _C_ops.cast(_core.to_tensor(found.astype("int64"), None, None, True), dtype)

    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = f"Row and column indices [2, n] of the {name[:4]} part of a `row` by `col` matrix."
    return indices


tril_indices = _triangle("tril_indices", np.tril_indices)
triu_indices = _triangle("triu_indices", np.triu_indices)


def meshgrid(*args, **kwargs):
    """Grids of coordinates: one tensor of shape [n0, n1, ...] per one-dimensional input.

    `indexing="xy"` swaps the first two axes, as NumPy does.
    """
    indexing = kwargs.get("indexing") or "ij"
    if indexing not in ("ij", "xy"):
        raise ValueError(f"[meshgrid] expected indexing 'ij' or 'xy', got {indexing!r}")
    tensors = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    out = _C_ops.meshgrid(list(tensors))
    if indexing == "xy" and len(out) > 1:
        order = [1, 0, *builtins.range(2, len(tensors))]
        out = [_C_ops.transpose(t, order) for t in out]
    return out


@accepts(x="input", offset="diagonal")
def diag(x, offset=0, padding_value=0, name=None, *, out=None):
    """The matrix with `x` on a diagonal, or the diagonal of the matrix `x`."""
    result = _C_ops.diag(x, offset, padding_value)
    return created(result, out)


@accepts(x="input")
def diagflat(x, offset=0, name=None):
    """The matrix with the elements of `x` (any shape) on a diagonal."""
    return _C_ops.diag(_C_ops.reshape(x, [-1]), offset, 0.0)


def _tensor_or(value, dtype, device, requires_grad):
    return created(_core.to_tensor(value, dtype, place_of(device), True), None, requires_grad)


def tensor(data, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor of `data`; the torch-like form of ``to_tensor``."""
    return _tensor_or(data, dtype, device, requires_grad)


def as_tensor(data, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """`data` as a tensor: itself if it is one of this dtype."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.astype(dtype)
    return _tensor_or(data, dtype, device, requires_grad)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """`obj` as a tensor; a copy if `copy` is True."""
    if isinstance(obj, Tensor) and not copy:
        return created((obj if dtype is None else obj.astype(dtype)).detach(), None, requires_grad)
    return _tensor_or(obj, dtype, device, requires_grad)


def from_numpy(ndarray):
    """A tensor of an array's elements."""
    return _core.to_tensor(ndarray, None, None, True)


def complex(real, imag, name=None, *, out=None):  # noqa: A001 - the public name
    """real + i imag."""
    return created(_C_ops.complex(tensor_of(real), tensor_of(imag)), out)


def polar(abs, angle, name=None, *, out=None):  # noqa: A002 - the public name
    """abs (cos angle + i sin angle)."""
    return created(_C_ops.complex(abs * _C_ops.cos(angle), abs * _C_ops.sin(angle)), out)


def create_tensor(dtype, name=None, persistable=False):
    """An empty tensor to be filled later."""
    made = _C_ops.empty([0], dtype, None)
    if name:
        made.name = name
    made.persistable = persistable
    return made


def fill_constant(shape, dtype, value, force_cpu=False, out=None, name=None):
    """``full`` under its old name."""
    return full(shape, value, dtype, out=out)


def _window(name, weights):
    def make(window_length, periodic=True, *, dtype="float32", layout=None, device=None, pin_memory=False,
             requires_grad=False):  # fmt: skip
        n = window_length if periodic else window_length - 1
        values = np.ones(window_length) if window_length <= 1 else weights(np.arange(window_length) / n)
        return created(_core.to_tensor(values, dtype, place_of(device), True), None, requires_grad)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The {name.replace('_', ' ')} of `window_length` values."
    return make


bartlett_window = _window("bartlett_window", lambda t: 1 - np.abs(2 * t - 1))
blackman_window = _window(
    "blackman_window", lambda t: 0.42 - 0.5 * np.cos(2 * math.pi * t) + 0.08 * np.cos(4 * math.pi * t)
)
hann_window = _window("hann_window", lambda t: 0.5 - 0.5 * np.cos(2 * math.pi * t))


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options):
    """alpha - beta cos(2 pi n / N)."""
    weights = _window("hamming_window", lambda t: alpha - beta * np.cos(2 * math.pi * t))
    return weights(window_length, periodic, **options)


def kaiser_window(window_length, periodic=True, beta=12.0, **options):
    """I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta)."""

    def weights(t):
        return np.i0(beta * np.sqrt(np.maximum(0, 1 - (2 * t - 1) ** 2))) / np.i0(beta)

    return _window("kaiser_window", weights)(window_length, periodic, **options)
