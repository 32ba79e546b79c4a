"""What operators without a scalar expression compute, in NumPy and SciPy. Each takes the record's arguments by name."""

from __future__ import annotations

import math

import numpy as np

_erf = np.vectorize(math.erf, otypes=[float])


def _axes(axis):
    if axis is None or (isinstance(axis, list) and not axis):
        return None
    return tuple(axis) if isinstance(axis, (list, tuple)) else int(axis)


def _sum(x, axis, dtype, keepdim):
    if dtype is None and not np.issubdtype(x.dtype, np.inexact):
        dtype = np.int64
    return np.sum(x, axis=_axes(axis), dtype=dtype, keepdims=keepdim)


def _logsumexp(x, axis, keepdim, reduce_all):
    axes = None if reduce_all else _axes(axis)
    top = np.max(x, axis=axes, keepdims=True)
    out = np.log(np.sum(np.exp(x - top), axis=axes, keepdims=True)) + top
    return out if keepdim else np.squeeze(out, axes) if axes is not None else out.reshape(())


def _arg(fn):
    def run(x, axis, keepdims, flatten, dtype):
        if flatten:
            out = np.asarray(fn(x))
            return (out.reshape((1,) * x.ndim) if keepdims else out).astype(dtype)
        return np.asarray(fn(x, axis=int(axis), keepdims=keepdims)).astype(dtype)

    return run


def _scan(ufunc, identity):
    def run(x, axis=None, dim=None, flatten=False, exclusive=False, reverse=False):
        axis = dim if axis is None else axis
        if flatten:
            x, axis = x.reshape(-1), 0
        if x.ndim == 0:
            return np.full_like(x, identity) if exclusive else x
        x = np.flip(x, axis) if reverse else x
        out = ufunc.accumulate(x, axis=axis)
        if exclusive:
            first = np.full_like(np.take(x, [0], axis), identity)
            out = np.concatenate([first, np.take(out, range(x.shape[axis] - 1), axis)], axis)
        return np.flip(out, axis) if reverse else out

    return run


def _cum_extreme(better):
    def run(x, axis, dtype):
        out, at = x.copy(), np.zeros(x.shape, np.int64)
        for i in np.ndindex(*(n for k, n in enumerate(x.shape) if k != axis % x.ndim)):
            place = i[: axis % x.ndim] + (slice(None),) + i[axis % x.ndim :]
            line, best = x[place], 0
            for j in range(len(line)):
                if j == 0 or better(line[j], line[best]):
                    best = j
                out[i[: axis % x.ndim] + (j,) + i[axis % x.ndim :]] = line[best]
                at[i[: axis % x.ndim] + (j,) + i[axis % x.ndim :]] = best
        return out, at.astype(dtype)

    return run


def _var(x, axis, keepdim, unbiased, correction):
    return np.var(x, axis=_axes(axis), keepdims=keepdim, ddof=correction if unbiased else 0)


def _p_norm(x, porder, axis, epsilon, keepdim, asvector):
    if asvector:
        out = np.linalg.norm(x.reshape(-1), porder)
        return np.asarray(out).reshape((1,) * x.ndim if keepdim else ())
    return np.linalg.norm(x, porder, axis=axis, keepdims=keepdim)


def _softmax(x, axis):
    if x.ndim == 0:
        return np.ones_like(x)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=axis, keepdims=True)


def _log_softmax(x, axis):
    if x.ndim == 0:
        return np.zeros_like(x)
    off = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return off - np.log(np.exp(off).sum(axis=axis, keepdims=True))


def _gelu(x, approximate):
    if approximate:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * 0.5 * (1 + _erf(x / np.sqrt(2)))


def _swiglu(x, y):
    x, y = (x, y) if y is not None else np.split(x, 2, -1)
    return x / (1 + np.exp(-x)) * y


def _squeeze(x, axis):
    axes = [a % x.ndim for a in axis] if axis else range(x.ndim)
    return x.reshape([n for i, n in enumerate(x.shape) if i not in axes or n != 1])


def _unsqueeze(x, axis):
    for a in axis:
        x = np.expand_dims(x, a)
    return x


def _flatten(x, start_axis, stop_axis):
    if x.ndim == 0:
        return x.reshape(1)
    start, stop = start_axis % x.ndim, stop_axis % x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[stop + 1 :])


def _reshape(x, shape):
    shape = [x.shape[i] if n == 0 and i < x.ndim else n for i, n in enumerate(shape)]
    if -1 in shape and x.size == 0:
        rest = [n for n in shape if n != -1]
        left = math.prod(n for n in x.shape if n) // math.prod(n for n in rest if n)
        shape[shape.index(-1)] = left if 0 in rest else 0
    return x.reshape(shape)


