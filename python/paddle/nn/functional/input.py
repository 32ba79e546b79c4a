"""Integers to vectors."""

from __future__ import annotations

import paddle
from paddle import _C_ops

from .._alias import accepts

__all__ = []


@accepts(x="input")
def one_hot(x, num_classes=-1, name=None):
    """[..., `num_classes`] with a one at each index.

    Args:
        x (Tensor): int32 or int64 in [0, num_classes).
        num_classes (int | Tensor): -1 takes the largest index plus one.

    Returns:
        Tensor of the default floating-point dtype.

    Raises:
        ValueError: `num_classes` is neither -1 nor positive.
    """
    if isinstance(num_classes, paddle.Tensor):
        num_classes = num_classes.item()
    if not isinstance(num_classes, int):
        raise TypeError(f"[one_hot] num_classes must be an int, got {type(num_classes).__name__}")
    if num_classes == -1:
        num_classes = int(paddle.max(x)) + 1
    elif num_classes <= 0:
        raise ValueError(f"num_classes must be -1 or > 0, but got {num_classes}")
    return _C_ops.one_hot(x, num_classes)


@accepts(x="input")
def embedding(
    x, weight, padding_idx=None, max_norm=None, norm_type=2.0, sparse=False, scale_grad_by_freq=False, name=None
):
    """Rows of `weight` by index.

    Args:
        x (Tensor): integers in [0, V), any shape.
        weight (Tensor): [V, D].
        padding_idx (int, optional): in [-V, V); the result there is zero and its row gets no gradient.
        max_norm (float, optional): rows that are used and longer are first shortened to it, in place.
        norm_type (float): the p of that norm.
        sparse (bool): the gradient of `weight` as rows.
        scale_grad_by_freq (bool): divide a row's gradient by how often it occurs.

    Returns:
        Tensor [*x.shape, D].

    Raises:
        ValueError: `padding_idx` is out of range, or a sparse gradient is to be scaled.
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise ValueError(f"padding_idx must be within [-{rows}, {rows})")
        padding_idx = padding_idx if padding_idx >= 0 else rows + padding_idx
    if max_norm is not None:
        weight = embedding_renorm_(x, weight, max_norm, norm_type)
    if scale_grad_by_freq:
        if sparse:
            raise AttributeError("Attr(scale_grad_by_freq = True) is only supported when sparse is False")
        weight = _scaled_by_frequency(x, weight)
    return _C_ops.embedding(x, weight, padding_idx, sparse)


def _scaled_by_frequency(x, weight):
    """`weight` itself; its gradient arrives divided by how often each row occurs in `x`."""
    count = paddle.bincount(x.flatten(), minlength=weight.shape[0]).astype(weight.dtype)
    share = (1.0 / paddle.clip(count, min=1.0)).unsqueeze(-1)
    scaled = weight * share
    return scaled + (weight - scaled).detach()


def embedding_renorm_(x, weight, max_norm, norm_type=2.0):
    """Shortens the rows of `weight` that `x` uses to a `norm_type`-norm of at most `max_norm`, in place."""
    with paddle.no_grad():
        used = paddle.unique(x.flatten())
        rows = paddle.index_select(weight, used, axis=0)
        length = paddle.norm(rows, p=norm_type, axis=1, keepdim=True)
        factor = paddle.where(length > max_norm, max_norm / (length + 1e-7), paddle.ones_like(length))
        weight.set_value(paddle.scatter(weight.detach(), used, rows * factor))
    return weight
