"""What the functions of this package share: second names of arguments, `out=`, dtypes, axes, in-place forms."""

from __future__ import annotations

import functools
import operator

from .. import _core
from ..base import core

Tensor = _core.Tensor


def accepts(**others):
    """Decorator: ``accepts(x="input", axis="dim")`` lets callers write `input` for `x` and `dim` for `axis`.

    Values are a name, or several names separated by blanks. The signature stays that of the wrapped function.
    """
    canonical = {other: name for name, listed in others.items() for other in listed.split()}

    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if kwargs:
                for other in canonical.keys() & kwargs.keys():
                    if canonical[other] not in kwargs:
                        kwargs[canonical[other]] = kwargs.pop(other)
            return function(*args, **kwargs)

        return call

    return wrap


def elsewhere(module):
    """A ``__getattr__`` for ``module``: functions that are entry points of operators stand in ``paddle`` alone."""

    def find(name):
        import paddle

        found = None if name.startswith("_") else getattr(paddle, name, None)
        if callable(found) and not isinstance(found, type):
            return found
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    find.elsewhere = True  # stubs are written of what stands in a module
    return find


def tensor_in(x, name):
    """`x`, if it is a tensor.

    Raises:
        ArgumentError: it is not.
    """
    if not isinstance(x, Tensor):
        raise core.ArgumentError(f"[{name}] expected a Tensor, got {type(x).__name__}")
    return x


def finish(result, out=None):
    """`result`; with `out`, that handle now means it."""
    if out is None:
        return result
    if isinstance(result, (tuple, list)):
        for handle, value in zip(out, result):
            handle._become(value)
        return out
    out._become(result)
    return out


def created(result, out=None, requires_grad=False):
    """A new tensor with what the caller of a creation function asked for."""
    if out is not None:
        out._become(result)
        result = out
    if requires_grad:
        result.stop_gradient = False
    return result


def dtype_or_default(dtype):
    """The dtype object; the default one for None."""
    return core.get_default_dtype() if dtype is None else dtype


def place_of(device):
    """A place from what `device=` may be."""
    if device is None:
        return None
    from ..framework.place import convert_to_place

    return convert_to_place(device)


def shape_args(shape):
    """A shape; a number is a shape of one axis."""
    return [shape] if isinstance(shape, int) else shape


def size_of(value):
    """A size from a number or a tensor: an int; while a program is captured, a size that only running tells may be symbolic."""
    if isinstance(value, Tensor):
        if not _core.trace.is_traced(value):
            return int(value)
        one = core._C_ops.full([1], 0, "bool", None)
        return core._C_ops.expand(one, core._C_ops.reshape(value, [1])).shape[0]
    return value if _core.trace.is_symint(value) else int(value)


def items_of(numbers) -> list:
    """Integers from a tensor, or a list in which tensors may stand; what only a running program knows stays a tensor."""
    if isinstance(numbers, Tensor):
        if not _core.trace.is_traced(numbers):
            return numbers.tolist()
        return list(core._C_ops.unbind(numbers, 0))
    return [n if is_unknown([n]) or not isinstance(n, Tensor) else int(n) for n in numbers]


def sizes_in(shape) -> list:
    """The sizes of a shape that is a tensor, or a list in which tensors may stand (see `size_of`)."""
    return [size_of(s) for s in items_of(shape)]


def is_number(size) -> bool:
    """One that Python can compare: no symbolic size, no tensor."""
    return not isinstance(size, Tensor) and not _core.trace.is_symint(size)


def is_unknown(values) -> bool:
    """A tensor, or a list with one, whose elements only a running program knows."""
    items = [values] if isinstance(values, Tensor) else values
    return any(isinstance(v, Tensor) and _core.trace.is_traced(v) for v in items)


def sizes_agree(a, b) -> bool:
    """Whether two sizes are equal. Of symbolic ones the operator's rule, or its kernel, is the judge."""
    return _core.trace.is_symint(a) or _core.trace.is_symint(b) or a == b