def _expand(x, shape):
    extra = len(shape) - x.ndim
    return np.broadcast_to(x, [x.shape[i - extra] if n == -1 else n for i, n in enumerate(shape)])


def _index(rank, axes, starts, ends, steps):
    at = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        at[axis] = slice(start, end, step)
    return tuple(at)


def _slice(input, axes, starts, ends, infer_flags, decrease_axis):
    out = input[_index(input.ndim, axes, starts, ends, [1] * len(axes))]
    return out.reshape([n for i, n in enumerate(out.shape) if i not in decrease_axis])


def _set_value(x, values, starts, ends, steps, axes, decrease_axes, none_axes):
    out = x.copy()
    part = out[_index(x.ndim, axes, starts, ends, steps)]
    target = [n for i, n in enumerate(part.shape) if i not in decrease_axes]
    part[...] = np.broadcast_to(values, target).reshape(part.shape)
    return out


def _as_strided(x, shape, stride, offset):
    flat = np.ascontiguousarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, shape, [s * x.itemsize for s in stride]).copy()


def _as_strided_scatter_add(out_grad, x_shape, shape, stride, offset):
    flat = np.zeros(int(np.prod(x_shape)), out_grad.dtype)
    for i in np.ndindex(*shape):
        flat[offset + sum(a * b for a, b in zip(i, stride, strict=True))] += out_grad[i]
    return flat.reshape(x_shape)


def _split(x, sections, axis):
    sections = [x.shape[axis] - sum(n for n in sections if n != -1) if n == -1 else n for n in sections]
    return np.split(x, np.cumsum(sections)[:-1], axis)


def _unbind(x, axis):
    return [np.take(x, i, axis) for i in range(x.shape[axis])]


def _unfold(input, axis, size, step):
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(input, size, axis), axis, axis)[
        (slice(None),) * (axis % input.ndim) + (slice(None, None, step),)
    ]


def _pad3d(x, paddings, mode, pad_value, data_format):
    w, h, d = paddings[:2], paddings[2:4], paddings[4:]
    pads = [(0, 0), (0, 0), d, h, w] if data_format == "NCDHW" else [(0, 0), d, h, w, (0, 0)]
    if mode == "constant":
        return np.pad(x, pads, constant_values=pad_value)
    return np.pad(x, pads, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])


def _gather(x, index, axis):
    return np.take(x, index.reshape(-1) if index.ndim == 2 else index, int(axis))


def _gather_nd(x, index):
    return x[tuple(np.moveaxis(index, -1, 0))]


def _put_along_axis(arr, indices, values, axis, reduce, include_self):
    out = arr.astype(np.float64) if np.issubdtype(arr.dtype, np.floating) else arr.copy()
    start = {"add": 0, "mul": 1, "multiply": 1, "mean": 0, "amax": -np.inf, "amin": np.inf}.get(reduce)
    touched = np.zeros(arr.shape, np.int64)
    for i in np.ndindex(*indices.shape):
        at = list(i)
        at[axis] = indices[i]
        at = tuple(at)
        if touched[at] == 0 and not include_self and reduce != "assign":
            out[at] = start
        touched[at] += 1
        v = values[i]
        if reduce == "assign":
            out[at] = v
        elif reduce in ("add", "mean"):
            out[at] += v
        elif reduce in ("mul", "multiply"):
            out[at] *= v
        else:
            out[at] = max(out[at], v) if reduce == "amax" else min(out[at], v)
    if reduce == "mean":
        out = np.where(touched > 0, out / np.maximum(touched + bool(include_self), 1), out)
    return out.astype(arr.dtype)


def _scatter(x, index, updates, overwrite):
    out, index = x.copy(), index.reshape(-1)
    if overwrite:
        out[index] = updates
        return out
    out[index] = 0
    np.add.at(out, index, updates)
    return out


def _scatter_nd_add(x, index, updates):
    out = x.copy()
    np.add.at(out, tuple(np.moveaxis(index, -1, 0)), updates)
    return out


def _index_add(x, index, add_value, axis):
    out = np.moveaxis(x.copy(), axis, 0)
    np.add.at(out, index, np.moveaxis(add_value, axis, 0))
    return np.moveaxis(out, 0, axis)


def _index_put(x, indices, value, accumulate):
    out = x.copy()
    if accumulate:
        np.add.at(out, tuple(indices), value)
    else:
        out[tuple(indices)] = value
    return out


def _argsort(x, axis, descending, stable):
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    at = np.argsort(-x if descending else x, axis, kind="stable")
    return np.take_along_axis(x, at, axis), at


def _topk(x, k, axis, largest, sorted):
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    out, at = _argsort(x, axis, largest, True)
    return np.take(out, range(int(k)), axis), np.take(at, range(int(k)), axis)


