"""Collectives with gradients, for activations that are alike or cut over a group of ranks.

They come in pairs, each the gradient of the other: what is copied forward is summed backward, what is cut is joined.
"""

from __future__ import annotations

import paddle
from paddle import _C_ops
from paddle.autograd import PyLayer

from ....communication.group import default_group
from ....communication.ops import ReduceOp

_SUM = ReduceOp.SUM


def _member(group):
    """The group, or None where this rank has nothing to talk about."""
    group = default_group() if group is None else group
    return group if group.rank >= 0 and group.nranks > 1 else None


def _sum(x, group):
    return _C_ops.all_reduce(x, group.id, _SUM)


def _join(x, group, axis):
    return _C_ops.all_gather(x, group.id, group.nranks, axis)


def _part(x, group, axis):
    size = x.shape[axis]
    if size % group.nranks:
        raise ValueError(f"[split] expected a size of axis {axis} that {group.nranks} ranks share equally, got {size}")
    n = size // group.nranks
    return paddle.slice(x, [axis], [group.rank * n], [(group.rank + 1) * n])


class _Copy(PyLayer):
    """x; backward sums the ranks' gradients."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return paddle.assign(x)

    @staticmethod
    def backward(ctx, grad):
        return _sum(grad, ctx.group)


class _Sum(PyLayer):
    """The sum of the ranks' x; backward passes on the gradient, which is the same on all ranks."""

    @staticmethod
    def forward(ctx, x, group):
        return _sum(x, group)

    @staticmethod
    def backward(ctx, grad):
        return paddle.assign(grad)


class _Join(PyLayer):
    """The ranks' x joined along an axis; backward takes this rank's part of the gradient, which is the same on all ranks."""

    @staticmethod
    def forward(ctx, x, group, axis):
        ctx.group, ctx.axis = group, axis
        return _join(x, group, axis)

    @staticmethod
    def backward(ctx, grad):
        return _part(grad, ctx.group, ctx.axis)


class _Cut(PyLayer):
    """This rank's part of x along an axis; backward joins the ranks' gradients."""

    @staticmethod
    def forward(ctx, x, group, axis):
        ctx.group, ctx.axis = group, axis
        return _part(x, group, axis)

    @staticmethod
    def backward(ctx, grad):
        return _join(grad, ctx.group, ctx.axis)


def _c_identity(tensor, group=None, skip_c_identity_dynamic=False):
    """``tensor``, alike on all ranks of the group, on its way into parts that each rank computes; its gradient is their sum."""
    group = _member(group)
    return tensor if group is None or skip_c_identity_dynamic else _Copy.apply(tensor, group)


def _mp_allreduce(
    tensor, op=_SUM, group=None, use_calc_stream=True, use_model_parallel=True, skip_c_identity_dynamic=False
):
    """The sum of the ranks' partial results; the gradient passes as it is."""
    group = _member(group)
    if op != _SUM:
        raise NotImplementedError(f"[_mp_allreduce] expected ReduceOp.SUM, got {op}")
    return tensor if group is None else _Sum.apply(tensor, group)


def _c_concat(tensor, group=None):
    """The ranks' parts joined along the last axis."""
    group = _member(group)
    return tensor if group is None else _Join.apply(tensor, group, tensor.ndim - 1)


def _c_split(tensor, group=None):
    """This rank's part along the last axis of a tensor that is alike on all ranks."""
    group = _member(group)
    return tensor if group is None else _Cut.apply(tensor, group, tensor.ndim - 1)


def _c_lookup_table(table, index, start_index=0, vocab_size=-1, name=None):
    """Rows of the part of a table that begins at row ``start_index``; zeros for indices outside it."""
    rows = table.shape[0]
    local = index - start_index
    inside = paddle.logical_and(local >= 0, local < rows)
    found = paddle.nn.functional.embedding(paddle.where(inside, local, paddle.zeros_like(local)), table)
    return found * inside.astype(found.dtype).unsqueeze(-1)


def _c_softmax_with_cross_entropy(logits, label, group=None, return_softmax=False, ignore_index=-100):
    """Softmax cross entropy of logits whose classes (last axis) are cut over the group.

    Args:
        logits: [..., classes / ranks]. label: [..., 1] or [...], integers. Returns the loss [..., 1], and the softmax of this
        rank's classes if asked for.
    """
    if label.ndim == logits.ndim - 1:
        label = label.unsqueeze(-1)
    if label.ndim != logits.ndim or label.shape[-1] != 1:
        raise ValueError(
            f"[ParallelCrossEntropy] expected a label of shape {[*logits.shape[:-1], 1]}, got {label.shape}"
        )
    group = _member(group)
    n = logits.shape[-1]
    start = 0 if group is None else group.rank * n
    top = logits.detach().max(-1, keepdim=True)
    if group is not None:
        top = _C_ops.all_reduce(top, group.id, ReduceOp.MAX)
    shifted = logits - top
    exp = shifted.exp()
    total = _mp_allreduce(exp.sum(-1, keepdim=True), group=group) if group else exp.sum(-1, keepdim=True)
    local = label - start
    inside = paddle.logical_and(local >= 0, local < n)
    at = paddle.where(inside, local, paddle.zeros_like(local))
    own = paddle.take_along_axis(shifted, at, -1) * inside.astype(shifted.dtype)
    loss = total.log() - (_mp_allreduce(own, group=group) if group else own)
    loss = paddle.where(label == ignore_index, paddle.zeros_like(loss), loss)
    return (loss, exp / total) if return_softmax else loss


def _linear(x, weight, bias=None, name=None):
    return paddle.nn.functional.linear(x, weight, bias)


def split(x, size, operation, axis=0, num_partitions=1, gather_out=True, weight_attr=None, bias_attr=None, name=None):
    """A linear layer or an embedding whose weight is cut over ``num_partitions`` ranks, applied to ``x``; its parameters are new.

    Args:
        size: (rows, columns) of the whole weight. operation: "linear" or "embedding".
        axis: of the weight, along which it is cut; an embedding's is 0.
        gather_out: False leaves a linear layer's output cut (axis 1) or its sum not taken (axis 0).

    Raises:
        ValueError: an operation, axis or size that does not fit.
    """
    from .mp_layers import ColumnParallelLinear, RowParallelLinear, VocabParallelEmbedding

    if not isinstance(size, (list, tuple)) or len(size) != 2:
        raise ValueError(f"[split] expected size to be a pair, got {size}")
    if operation not in ("linear", "embedding"):
        raise ValueError(f"[split] expected operation to be 'linear' or 'embedding', got {operation!r}")
    if axis not in (0, 1) or (operation == "embedding" and axis != 0):
        raise ValueError(f"[split] expected an axis of the weight that {operation} can be cut along, got {axis}")
    group = default_group()
    if num_partitions != group.nranks:
        raise ValueError(
            f"[split] expected num_partitions to be the number of ranks, {group.nranks}, got {num_partitions}"
        )
    if operation == "embedding":
        return VocabParallelEmbedding(*size, weight_attr=weight_attr, mp_group=group)(x)
    has_bias = bias_attr is not False
    if axis == 1:
        return ColumnParallelLinear(*size, weight_attr, has_bias, gather_out, mp_group=group)(x)
    layer = RowParallelLinear(*size, weight_attr, has_bias, input_is_parallel=True, mp_group=group)
    if gather_out:
        return layer(_c_split(x, group) if x.shape[-1] == size[0] else x)
    return _linear(x, layer.weight, layer.bias)