def sized(function):
    """Decorator of functions whose first argument is a shape: sizes may be given one by one, and as `size`."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if len(args) > 1 and isinstance(args[0], (int, Tensor)) and isinstance(args[1], (int, Tensor)):
            n = 2
            while n < len(args) and isinstance(args[n], (int, Tensor)):
                n += 1
            args = (list(args[:n]), *args[n:])
        if "size" in kwargs:
            kwargs["shape"] = kwargs.pop("size")
        return function(*args, **kwargs)

    return call


def axes_list(axis):
    """An axis, a sequence of axes, or None as a list; None is the empty list.

    Raises:
        ArgumentError: something else.
    """
    if axis is None:
        return []
    if isinstance(axis, Tensor):
        return axis.tolist() if axis.ndim else [int(axis)]
    try:
        if isinstance(axis, (list, tuple)):
            return [operator.index(a) for a in axis]
        return [operator.index(axis)]
    except TypeError:
        raise core.ArgumentError(f"expected axis to be an int or a list of ints, got {axis!r}") from None


def check_tensors(op, **given):
    """Raises ArgumentError where one of the named arguments is no tensor."""
    for name, value in given.items():
        if not isinstance(value, Tensor):
            raise core.ArgumentError(f"[{op}] expected {name} to be a Tensor, got {type(value).__name__}")


def axis_in(axis, rank, op):
    """`axis` counted from the front.

    Raises:
        OutOfRangeError: there is no such axis.
    """
    low = max(rank, 1)
    if not -low <= axis < low:
        raise core.OutOfRangeError(f"[{op}] expected axis in [{-low}, {low}), got {axis}")
    return axis + rank if axis < 0 else axis


def tensor_of(value, like=None):
    """`value` if it is a tensor, else a new one; a number takes the dtype of `like`."""
    if isinstance(value, Tensor):
        return value
    if like is not None and isinstance(value, (int, float, complex)):
        return core._C_ops.full([], value, like.dtype, like.place)
    return _core.to_tensor(value, None, None, True)


def merged_rows(x, axes):
    """`x` with `axes` (none: all) merged into one last axis, and the shape that a reduction over them keeps."""
    axes = [axis_in(a, x.ndim, "reduction") for a in axes] or list(range(x.ndim))
    rest = [a for a in range(x.ndim) if a not in axes]
    order = rest + axes
    moved = core._C_ops.transpose(x, order) if order != list(range(x.ndim)) else x
    kept = [1 if a in axes else n for a, n in enumerate(x.shape)]
    return core._C_ops.reshape(moved, [x.shape[a] for a in rest] + [-1]), kept


def is_complex(dtype) -> bool:
    """Complex."""
    return dtype in _COMPLEX


def is_inexact(dtype) -> bool:
    """Floating or complex."""
    return dtype in _INEXACT


_FLOATS = {core.dtype_objects[n] for n in ("float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2")
           if n in core.dtype_objects}  # fmt: skip
_COMPLEX = {core.dtype_objects[n] for n in ("complex64", "complex128")}
_INEXACT = _FLOATS | _COMPLEX
_INTEGERS = {core.dtype_objects[n] for n in ("uint8", "int8", "int16", "int32", "int64", "uint32", "uint64")
             if n in core.dtype_objects}  # fmt: skip


def in_place(function, name=None):
    """The form of `function` that writes its result into its first argument.

    Where shape or dtype change, the handle takes the result over; else the elements are written, so views see them.
    """

    @functools.wraps(function)
    def call(x, *args, **kwargs):
        # What the gradient reads of the old elements must outlive them.
        source = x if x.stop_gradient else core._C_ops.assign(x)
        return x._write_back(function(source, *args, **kwargs))

    call.__name__ = call.__qualname__ = name or function.__name__ + "_"
    call.__doc__ = f"``{function.__name__}`` that writes its result into its first argument, and returns that."
    return call