def _kthvalue(x, k, axis, keepdim):
    out, at = _argsort(x, axis, False, True)
    pick = (lambda a: np.take(a, [k - 1], axis)) if keepdim else (lambda a: np.take(a, k - 1, axis))
    return pick(out), pick(at)


def _unique(x, return_index, return_inverse, return_counts, axis, dtype, is_sorted):
    return np.unique(x)


def _searchsorted(sorted_sequence, values, out_int32, right):
    out = np.searchsorted(sorted_sequence, values, side="right" if right else "left")
    return out.astype(np.int32 if out_int32 else np.int64)


def _diag(x, offset, padding_value):
    out = np.diag(x, offset)
    if x.ndim == 1 and padding_value:
        out = np.where(np.diag(np.ones(len(x), bool), offset), out, padding_value)
    return out.astype(x.dtype)


def _diag_embed(input, offset, dim1, dim2):
    n = input.shape[-1] + abs(offset)
    out = np.zeros((*input.shape[:-1], n, n), input.dtype)
    i = np.arange(input.shape[-1])
    out[..., i + max(-offset, 0), i + max(offset, 0)] = input
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


def _triangular_solve(x, y, upper, transpose, unitriangular):
    m = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        m = m - np.diag(np.diag(m)) + np.eye(m.shape[-1])
    return np.linalg.solve(m.T if transpose else m, y)


