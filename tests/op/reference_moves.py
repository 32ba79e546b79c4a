"""What moves elements, in NumPy: shapes, slices, picking and placing, order."""

from __future__ import annotations

import math

import numpy as np


def squeeze(x, axis):
    axes = [a % x.ndim for a in axis] if axis else range(x.ndim)
    return x.reshape([n for i, n in enumerate(x.shape) if i not in axes or n != 1])


def unsqueeze(x, axis):
    for a in axis:
        x = np.expand_dims(x, a)
    return x


def flatten(x, start_axis, stop_axis):
    if x.ndim == 0:
        return x.reshape(1)
    start, stop = start_axis % x.ndim, stop_axis % x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[stop + 1 :])


def reshape(x, shape):
    shape = [x.shape[i] if n == 0 and i < x.ndim else n for i, n in enumerate(shape)]
    if -1 in shape and x.size == 0:
        rest = [n for n in shape if n != -1]
        left = math.prod(n for n in x.shape if n) // math.prod(n for n in rest if n)
        shape[shape.index(-1)] = left if 0 in rest else 0
    return x.reshape(shape)


def expand(x, shape):
    extra = len(shape) - x.ndim
    return np.broadcast_to(x, [x.shape[i - extra] if n == -1 else n for i, n in enumerate(shape)])


def index(rank, axes, starts, ends, steps):
    at = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        at[axis] = slice(start, end, step)
    return tuple(at)


def slice_of(input, axes, starts, ends, infer_flags, decrease_axis):
    out = input[index(input.ndim, axes, starts, ends, [1] * len(axes))]
    return out.reshape([n for i, n in enumerate(out.shape) if i not in decrease_axis])


def set_value(x, values, starts, ends, steps, axes, decrease_axes, none_axes):
    out = x.copy()
    part = out[index(x.ndim, axes, starts, ends, steps)]
    target = [n for i, n in enumerate(part.shape) if i not in decrease_axes]
    part[...] = np.broadcast_to(values, target).reshape(part.shape)
    return out


def as_strided(x, shape, stride, offset):
    flat = np.ascontiguousarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, shape, [s * x.itemsize for s in stride]).copy()


def as_strided_scatter_add(out_grad, x_shape, shape, stride, offset):
    flat = np.zeros(int(np.prod(x_shape)), out_grad.dtype)
    for i in np.ndindex(*shape):
        flat[offset + sum(a * b for a, b in zip(i, stride, strict=True))] += out_grad[i]
    return flat.reshape(x_shape)


def split(x, sections, axis):
    sections = [x.shape[axis] - sum(n for n in sections if n != -1) if n == -1 else n for n in sections]
    return np.split(x, np.cumsum(sections)[:-1], axis)


def unbind(x, axis):
    return [np.take(x, i, axis) for i in range(x.shape[axis])]


def unfold(input, axis, size, step):
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(input, size, axis), axis, axis)[
        (slice(None),) * (axis % input.ndim) + (slice(None, None, step),)
    ]


def pad3d(x, paddings, mode, pad_value, data_format):
    w, h, d = paddings[:2], paddings[2:4], paddings[4:]
    pads = [(0, 0), (0, 0), d, h, w] if data_format == "NCDHW" else [(0, 0), d, h, w, (0, 0)]
    if mode == "constant":
        return np.pad(x, pads, constant_values=pad_value)
    return np.pad(x, pads, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])


def gather(x, index, axis):
    return np.take(x, index.reshape(-1) if index.ndim == 2 else index, int(axis))


def gather_nd(x, index):
    return x[tuple(np.moveaxis(index, -1, 0))]


def put_along_axis(arr, indices, values, axis, reduce, include_self):
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


def scatter(x, index, updates, overwrite):
    out, index = x.copy(), index.reshape(-1)
    if overwrite:
        out[index] = updates
        return out
    out[index] = 0
    np.add.at(out, index, updates)
    return out


def scatter_nd_add(x, index, updates):
    out = x.copy()
    np.add.at(out, tuple(np.moveaxis(index, -1, 0)), updates)
    return out


def index_add(x, index, add_value, axis):
    out = np.moveaxis(x.copy(), axis, 0)
    np.add.at(out, index, np.moveaxis(add_value, axis, 0))
    return np.moveaxis(out, 0, axis)


def index_put(x, indices, value, accumulate):
    out = x.copy()
    if accumulate:
        np.add.at(out, tuple(indices), value)
    else:
        out[tuple(indices)] = value
    return out


def argsort(x, axis, descending, stable):
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    at = np.argsort(-x if descending else x, axis, kind="stable")
    return np.take_along_axis(x, at, axis), at


def topk(x, k, axis, largest, sorted):
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    out, at = argsort(x, axis, largest, True)
    return np.take(out, range(int(k)), axis), np.take(at, range(int(k)), axis)


def kthvalue(x, k, axis, keepdim):
    out, at = argsort(x, axis, False, True)
    pick = (lambda a: np.take(a, [k - 1], axis)) if keepdim else (lambda a: np.take(a, k - 1, axis))
    return pick(out), pick(at)


def unique(x, return_index, return_inverse, return_counts, axis, dtype, is_sorted):
    return np.unique(x)


def searchsorted(sorted_sequence, values, out_int32, right):
    out = np.searchsorted(sorted_sequence, values, side="right" if right else "left")
    return out.astype(np.int32 if out_int32 else np.int64)


def diag(x, offset, padding_value):
    out = np.diag(x, offset)
    if x.ndim == 1 and padding_value:
        out = np.where(np.diag(np.ones(len(x), bool), offset), out, padding_value)
    return out.astype(x.dtype)


def diag_embed(input, offset, dim1, dim2):
    n = input.shape[-1] + abs(offset)
    out = np.zeros((*input.shape[:-1], n, n), input.dtype)
    i = np.arange(input.shape[-1])
    out[..., i + max(-offset, 0), i + max(offset, 0)] = input
    return np.moveaxis(out, (-2, -1), (dim1, dim2))
