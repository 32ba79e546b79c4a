"""Ordering and searching."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import Tensor, accepts, axes_list, axis_in, finish, is_inexact
from .indexing import argwhere, index_select, masked_select, nonzero, where  # noqa: F401


def _extreme(name):
    operator = getattr(_C_ops, name)

    @accepts(x="input", axis="dim")
    def form(x, axis=None, keepdim=False, dtype="int64", name=None, *, out=None):
        if dtype is None:
            raise ValueError(f"the value of 'dtype' in {form.__name__} could not be None, but received None")
        return finish(operator(x, 0 if axis is None else axis, keepdim, axis is None, dtype), out)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"The index of the {name[3:]}imum along `axis`; without one, in the flattened `x`."
    return form


argmax, argmin = _extreme("argmax"), _extreme("argmin")


@accepts(x="input", axis="dim")
def argsort(x, axis=-1, descending=False, stable=False, name=None, *, out=None):
    """The indices that sort `x` along `axis`."""
    return finish(_C_ops.argsort(x, axis, descending, stable)[1], out)


@accepts(x="input", axis="dim")
def sort(x, axis=-1, descending=False, stable=False, name=None, *, out=None):
    """`x` sorted along `axis`."""
    return finish(_C_ops.argsort(x, axis, descending, stable)[0], out)


def msort(input, *, out=None):
    """`input` sorted along its first axis."""
    return finish(_C_ops.argsort(input, 0, False, False)[0], out)


TopKRetType = namedtuple("TopKRetType", ["values", "indices"])


@accepts(x="input", axis="dim")
def topk(x, k, axis=None, largest=True, sorted=True, name=None, *, out=None):  # noqa: A002
    """The `k` largest (or smallest) elements along `axis` (the last by default), and their indices: a named tuple."""
    return finish(TopKRetType(*_C_ops.topk(x, k, -1 if axis is None else axis, largest, sorted)), out)


@accepts(x="input", axis="dim")
def kthvalue(x, k, axis=None, keepdim=False, name=None, *, out=None):
    """The `k`-th smallest element along `axis` (the last by default), and its index."""
    return finish(_C_ops.kthvalue(x, k, -1 if axis is None else axis, keepdim), out)


@accepts(values="input")
def searchsorted(sorted_sequence, values, out_int32=False, right=False, name=None, *, side=None, out=None, sorter=None):
    """Where to insert `values` along the last axis of `sorted_sequence` to keep it sorted."""
    if sorter is not None:
        sorted_sequence = _C_ops.take_along_axis(sorted_sequence, sorter, sorted_sequence.ndim - 1)
    if side is not None:
        right = side == "right"
    if not isinstance(values, Tensor):
        values = _C_ops.full([], values, sorted_sequence.dtype, None)
    if values.dtype != sorted_sequence.dtype:  # compared in the wider of both
        if is_inexact(values.dtype) and not is_inexact(sorted_sequence.dtype):
            sorted_sequence = _C_ops.cast(sorted_sequence, values.dtype)
        else:
            values = _C_ops.cast(values, sorted_sequence.dtype)
    return finish(_C_ops.searchsorted(sorted_sequence, values, out_int32, right), out)


@accepts(x="input", sorted_sequence="boundaries")
def bucketize(x, sorted_sequence, out_int32=False, right=False, name=None, *, out=None):
    """The index of the interval of `sorted_sequence` (a vector) that each element of `x` lies in."""
    if sorted_sequence.ndim != 1:
        raise ValueError(f"sorted_sequence tensor must be 1 dimension, but got dim {sorted_sequence.ndim}")
    return searchsorted(sorted_sequence, x, out_int32, right, out=out)


@accepts(x="input", axis="dim")
def unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, dtype="int64", sorted=True,  # noqa: A002
           name=None):  # fmt: skip
    """The different elements (or slices along `axis`) in order; on request the index of the first, the place of each
    element among them, and how often each occurs."""
    out = _C_ops.unique(x, return_index, return_inverse, return_counts, axes_list(axis), dtype, sorted)
    kept = [out[0]]
    kept += [v for v, wanted in zip(out[1:], (return_index, return_inverse, return_counts)) if wanted]
    return kept[0] if len(kept) == 1 else tuple(kept)


@accepts(x="input", axis="dim")
def unique_consecutive(x, return_inverse=False, return_counts=False, axis=None, dtype="int64", name=None):
    """`x` without elements (or slices along `axis`) that equal the one before."""
    axes = [] if axis is None else [axis_in(axis, x.ndim, "unique_consecutive")]
    out, inverse, counts = _C_ops.unique_consecutive(x, return_inverse, return_counts, axes, dtype)
    found = (out,) + (inverse,) * return_inverse + (counts,) * return_counts
    return found[0] if len(found) == 1 else found


def _restrict_nonzero(condition, total_true_num):
    """``nonzero`` of a vector of which the number of true elements is known."""
    found = _C_ops.nonzero(condition)
    return _C_ops.slice(found, [0], [0], [int(total_true_num)], [], [])


@accepts(x="elements", test_x="test_elements")
def isin(x, test_x, assume_unique=False, invert=False, name=None):
    """Which elements of `x` are among those of `test_x`."""
    x = x if isinstance(x, Tensor) else _core.to_tensor(x, None, None, True)
    test_x = test_x if isinstance(test_x, Tensor) else _core.to_tensor(np.asarray(test_x), None, None, True)
    flat = _C_ops.flatten(test_x, 0, -1) if test_x.ndim else _C_ops.reshape(test_x, [1])
    if flat.dtype != x.dtype:
        flat = _C_ops.cast(flat, x.dtype)
    if flat.shape[0] == 0:
        return _C_ops.full(x.shape, bool(invert), core.bool_, None)
    ordered = _C_ops.argsort(flat, -1, False, False)[0]
    at = _C_ops.searchsorted(ordered, x, False, False)
    at = _C_ops.clip(at, 0, flat.shape[0] - 1)
    found = _C_ops.reshape(_C_ops.index_select(ordered, _C_ops.reshape(at, [-1]), 0), x.shape) == x
    return _C_ops.logical_not(found) if invert else found
