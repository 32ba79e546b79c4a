"""What operators without a scalar expression compute, in NumPy and SciPy. Each takes the record's arguments by name."""

from __future__ import annotations

import math

import numpy as np
import reference_compound as compound
import reference_images as images
import reference_moves as moves
import reference_nn as networks

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
    "reshape": moves.reshape,
    "transpose": lambda x, perm: np.transpose(x, perm),
    "squeeze": moves.squeeze,
    "unsqueeze": moves.unsqueeze,
    "flatten": moves.flatten,
    "expand": moves.expand,
    "expand_as": lambda x, y, target_shape: np.broadcast_to(x, y.shape if y is not None else target_shape),
    "broadcast_tensors": lambda input: np.broadcast_arrays(*input),
    "slice": moves.slice_of,
    "strided_slice": lambda x, axes, starts, ends, strides: x[moves.index(x.ndim, axes, starts, ends, strides)],
    "as_strided": moves.as_strided,
    "as_strided_scatter_add": moves.as_strided_scatter_add,
    "diagonal": lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2),
    "tensor_unfold": moves.unfold,
    "concat": lambda x, axis: np.concatenate(x, int(axis)),
    "stack": lambda x, axis: np.stack(x, axis),
    "split": moves.split,
    "split_with_num": lambda x, num, axis: np.split(x, num, int(axis)),
    "unbind": lambda input, axis: moves.unbind(input, axis),
    "unstack": lambda x, axis, num: moves.unbind(x, axis),
    "meshgrid": lambda inputs: np.meshgrid(*[np.atleast_1d(i) for i in inputs], indexing="ij"),
    "tile": lambda x, repeat_times: np.tile(x, [1] * (x.ndim - len(repeat_times)) + repeat_times),
    "repeat_interleave": lambda x, repeats, axis, output_size: np.repeat(x, repeats, axis),
    "repeat_interleave_with_tensor_index": lambda x, repeats, axis, output_size: np.repeat(x, repeats, axis),
    "pad": lambda x, paddings, pad_value: np.pad(x, np.reshape(paddings, (-1, 2)), constant_values=pad_value),
    "pad3d": moves.pad3d,
    "flip": lambda x, axis: np.flip(x, axis) if x.ndim else x,
    "roll": lambda x, shifts, axis: (
        np.roll(x, shifts, tuple(axis) if x.ndim else None) if axis else np.roll(x, shifts[0])
    ),
    "gather": moves.gather,
    "gather_nd": moves.gather_nd,
    "index_select": lambda x, index, axis: np.take(x, index, axis),
    "index_sample": lambda x, index: np.take_along_axis(x, index, 1),
    "take_along_axis": lambda arr, indices, axis: np.take_along_axis(
        arr[tuple(slice(None) if i == axis % arr.ndim else slice(n) for i, n in enumerate(indices.shape))],
        indices,
        axis,
    ),
    "put_along_axis": moves.put_along_axis,
    "scatter": moves.scatter,
    "scatter_nd_add": moves.scatter_nd_add,
    "index_add": moves.index_add,
    "index_put": moves.index_put,
    "masked_select": lambda x, mask: np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[
        np.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))
    ],
    "nonzero": lambda condition: np.argwhere(condition),
    "set_value": lambda x, starts, ends, steps, axes, decrease_axes, none_axes, shape, values: moves.set_value(
        x, np.array(values, x.dtype).reshape(shape), starts, ends, steps, axes, decrease_axes, none_axes
    ),
    "set_value_with_tensor": lambda x, values, starts, ends, steps, axes, decrease_axes, none_axes: moves.set_value(
        x, values, starts, ends, steps, axes, decrease_axes, none_axes
    ),
    "argsort": moves.argsort,
    "topk": moves.topk,
    "kthvalue": moves.kthvalue,
    "unique": moves.unique,
    "searchsorted": moves.searchsorted,
    "tril": lambda x, diagonal: np.tril(x, diagonal),
    "triu": lambda x, diagonal: np.triu(x, diagonal),
    "diag": moves.diag,
    "diag_embed": moves.diag_embed,
    "one_hot": lambda x, num_classes: np.eye(int(num_classes), dtype=np.float32)[x],
    "unfold": images.unfold,
    "fold": images.fold,
    "prelu": images.prelu,
    "affine_grid": images.affine_grid,
    "grid_sample": images.grid_sample,
    "rnn": images.rnn,
    "einsum": lambda x, equation: np.einsum(equation, *x),
    "interp_antialias": images.interpolation(antialias=True),
    **{f"{m}_interp": images.interpolation() for m in ("linear", "bilinear", "nearest", "bicubic", "trilinear")},
    **compound.REFERENCES,
    **networks.REFERENCES,
}
