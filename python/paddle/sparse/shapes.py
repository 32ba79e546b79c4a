"""Axes of sparse tensors: order, sizes, sums."""

from __future__ import annotations

import math

import paddle

from .tensor import SparseCooTensor, expect_sparse, flat_index, like, unflatten

__all__ = []


def coalesce(x, name=None):
    """A tensor by coordinates with every coordinate once, in order; values of equal ones are added up."""
    if not expect_sparse("coalesce", x).is_sparse_coo():
        raise ValueError("[sparse.coalesce] expected a tensor by coordinates (COO)")
    return x.coalesce()


def transpose(x, perm, name=None):
    """The axes in the order `perm`.

    Raises:
        ValueError: `perm` is no permutation, or moves an axis across the border between sparse and dense ones.
    """
    coo = expect_sparse("transpose", x).to_sparse_coo()
    perm = [p % x.ndim for p in perm]
    n = coo.sparse_dim()
    if sorted(perm) != list(range(x.ndim)) or any((p < n) != (i < n) for i, p in enumerate(perm)):
        raise ValueError(f"[sparse.transpose] expected a permutation of the {n} sparse axes, got {perm}")
    indices = paddle.index_select(coo.indices(), paddle.to_tensor(perm[:n]), axis=0)
    values = coo.values()
    if n < x.ndim:
        values = paddle.transpose(values, [0, *(p - n + 1 for p in perm[n:])])
    moved = SparseCooTensor.make(indices, values, [x.shape[p] for p in perm])
    return like(x, moved)


def reshape(x, shape, name=None):
    """Other sizes of the sparse axes; one may be -1, a 0 stands for the size that was there."""
    coo = expect_sparse("reshape", x).to_sparse_coo()
    if coo.dense_dim():
        raise ValueError("[sparse.reshape] expected a tensor without dense axes")
    shape = [x.shape[i] if n == 0 else int(n) for i, n in enumerate(shape)]
    if -1 in shape:
        rest = math.prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = x.size // rest if rest else 0
    if math.prod(shape) != x.size:
        raise ValueError(f"[sparse.reshape] expected {x.size} elements, got shape {shape}")
    places = flat_index(coo.indices(), x.shape)
    return like(x, SparseCooTensor.make(unflatten(places, shape), coo.values(), shape, coo.is_coalesced()))


def slice(x, axes, starts, ends, name=None):
    """x[start:end] along the sparse axes `axes`."""
    coo = expect_sparse("slice", x).to_sparse_coo()
    axes, starts, ends = ([int(v) for v in t] for t in (axes, starts, ends))
    keep = paddle.ones([coo.nnz()], "bool")
    shift, shape = [0] * coo.sparse_dim(), coo.shape
    for axis, start, end in zip(axes, starts, ends):
        axis %= x.ndim
        if axis >= coo.sparse_dim():
            raise ValueError(f"[sparse.slice] expected sparse axes, got {axis}")
        n = coo.shape[axis]
        start, end = (min(max(v + n if v < 0 else v, 0), n) for v in (start, end))
        row = coo.indices()[axis]
        keep = paddle.logical_and(keep, paddle.logical_and(row >= start, row < end))
        shift[axis], shape[axis] = start, max(end - start, 0)
    at = paddle.nonzero(keep).reshape([-1])
    indices = paddle.index_select(coo.indices(), at, axis=1) - paddle.to_tensor(shift, dtype="int64").unsqueeze(1)
    values = paddle.index_select(coo.values(), at, axis=0)
    return like(x, SparseCooTensor.make(indices, values, shape, coo.is_coalesced()))


def sum(x, axis=None, dtype=None, keepdim=False, name=None):
    """The sum over axes (all when None), as a sparse tensor; in compressed rows the summed axes stay as 1.

    Args:
        x (SparseTensor): of either format.
        axis (int | list, optional): the axes.
        dtype (optional): of the result.
        keepdim (bool): whether the summed axes stay as 1.

    Raises:
        TypeError: x is dense.
    """
    coo = expect_sparse("sum", x).to_sparse_coo()
    keepdim = keepdim or x.is_sparse_csr()
    n, values = coo.sparse_dim(), coo.values() if dtype is None else coo.values().astype(dtype)
    gone = {a % x.ndim for a in (range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis)}
    if any(a >= n for a in gone):  # the stored values' own axes
        values = paddle.sum(values, axis=[a - n + 1 for a in sorted(gone) if a >= n], keepdim=keepdim)
    kept = [i for i in range(x.ndim) if keepdim or i not in gone]
    rows = [coo.indices()[i] if i not in gone else paddle.zeros([coo.nnz()], "int64") for i in kept if i < n]
    shape = [1 if i in gone else x.shape[i] for i in kept]
    if not rows:  # of the sparse axes one is left, so that there is a coordinate: 0
        rows, shape = [paddle.zeros([coo.nnz()], "int64")], [1, *shape]
    return like(x, SparseCooTensor.make(paddle.stack(rows), values, shape).coalesce())


def pca_lowrank(x, q=None, center=True, niter=2, name=None):
    """The leading `q` principal components of a sparse matrix: U, S, V, as ``paddle.linalg.pca_lowrank``."""
    return paddle.linalg.pca_lowrank(expect_sparse("pca_lowrank", x).to_dense(), q, center, niter)
