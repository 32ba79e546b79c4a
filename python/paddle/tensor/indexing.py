"""Gathering, scattering, selecting, filling."""

from __future__ import annotations

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import Tensor, accepts, axis_in, finish, tensor_of

__all__ = [
    "diagonal_scatter", "fill_", "fill_diagonal_", "fill_diagonal_tensor", "gather", "gather_nd", "index_add",
    "index_fill", "index_put", "index_select", "masked_fill", "masked_fill_", "masked_scatter", "masked_select",
    "multiplex", "nonzero", "put_along_axis", "scatter", "scatter_add", "scatter_nd", "scatter_nd_add",
    "scatter_reduce", "select_scatter", "slice_scatter", "take", "take_along_axis", "take_along_dim", "where",
    "zero_",
]  # fmt: skip


def gather(x, index=None, axis=None, name=None, out=None, **others):
    """The slices of `x` at `index` along `axis`; with ``dim``, elements as ``take_along_axis`` takes them."""
    if others:
        x = others.get("input", x)
        if "dim" in others:
            return finish(take_along_axis(x, index, others["dim"], False), out)
    return finish(_C_ops.gather(x, index, 0 if axis is None else axis), out)


def gather_nd(x, index, name=None):
    """The slices of `x` at the coordinates on the last axis of `index`."""
    return _C_ops.gather_nd(x, index)


@accepts(x="input", axis="dim")
def index_select(x, index, axis=0, name=None, *, out=None):
    """The slices of `x` at the vector `index` along `axis`; the two may be given in either order."""
    if isinstance(index, int) and isinstance(axis, Tensor):
        index, axis = axis, index
    return finish(_C_ops.index_select(x, index, axis), out)


def _aligned_indices(arr, indices, axis, broadcast):
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions!")
    if not broadcast:
        return arr, indices
    arr_shape, index_shape = list(arr.shape), list(indices.shape)
    from .manipulation import broadcast_shape

    rest = broadcast_shape(arr_shape[:axis] + arr_shape[axis + 1 :], index_shape[:axis] + index_shape[axis + 1 :])
    new_index = [*rest[:axis], index_shape[axis], *rest[axis:]]
    new_arr = [*rest[:axis], arr_shape[axis], *rest[axis:]]
    if new_index != index_shape:
        indices = _C_ops.expand(indices, new_index)
    if new_arr != arr_shape:
        arr = _C_ops.expand(arr, new_arr)
    return arr, indices


@accepts(arr="input x", axis="dim", indices="index")
def take_along_axis(arr, indices, axis, broadcast=True, *, out=None):
    """out[..., i, ...] = arr[..., indices[..., i, ...], ...] along `axis`; other axes broadcast."""
    if axis is None:
        arr, indices, axis = _C_ops.flatten(arr, 0, -1), _C_ops.flatten(indices, 0, -1), 0
    axis = axis_in(axis, arr.ndim, "take_along_axis")
    arr, indices = _aligned_indices(arr, indices, axis, broadcast)
    return finish(_C_ops.take_along_axis(arr, indices, axis), out)


take_along_dim = take_along_axis


@accepts(arr="input x", axis="dim", indices="index", values="src value")
def put_along_axis(arr, indices, values, axis, reduce="assign", include_self=True, broadcast=True):
    """`arr` with `values` written (or reduced: "add", "mul", "mean", "amax", "amin") at `indices` along `axis`."""
    axis = axis_in(axis, arr.ndim, "put_along_axis")
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions!")
    values = tensor_of(values, arr)
    if values.dtype != arr.dtype:
        values = _C_ops.cast(values, arr.dtype)
    if broadcast:
        shape = list(arr.shape)
        shape[axis] = indices.shape[axis]
        if list(indices.shape) != shape:
            indices = _C_ops.expand(indices, shape)
    if values.ndim == 0 or (broadcast and list(values.shape) != list(indices.shape)):
        values = _C_ops.expand(values, indices.shape)
    reduce = {"sum": "add", "prod": "mul", "multiply": "mul"}.get(reduce, reduce)
    return _C_ops.put_along_axis(arr, indices, values, axis, reduce, include_self)


def scatter(x, index=None, updates=None, overwrite=True, name=None, out=None, **others):
    """`x` with the rows `updates` written to (or, after zeroing, added at) the rows `index`.

    With ``dim`` and ``src``: elements along an axis, as ``put_along_axis`` writes them.
    """
    if others:
        x = others.get("input", x)
        if "dim" in others or "src" in others or "value" in others:
            source = others.get("src", others.get("value", updates))
            reduce = {None: "assign", "add": "add", "multiply": "mul"}[others.get("reduce")]
            return finish(put_along_axis(x, index, source, others.get("dim", 0), reduce, True, False), out)
    return finish(_C_ops.scatter(x, index, updates, overwrite), out)


def scatter_add(input, dim, index, src):
    """`input` with `src` added at `index` along `dim`."""
    return put_along_axis(input, index, src, dim, "add", True, False)


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """`input` with `src` reduced ("sum", "prod", "mean", "amax", "amin") into `index` along `dim`."""
    return put_along_axis(input, index, src, dim, reduce, include_self, False)


