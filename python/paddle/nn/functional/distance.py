"""Distances."""

from __future__ import annotations

import paddle

from .._alias import accepts

__all__ = []


@accepts(x="x1", y="x2", epsilon="eps")
def pairwise_distance(x, y, p=2.0, epsilon=1e-6, keepdim=False, name=None):
    """The `p`-norm of x - y + `epsilon` over the last dimension.

    Args:
        x, y (Tensor): [N, D] or [D], broadcast.
        p (float): which norm; may be infinite.
        keepdim (bool): keep the last dimension as size one.
    """
    return paddle.norm(x - y + epsilon, p=float(p), axis=-1, keepdim=keepdim)


def pdist(x, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary", name=None):
    """The `p`-norm distances of all pairs of rows i < j of `x` ([N, M]), as a vector of N * (N - 1) / 2."""
    if len(x.shape) != 2:
        raise ValueError("The x must be 2-dimensional")
    rows = x.shape[0]
    left = [i for i in range(rows) for _ in range(i + 1, rows)]
    right = [j for i in range(rows) for j in range(i + 1, rows)]
    if not left:
        return paddle.zeros([0], x.dtype)
    a = paddle.index_select(x, paddle.to_tensor(left, dtype="int64"), axis=0)
    b = paddle.index_select(x, paddle.to_tensor(right, dtype="int64"), axis=0)
    return paddle.norm(a - b, p=float(p), axis=-1)
