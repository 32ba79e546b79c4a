"""Sums and products of sparse tensors with each other and with dense ones."""

from __future__ import annotations

import math

import paddle

from .tensor import SparseCooTensor, SparseTensor, dense_to_coo, expect_sparse, flat_index, like, unflatten

__all__ = []


def is_same_shape(x, y):
    """Are the shapes of two tensors, dense or sparse, the same?"""
    return list(x.shape) == list(y.shape)


def _check_shapes(op, x, y):
    if not is_same_shape(x, y):
        raise ValueError(f"[sparse.{op}] expected tensors of one shape, got {x.shape} and {y.shape}")


def _on_union(op, x, y, function):
    """function(values of x, values of y) at the coordinates of either, 0 where one has none."""
    expect_sparse(op, x)
    expect_sparse(op, y)
    _check_shapes(op, x, y)
    if x.is_sparse_csr() != y.is_sparse_csr():
        raise ValueError(
            f"[sparse.{op}] expected two tensors of one format, got {type(x).__name__}, {type(y).__name__}"
        )
    a, b = x.to_sparse_coo().coalesce(), y.to_sparse_coo().coalesce()
    if a.sparse_dim() != b.sparse_dim():
        raise ValueError(
            f"[sparse.{op}] expected as many sparse axes in both, got {a.sparse_dim()} and {b.sparse_dim()}"
        )
    dtype = paddle.promote_types(a.dtype, b.dtype) if a.dtype != b.dtype else a.dtype
    sizes = a.shape[: a.sparse_dim()]
    places, where = paddle.unique(
        paddle.concat([flat_index(a.indices(), sizes), flat_index(b.indices(), sizes)]), return_inverse=True
    )
    n = places.shape[0]

    def spread(t, at):
        return paddle.index_add(paddle.zeros([n, *t.values().shape[1:]], dtype), at, 0, t.values().astype(dtype))

    values = function(spread(a, where[: a.nnz()]), spread(b, where[a.nnz() :]))
    return like(x, SparseCooTensor.make(unflatten(places, sizes), values, x.shape, True))


def add(x, y, name=None):
    """x + y of two sparse tensors of one shape and format; with a dense `y` the result is dense.

    Raises:
        ValueError: shapes or formats differ. TypeError: x is dense.
    """
    if isinstance(x, SparseTensor) and not isinstance(y, SparseTensor):
        _check_shapes("add", x, y)
        return x.to_dense() + y
    return _on_union("add", x, y, lambda a, b: a + b)


def subtract(x, y, name=None):
    """x - y, as `add`."""
    if isinstance(x, SparseTensor) and not isinstance(y, SparseTensor):
        _check_shapes("subtract", x, y)
        return x.to_dense() - y
    return _on_union("subtract", x, y, lambda a, b: a - b)


def multiply(x, y, name=None):
    """x * y elementwise of two sparse tensors of one shape and format, or of a sparse one and a number."""
    if isinstance(x, SparseTensor) and isinstance(y, (int, float)):
        return x.with_values(x.values() * y)
    return _on_union("multiply", x, y, lambda a, b: a * b)


def divide(x, y, name=None):
    """x / y elementwise of two sparse tensors of one shape and format, or of a sparse one and a number. Quotients of two
    tensors have all coordinates, since 0 / 0 isn't 0."""
    if isinstance(x, SparseTensor) and isinstance(y, (int, float)):
        return x.with_values(x.values() / y)
    union = _on_union("divide", x, y, lambda a, b: a)  # the checks, and the common dtype
    n = union.to_sparse_coo().sparse_dim()
    quotient = x.to_dense().astype(union.dtype) / y.to_dense().astype(union.dtype)
    places = paddle.arange(math.prod(x.shape[:n]), dtype="int64")
    values = quotient.reshape([-1, *x.shape[n:]])
    return like(x, SparseCooTensor.make(unflatten(places, x.shape[:n]), values, x.shape, True))