def scatter_nd(index, updates, shape, name=None):
    """Zeros of `shape` with `updates` added at the coordinates `index`."""
    return _C_ops.scatter_nd_add(_C_ops.full(shape, 0, updates.dtype, None), index, updates)


def scatter_nd_add(x, index, updates, name=None):
    """`x` with `updates` added at the coordinates `index`."""
    return _C_ops.scatter_nd_add(x, index, updates)


@accepts(x="input", axis="dim", value="source")
def index_add(x, index, axis, value, alpha=1, name=None, *, out=None):
    """`x` with `alpha` times the slices `value` added at `index` along `axis`."""
    if isinstance(value, int):  # the order (x, axis, index, value)
        raise TypeError(f"[index_add] expected value to be a Tensor, got {type(value).__name__}")
    if isinstance(index, int):
        index, axis = axis, index
    value = value if alpha == 1 else value * alpha
    return finish(_C_ops.index_add(x, index, value, axis), out)


@accepts(x="input", axis="dim")
def index_fill(x, index, axis, value, name=None):
    """`x` with `value` in the slices at `index` along `axis`."""
    if isinstance(index, int):
        index, axis = axis, index
    axis = axis_in(axis, x.ndim, "index_fill")
    marks = _C_ops.scatter(
        _C_ops.full([x.shape[axis]], 0, core.int32, None), _C_ops.reshape(index, [-1]),
        _C_ops.full([index.size], 1, core.int32, None), True,
    )  # fmt: skip
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    mask = _C_ops.reshape(_C_ops.cast(marks, core.bool_), shape)
    value = tensor_of(value, x)
    return _C_ops.where(mask, value if value.dtype == x.dtype else _C_ops.cast(value, x.dtype), x)


def _index_tensors(indices):
    return [tensor_of(i) for i in indices]


def index_put(x, indices, value, accumulate=False, name=None):
    """`x` with `value` written (or added, with `accumulate`) at the tuple of index tensors `indices`."""
    value = tensor_of(value, x)
    indices = _index_tensors(indices)
    if any(i.dtype == core.bool_ for i in indices):
        flat = []
        for i in indices:
            flat += list(nonzero(i, True)) if i.dtype == core.bool_ else [i]
        indices = flat
    return _C_ops.index_put(x, indices, value if value.dtype == x.dtype else _C_ops.cast(value, x.dtype), accumulate)


@accepts(x="input")
def masked_select(x, mask, name=None, *, out=None):
    """The elements of `x` where `mask` (broadcast) holds, as a vector."""
    return finish(_C_ops.masked_select(x, mask), out)


@accepts(x="input")
def masked_fill(x, mask, value, name=None):
    """`x` with `value` where `mask` (broadcast) holds."""
    value = tensor_of(value, x)
    return _C_ops.masked_fill(x, mask, value if value.dtype == x.dtype else _C_ops.cast(value, x.dtype))


@accepts(x="input")
def masked_fill_(x, mask, value, name=None):
    """``masked_fill`` that writes into `x`."""
    value = tensor_of(value, x)
    return _C_ops.masked_fill_(x, mask, value if value.dtype == x.dtype else _C_ops.cast(value, x.dtype))


@accepts(x="input", value="source")
def masked_scatter(x, mask, value, name=None):
    """`x` with the first elements of `value` in order where `mask` (broadcast) holds.

    Raises:
        ValueError: `value` has too few elements.
    """
    mask = _C_ops.expand(mask, x.shape)
    order = _C_ops.cumsum(_C_ops.cast(_C_ops.flatten(mask, 0, -1), core.int64), -1, False, False, False)
    flat = _C_ops.flatten(value, 0, -1)
    if not (order.size == 0 or int(order[-1]) <= flat.shape[0]):
        raise ValueError(f"[masked_scatter] expected at least {int(order[-1])} values, got {flat.shape[0]}")
    if flat.shape[0] == 0:
        return _C_ops.assign(x)
    at = _C_ops.clip(order - 1, 0, flat.shape[0] - 1)
    picked = _C_ops.reshape(_C_ops.index_select(flat, at, 0), x.shape)
    return _C_ops.where(mask, picked, x)


@accepts(x="input")
def nonzero(x, as_tuple=False, *, out=None):
    """Coordinates [n, rank] of the elements that are not zero; with `as_tuple`, one vector per axis."""
    found = _C_ops.nonzero(x)
    if not as_tuple:
        return finish(found, out)
    return tuple(_C_ops.unbind(found, 1)) if x.ndim > 1 else (_C_ops.squeeze(found, [1]),)


def argwhere(input):
    """Coordinates [n, rank] of the elements that are not zero."""
    return _C_ops.nonzero(input)


@accepts(x="input", y="other")
def where(condition, x=None, y=None, name=None, *, out=None):
    """`x` where `condition` holds, else `y`, all broadcast; with `condition` alone, ``nonzero(condition, True)``.

    Raises:
        ValueError: only one of `x` and `y` is given.
    """
    if x is None and y is None:
        return nonzero(condition, True)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if condition.dtype != core.bool_:
        condition = _C_ops.cast(condition, core.bool_)
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return finish(_C_ops.where(condition, x, y), out)
    if isinstance(x, Tensor):
        y = _number_beside(y, x)
    elif isinstance(y, Tensor):
        x = _number_beside(x, y)
    else:
        x, y = _core.to_tensor(x, None, None, True), _core.to_tensor(y, None, None, True)
    return finish(_C_ops.where(condition, x, y), out)