REFERENCES = {
    "cholesky": lambda x, upper: np.linalg.cholesky(x.T).T if upper else np.linalg.cholesky(x),
    "triangular_solve": _triangular_solve,
    "solve": lambda x, y: np.linalg.solve(x, y),
    "inverse": lambda x: np.linalg.inv(x),
    "determinant": lambda x: np.linalg.det(x),
    "slogdet": lambda x: np.stack(np.linalg.slogdet(x)),
    "qr": lambda x, mode: np.linalg.qr(x, mode),
    "sum": _sum,
    "mean": lambda x, axis, keepdim: np.mean(x, axis=_axes(axis), keepdims=keepdim),
    "max": lambda x, axis, keepdim: np.max(x, axis=_axes(axis), keepdims=keepdim),
    "min": lambda x, axis, keepdim: np.min(x, axis=_axes(axis), keepdims=keepdim),
    "amax": lambda x, axis, keepdim: np.max(x, axis=_axes(axis), keepdims=keepdim),
    "amin": lambda x, axis, keepdim: np.min(x, axis=_axes(axis), keepdims=keepdim),
    "prod": lambda x, axis, keepdim, reduce_all: np.prod(
        x, axis=None if reduce_all else _axes(axis), keepdims=keepdim, dtype=x.dtype
    ),
    "any": lambda x, axis, keepdim: np.any(x, axis=_axes(axis), keepdims=keepdim),
    "all": lambda x, axis, keepdim: np.all(x, axis=_axes(axis), keepdims=keepdim),
    "logsumexp": _logsumexp,
    "argmax": _arg(np.argmax),
    "argmin": _arg(np.argmin),
    "cumsum": _scan(np.add, 0),
    "cumprod": _scan(np.multiply, 1),
    "logcumsumexp": _scan(np.logaddexp, -np.inf),
    "cummax": _cum_extreme(lambda a, b: a >= b),
    "cummin": _cum_extreme(lambda a, b: a <= b),
    "var": _var,
    "std": lambda **kw: np.sqrt(_var(**kw)),
    "p_norm": _p_norm,
    "frobenius_norm": lambda x, axis, keep_dim, reduce_all: np.sqrt(np.sum(x * x, axis=_axes(axis), keepdims=keep_dim)),
    "squared_l2_norm": lambda x: np.sum(x * x).reshape(1),
    "reduce_as": lambda x, target: np.sum(
        x,
        axis=tuple(
            i for i in range(x.ndim) if i < x.ndim - target.ndim or target.shape[i - x.ndim + target.ndim] != x.shape[i]
        ),
    ).reshape(target.shape),
    "cast": lambda x, dtype: x if dtype == "bfloat16" else x.astype(dtype),
    "bitwise_right_shift": lambda x, y, is_arithmetic: (
        x >> y if is_arithmetic else (x.view(f"u{x.itemsize}") >> y.view(f"u{x.itemsize}")).view(x.dtype)
    ),
    "add_n": lambda inputs: sum(inputs[1:], inputs[0]),
    "allclose": lambda x, y, rtol, atol, equal_nan: np.asarray(np.allclose(x, y, rtol, atol, equal_nan)),
    "equal_all": lambda x, y: np.asarray(x.shape == y.shape and bool((x == y).all())),
    "as_complex": lambda x: x[..., 0] + 1j * x[..., 1],
    "as_real": lambda x: np.stack([x.real, x.imag], -1),
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "gelu": _gelu,
    "swiglu": _swiglu,
    "full": lambda shape, value, dtype, place: np.full(shape, value, dtype),
    "full_like": lambda x, value, dtype, place: np.full(x.shape, value, dtype or x.dtype),
    "full_int_array": lambda value, dtype, place: np.array(value, dtype),
    "assign_value": lambda shape, dtype, values, place: np.array(values, dtype).reshape(shape),
    "arange": lambda start, end, step, dtype, place: np.arange(start, end, step).astype(dtype),
    "linspace": lambda start, stop, number, dtype, place: np.linspace(start, stop, number).astype(dtype),
    "eye": lambda num_rows, num_columns, dtype, place: np.eye(num_rows, num_columns, dtype=dtype),
    "fill": lambda x, value: np.full_like(x, value),
    "shape64": lambda input: np.array(input.shape, np.int64),
    "shape": lambda input: np.array(input.shape, np.int32),
    "numel": lambda x: np.asarray(x.size),
    "reshape": _reshape,
    "transpose": lambda x, perm: np.transpose(x, perm),
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "flatten": _flatten,
    "expand": _expand,
    "expand_as": lambda x, y, target_shape: np.broadcast_to(x, y.shape if y is not None else target_shape),
    "broadcast_tensors": lambda input: np.broadcast_arrays(*input),
    "slice": _slice,
    "strided_slice": lambda x, axes, starts, ends, strides: x[_index(x.ndim, axes, starts, ends, strides)],
    "as_strided": _as_strided,
    "as_strided_scatter_add": _as_strided_scatter_add,
    "diagonal": lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2),
    "tensor_unfold": _unfold,
    "concat": lambda x, axis: np.concatenate(x, int(axis)),
    "stack": lambda x, axis: np.stack(x, axis),
    "split": _split,
    "split_with_num": lambda x, num, axis: np.split(x, num, int(axis)),
    "unbind": lambda input, axis: _unbind(input, axis),
    "unstack": lambda x, axis, num: _unbind(x, axis),
    "meshgrid": lambda inputs: np.meshgrid(*[np.atleast_1d(i) for i in inputs], indexing="ij"),
    "tile": lambda x, repeat_times: np.tile(x, [1] * (x.ndim - len(repeat_times)) + repeat_times),
    "repeat_interleave": lambda x, repeats, axis, output_size: np.repeat(x, repeats, axis),
    "repeat_interleave_with_tensor_index": lambda x, repeats, axis, output_size: np.repeat(x, repeats, axis),
    "pad": lambda x, paddings, pad_value: np.pad(x, np.reshape(paddings, (-1, 2)), constant_values=pad_value),
    "pad3d": _pad3d,
    "flip": lambda x, axis: np.flip(x, axis) if x.ndim else x,
    "roll": lambda x, shifts, axis: np.roll(x, shifts, tuple(axis) if x.ndim else None) if axis else np.roll(x, shifts[0]),
    "gather": _gather,
    "gather_nd": _gather_nd,
    "index_select": lambda x, index, axis: np.take(x, index, axis),
    "index_sample": lambda x, index: np.take_along_axis(x, index, 1),
    "take_along_axis": lambda arr, indices, axis: np.take_along_axis(
        arr[tuple(slice(None) if i == axis % arr.ndim else slice(n) for i, n in enumerate(indices.shape))],
        indices,
        axis,
    ),
    "put_along_axis": _put_along_axis,
    "scatter": _scatter,
    "scatter_nd_add": _scatter_nd_add,
    "index_add": _index_add,
    "index_put": _index_put,
    "masked_select": lambda x, mask: np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[
        np.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))
    ],
    "nonzero": lambda condition: np.argwhere(condition),
    "set_value": lambda x, starts, ends, steps, axes, decrease_axes, none_axes, shape, values: _set_value(
        x, np.array(values, x.dtype).reshape(shape), starts, ends, steps, axes, decrease_axes, none_axes
    ),
    "set_value_with_tensor": lambda x, values, starts, ends, steps, axes, decrease_axes, none_axes: _set_value(
        x, values, starts, ends, steps, axes, decrease_axes, none_axes
    ),
    "argsort": _argsort,
    "topk": _topk,
    "kthvalue": _kthvalue,
    "unique": _unique,
    "searchsorted": _searchsorted,
    "tril": lambda x, diagonal: np.tril(x, diagonal),
    "triu": lambda x, diagonal: np.triu(x, diagonal),
    "diag": _diag,
    "diag_embed": _diag_embed,
    "one_hot": lambda x, num_classes: np.eye(int(num_classes), dtype=np.float32)[x],
}
