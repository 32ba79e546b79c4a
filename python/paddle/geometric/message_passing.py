"""Messages from nodes along edges."""

from __future__ import annotations

import paddle

from ..tensor._common import size_of
from .segments import reduced_rows

__all__ = []

_MESSAGES = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
}  # fmt: skip


def _check(op, reduce_op=None, message_op=None):
    if reduce_op is not None and reduce_op not in ("sum", "mean", "max", "min"):
        raise ValueError(f"reduce_op should be `sum`, `mean`, `max` or `min`, but received {reduce_op}")
    if message_op is not None and message_op not in _MESSAGES:
        raise ValueError(f"message_op should be `add`, `sub`, `mul`, `div`, but received {message_op}")


def _count(out_size, x):
    if out_size is None:
        return x.shape[0]
    size = size_of(out_size)
    return size if size > 0 else x.shape[0]


def _combined(x, y, message_op):
    """Messages of node rows `x` and edge rows `y`; the smaller rank gets axes before its last ones."""
    while len(y.shape) < len(x.shape):
        y = y.unsqueeze(1 if len(y.shape) > 1 else -1)
    while len(x.shape) < len(y.shape):
        x = x.unsqueeze(1 if len(x.shape) > 1 else -1)
    return _MESSAGES[message_op](x, y)


def send_u_recv(x, src_index, dst_index, reduce_op="sum", out_size=None, name=None):
    """Every node gets the reduction of what its predecessors have.

    Args:
        x (Tensor): [nodes, ...].
        src_index, dst_index (Tensor): [edges], int32 or int64.
        reduce_op (str): "sum", "mean", "max" or "min".
        out_size (int | Tensor, optional): rows of the result; those of `x` by default.

    Raises:
        ValueError: another `reduce_op`.
    """
    _check("send_u_recv", reduce_op)
    return reduced_rows(paddle.gather(x, src_index, axis=0), dst_index, _count(out_size, x), reduce_op)


def send_ue_recv(x, y, src_index, dst_index, message_op="add", reduce_op="sum", out_size=None, name=None):
    """Every node gets the reduction of `message_op`(what its predecessors have, what the edges `y` have).

    Args:
        y (Tensor): [edges, ...], broadcast against the rows of `x`.
        message_op (str): "add", "sub", "mul" or "div".

    The others are as in ``send_u_recv``.
    """
    _check("send_ue_recv", reduce_op, message_op)
    messages = _combined(paddle.gather(x, src_index, axis=0), y, message_op)
    return reduced_rows(messages, dst_index, _count(out_size, x), reduce_op)


def send_uv(x, y, src_index, dst_index, message_op="add", name=None):
    """For every edge `message_op`(`x` of its source, `y` of its target): [edges, ...]."""
    _check("send_uv", None, message_op)
    return _combined(paddle.gather(x, src_index, axis=0), paddle.gather(y, dst_index, axis=0), message_op)