def _number_beside(value, tensor):
    if isinstance(value, float) and tensor.dtype not in _float_like():
        return _core.to_tensor(value, None, None, True)
    return tensor_of(value, tensor)


def _float_like():
    from ._common import _INEXACT

    return _INEXACT


def take(x, index, mode="raise", name=None):
    """Elements of the flattened `x` at `index`; out of range: "raise", "wrap" around, or "clip".

    Raises:
        ValueError: another mode. IndexError: an index out of range with "raise".
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"'mode' in 'take' should be 'raise', 'wrap', 'clip', but received {mode}.")
    flat, at, n = _C_ops.flatten(x, 0, -1), _C_ops.flatten(index, 0, -1), x.size
    if mode == "clip":
        at = _C_ops.clip(at, 0, n - 1)
    elif mode == "wrap":
        at = at % n
    else:
        if index.size and bool(_C_ops.any((at < -n) | (at >= n), [], False)):
            raise core.OutOfRangeError(f"[take] expected indices in [{-n}, {n})")
        at = _C_ops.where(at < 0, at + n, at)
    return _C_ops.reshape(_C_ops.index_select(flat, at, 0), index.shape)


def multiplex(inputs, index, name=None):
    """Row i of input `index[i]`."""
    stacked = _C_ops.stack(list(inputs), 0)
    chosen = _C_ops.cast(_C_ops.reshape(index, [-1]), core.int64)
    from .creation import arange

    rows = arange(chosen.shape[0])
    return _C_ops.gather_nd(stacked, _C_ops.stack([chosen, rows], 1))


def select_scatter(x, values, axis, index, name=None):
    """`x` with `values` in place of its slice `index` along `axis`."""
    out = _C_ops.assign(x)
    key = [slice(None)] * (axis_in(axis, x.ndim, "select_scatter")) + [index]
    if list(values.shape) != list(out[tuple(key)].shape):
        raise RuntimeError(f"[select_scatter] expected values of shape {out[tuple(key)].shape}, got {values.shape}")
    out[tuple(key)] = values
    return out


def slice_scatter(x, value, axes=None, starts=None, ends=None, strides=None, name=None):
    """`x` with `value` in place of its strided slice along `axes`."""
    out = _C_ops.assign(x)
    key = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        key[axis_in(axis, x.ndim, "slice_scatter")] = slice(starts[i], ends[i], strides[i] if strides else 1)
    out[tuple(key)] = value
    return out


def diagonal_scatter(x, y, offset=0, axis1=0, axis2=1, name=None):
    """`x` with `y` on a diagonal of the axes `axis1`, `axis2`."""
    return fill_diagonal_tensor(x, y, offset, axis1, axis2)


def fill_diagonal_tensor(x, y, offset=0, dim1=0, dim2=1, name=None):
    """`x` with `y` on a diagonal of the axes `dim1`, `dim2`."""
    out = _C_ops.assign(x)
    view = _C_ops.diagonal(out, offset, dim1, dim2)
    if list(view.shape) != list(y.shape):
        raise ValueError(f"[fill_diagonal_tensor] expected values of shape {view.shape}, got {y.shape}")
    view[...] = y
    return out


def fill_diagonal_(x, value, offset=0, wrap=False, name=None):
    """Writes `value` on the main diagonal (shifted by `offset`); `wrap` goes on after each width + 1 rows of a tall
    matrix.

    Raises:
        ValueError: axes of different sizes where there are more than two.
    """
    if x.ndim < 2:
        raise ValueError(f"[fill_diagonal_] expected at least 2 axes, got {x.ndim}")
    n, width = x.size, x.shape[-1]
    if x.ndim > 2:
        if len(set(x.shape)) != 1:
            raise ValueError(f"[fill_diagonal_] expected equal sizes of all axes, got {x.shape}")
        step = sum(x.shape[-1] ** i for i in range(x.ndim))
        last = n
    else:
        step = width + 1
        last = n if wrap else min(n, width * width)
    flat = [i for i in range(0, last, step)]
    if offset:
        rows = [(i // width, i % width + offset) for i in flat]
        flat = [r * width + c for r, c in rows if 0 <= c < width]
    if flat:
        mask = _C_ops.scatter(_C_ops.full([n], 0, core.int32, None), _core.to_tensor(flat, core.int64, None, True),
                              _C_ops.full([len(flat)], 1, core.int32, None), True)  # fmt: skip
        return _C_ops.masked_fill_(x, _C_ops.reshape(_C_ops.cast(mask, core.bool_), x.shape), tensor_of(value, x))
    return x


def fill_(x, value):
    """Writes `value` into every element."""
    return _C_ops.fill_(x, value)


def zero_(x):
    """Writes 0 into every element."""
    return _C_ops.fill_(x, 0)
