"""Sparse tensors from coordinates and values."""

from __future__ import annotations

import paddle

from .tensor import SparseCooTensor, SparseCsrTensor

__all__ = []


def _index(x):
    x = x if isinstance(x, paddle.Tensor) else paddle.to_tensor(x)
    return x if x.dtype == paddle.int64 else x.astype("int64")


def _values(values, dtype, place, stop_gradient):
    if isinstance(values, paddle.Tensor):
        made = values if dtype is None else values.astype(dtype)
        made = made if made.stop_gradient == stop_gradient else made.detach()
    else:
        made = paddle.to_tensor(values, dtype=dtype, place=place)
    made.stop_gradient = stop_gradient
    return made


def sparse_coo_tensor(indices, values, shape=None, dtype=None, place=None, stop_gradient=True):
    """A sparse tensor by coordinates.

    Args:
        indices (array-like | Tensor): integers [sparse_dim, nnz].
        values (array-like | Tensor): [nnz] or, with dense axes behind the sparse ones, [nnz, ...].
        shape (sequence of int, optional): of the whole; as small as the coordinates allow when None.
        dtype (optional): of the values.
        place (optional): where they lie.
        stop_gradient (bool): no gradient flows to the values.

    Raises:
        ValueError: ranks or lengths don't fit, or a coordinate is outside of the shape.
    """
    indices, values = _index(indices), _values(values, dtype, place, stop_gradient)
    if indices.ndim != 2:
        raise ValueError(f"'indices' must be 2-D, got shape {indices.shape}")
    dims, nnz = indices.shape
    if values.ndim == 0 or values.shape[0] != nnz:
        raise ValueError(f"the indices and values must have same number of non-zero, but get {nnz} and {values.shape}")
    least = [int(n) + 1 for n in paddle.max(indices, axis=1)] if nnz else [0] * dims
    if shape is None:
        shape = least + values.shape[1:]
    shape = [int(n) for n in (shape.tolist() if isinstance(shape, paddle.Tensor) else shape)]
    if len(shape) != dims + values.ndim - 1:
        raise ValueError(f"[sparse_coo_tensor] expected a shape of {dims + values.ndim - 1} sizes, got {shape}")
    if any(n < m for n, m in zip(shape, least)):
        raise ValueError(f"the minimum shape required is {least}, but get {shape[:dims]}")
    if nnz and int(paddle.min(indices)) < 0:
        raise ValueError("[sparse_coo_tensor] expected coordinates of at least 0")
    return SparseCooTensor.make(indices, values, shape)


def sparse_csr_tensor(crows, cols, values, shape, dtype=None, place=None, stop_gradient=True):
    """A sparse matrix, or batch of matrices, in compressed rows.

    Args:
        crows (array-like | Tensor): where each row begins, and the last ends: [rows + 1], for a batch one after another.
        cols (array-like | Tensor): the column of each value, [nnz].
        values (array-like | Tensor): [nnz].
        shape (sequence of int): [rows, columns] or [batch, rows, columns].
        dtype, place, stop_gradient: as in `sparse_coo_tensor`.

    Raises:
        ValueError: ranks or lengths don't fit, or a column is outside of the shape.
    """
    crows, cols, values = _index(crows), _index(cols), _values(values, dtype, place, stop_gradient)
    shape = [int(n) for n in shape]
    if len(shape) not in (2, 3):
        raise ValueError(f"SparseCsrTensor only support 2-D or 3-D matrix, but get shape {shape}")
    if crows.ndim != 1 or cols.ndim != 1 or values.ndim != 1 or cols.shape != values.shape:
        raise ValueError(
            f"[sparse_csr_tensor] expected vectors, cols and values alike, got {crows.shape}, {cols.shape}, {values.shape}"
        )
    lines = (shape[0] if len(shape) == 3 else 1) * (shape[-2] + 1)
    if crows.shape[0] != lines:
        raise ValueError(
            f"[sparse_csr_tensor] expected crows of {lines} elements for shape {shape}, got {crows.shape[0]}"
        )
    if cols.shape[0] and not 0 <= int(paddle.min(cols)) <= int(paddle.max(cols)) < shape[-1]:
        raise ValueError(f"[sparse_csr_tensor] expected columns in [0, {shape[-1]})")
    return SparseCsrTensor.make(crows, cols, values, shape)
