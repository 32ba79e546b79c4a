"""Activations of the stored elements, and softmax along rows."""

from __future__ import annotations

import paddle
from paddle.nn import functional as F

from ...binary import masked_matmul, matmul
from ...tensor import SparseCsrTensor, expect_sparse, like

__all__ = []


def relu(x, name=None):
    """max(x, 0) of the stored elements."""
    return expect_sparse("relu", x).with_values(F.relu(x.values()))


def relu6(x, name=None):
    """min(max(x, 0), 6) of the stored elements."""
    return expect_sparse("relu6", x).with_values(F.relu6(x.values()))


def leaky_relu(x, negative_slope=0.01, name=None):
    """x where it is positive, else `negative_slope` * x, of the stored elements."""
    return expect_sparse("leaky_relu", x).with_values(F.leaky_relu(x.values(), negative_slope))


def _softmax_of_lines(values, line, count):
    """exp(v) / sum of exp over the elements with the same number in `line`, which are in order."""
    low = paddle.full([count], float("-inf"), values.dtype)
    most = paddle.put_along_axis(low, line, values.detach(), 0, reduce="amax")
    e = paddle.exp(values - paddle.index_select(most, line, axis=0))
    total = paddle.index_add(paddle.zeros([count], values.dtype), line, 0, e)
    return e / paddle.index_select(total, line, axis=0)


def softmax(x, axis=-1, name=None):
    """Softmax over the stored elements of each row of a sparse matrix, or of a batch of matrices.

    Raises:
        ValueError: `axis` is not the last one. TypeError: x is dense.
    """
    coo = expect_sparse("softmax", x).to_sparse_coo().coalesce()
    if axis not in (-1, x.ndim - 1):
        raise ValueError("SparseCooTensor and SparseCsrTensor only support axis=-1 for softmax")
    if coo.dense_dim():
        raise ValueError("[sparse.softmax] expected a tensor without dense axes")
    line, count = paddle.zeros([coo.nnz()], "int64"), 1
    for row, size in zip(coo.indices()[:-1], coo.shape[:-1]):
        line, count = line * size + row, count * size
    return like(x, coo.with_values(_softmax_of_lines(coo.values(), line, count)))


def attention(query, key, value, sparse_mask, key_padding_mask=None, attn_mask=None, name=None):
    """softmax(query key^T / sqrt(d) + masks) value, where only the elements of a layout are computed.

    Args:
        query, key, value (Tensor): dense [B, heads, L, d].
        sparse_mask (SparseCsrTensor): [B * heads, L, L]; its coordinates are the layout.
        key_padding_mask (Tensor, optional): [B, L], added.
        attn_mask (Tensor, optional): [L, L], added.

    Returns:
        Tensor [B, heads, L, d].
    """
    b, heads, n, d = query.shape
    q, k, v = (t.reshape([b * heads, n, d]) for t in (query, key, value))
    if not isinstance(sparse_mask, SparseCsrTensor) or sparse_mask.shape != [b * heads, n, n]:
        raise ValueError(f"[sparse.attention] expected sparse_mask in CSR of shape {[b * heads, n, n]}")
    scores = masked_matmul(q * d**-0.5, paddle.transpose(k, [0, 2, 1]), sparse_mask)
    where = scores.to_sparse_coo().indices()
    values = scores.values()
    if key_padding_mask is not None:
        values = values + paddle.gather_nd(key_padding_mask, paddle.stack([where[0] // heads, where[2]], axis=1))
    if attn_mask is not None:
        values = values + paddle.gather_nd(attn_mask, where[1:].transpose([1, 0]))
    out = matmul(softmax(scores.with_values(values)), v)
    return out.reshape([b, heads, n, d])
