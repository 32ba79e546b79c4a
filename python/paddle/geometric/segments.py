"""Reductions of the rows of a tensor that belong to one segment. All are compositions, with gradients."""

from __future__ import annotations

import paddle

from ..tensor._common import size_of

__all__ = []


def reduced_rows(rows, ids, count, kind):
    """Row i of the result: the `kind` ("sum", "mean", "max", "min") of the rows whose id is i; zeros where none is."""
    tail = list(rows.shape[1:])
    ids = ids.astype("int64")
    zeros = paddle.zeros([count, *tail], rows.dtype)
    if count == 0 or rows.shape[0] == 0:
        return zeros
    if kind in ("sum", "mean"):
        total = paddle.index_add(zeros, ids, 0, rows)
        if kind == "sum":
            return total
        amount = paddle.index_add(paddle.zeros([count], rows.dtype), ids, 0, paddle.ones([rows.shape[0]], rows.dtype))
        return total / amount.clip(min=1).reshape([-1] + [1] * len(tail))
    # The extreme of each segment, by sorting nothing: the value is picked through where it stands.
    index = ids.reshape([-1] + [1] * len(tail)).expand(rows.shape)
    reduce = "amax" if kind == "max" else "amin"
    found = paddle.put_along_axis(zeros, index, rows.detach(), 0, reduce=reduce, include_self=False)
    if rows.stop_gradient:
        return found
    # Each of several equal extremes gets the whole gradient: 0 is added, with a slope of 1 where they stand.
    beyond = rows - paddle.gather(found, ids)
    return found + paddle.index_add(zeros, ids, 0, paddle.where(beyond == 0, beyond, paddle.zeros_like(beyond)))


def _segments(kind):
    def form(data, segment_ids, name=None):
        count = size_of(segment_ids.max() + 1) if segment_ids.shape[0] else 0
        return reduced_rows(data, segment_ids, count, kind)

    form.__name__ = form.__qualname__ = f"segment_{kind}"
    form.__doc__ = f"""The {kind} of the rows of each segment; zeros for a segment without rows.

    Args:
        data (Tensor): [n, ...].
        segment_ids (Tensor): [n], int32 or int64, in ascending order.

    Returns:
        Tensor [number of segments, ...].
    """
    return form


segment_sum, segment_mean = _segments("sum"), _segments("mean")
segment_max, segment_min = _segments("max"), _segments("min")