def _times_dense(op, x, y):
    """A sparse matrix, or batch of them, times dense ones."""
    coo = x.to_sparse_coo()
    if coo.dense_dim() or x.ndim not in (2, 3) or y.ndim != x.ndim or x.shape[-1] != y.shape[-2]:
        raise ValueError(f"[sparse.{op}] expected matrices (or batches) that fit, got {x.shape} and {y.shape}")
    if x.ndim == 3 and x.shape[0] != y.shape[0]:
        raise ValueError(f"[sparse.{op}] expected batches of one size, got {x.shape[0]} and {y.shape[0]}")
    rows, cols = coo.indices()[-2], coo.indices()[-1]
    if x.ndim == 3:
        rows, cols = rows + coo.indices()[0] * x.shape[1], cols + coo.indices()[0] * x.shape[2]
        y = y.reshape([-1, y.shape[-1]])
    parts = coo.values().unsqueeze(-1) * paddle.index_select(y, cols, axis=0)
    lines = x.shape[-2] * (x.shape[0] if x.ndim == 3 else 1)
    out = paddle.index_add(paddle.zeros([lines, y.shape[-1]], parts.dtype), rows, 0, parts)
    return out.reshape([*x.shape[:-1], y.shape[-1]])


def matmul(x, y, name=None):
    """The product of a sparse matrix (or batch [B, M, K]) with a dense one, which is dense, or with a sparse one, which is
    sparse.

    Raises:
        ValueError: the shapes don't fit. TypeError: x is dense.
    """
    expect_sparse("matmul", x)
    if not isinstance(y, SparseTensor):
        return _times_dense("matmul", x, y)
    return like(x, dense_to_coo(_times_dense("matmul", x, y.to_dense()), x.ndim))


def mv(x, vec, name=None):
    """A sparse matrix times a dense vector; a dense vector.

    Raises:
        ValueError: the shapes don't fit. TypeError: x is dense.
    """
    expect_sparse("mv", x)
    if x.ndim != 2 or vec.ndim != 1:
        raise ValueError(f"[sparse.mv] expected a matrix and a vector, got {x.shape} and {vec.shape}")
    return _times_dense("mv", x, vec.unsqueeze(-1)).squeeze(-1)


def masked_matmul(x, y, mask, name=None):
    """Those elements of the product of two dense matrices (or batches) where `mask` has elements.

    Args:
        x, y (Tensor): dense [..., M, K] and [..., K, N].
        mask (SparseTensor): [..., M, N]; its values don't matter.

    Returns:
        a sparse tensor with the format and coordinates of `mask`.

    Raises:
        ValueError: the shapes don't fit. TypeError: mask is dense.
    """
    coo = expect_sparse("masked_matmul", mask).to_sparse_coo()
    fits = x.ndim == y.ndim == mask.ndim and x.shape[-1] == y.shape[-2]
    if not fits or mask.shape != [*x.shape[:-1], y.shape[-1]]:
        raise ValueError(
            f"[sparse.masked_matmul] expected x, y and mask that fit, got {x.shape}, {y.shape} and {mask.shape}"
        )
    lead, rows, cols = coo.indices()[:-2], coo.indices()[-2:-1], coo.indices()[-1:]
    left = paddle.gather_nd(x, paddle.concat([lead, rows]).transpose([1, 0]))
    swapped = paddle.transpose(y, [*range(y.ndim - 2), y.ndim - 1, y.ndim - 2])
    right = paddle.gather_nd(swapped, paddle.concat([lead, cols]).transpose([1, 0]))
    return mask.with_values(paddle.sum(left * right, axis=-1))


def addmm(input, x, y, beta=1.0, alpha=1.0, name=None):
    """beta * input + alpha * x y for a sparse x; sparse where all three are."""
    product = matmul(x, y)
    if isinstance(product, SparseTensor):
        return add(multiply(expect_sparse("addmm", input), float(beta)), multiply(product, float(alpha)))
    dense = input.to_dense() if isinstance(input, SparseTensor) else input
    return dense * beta + product * alpha


def mask_as(x, mask, name=None):
    """The elements of a dense tensor at the coordinates of a sparse one of the same shape."""
    coo = expect_sparse("mask_as", mask).to_sparse_coo()
    _check_shapes("mask_as", x, mask)
    return mask.with_values(paddle.gather_nd(x, coo.indices().transpose([1, 0])))
