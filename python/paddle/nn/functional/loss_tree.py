"""Softmax over many classes, by trees and clusters."""

from __future__ import annotations

import paddle

from ._args import names_errors
from .activation import log_softmax
from .common import linear

__all__ = []


@names_errors
def hsigmoid_loss(
    input, label, num_classes, weight, bias=None, path_table=None, path_code=None, is_sparse=False, name=None
):
    """Hierarchical sigmoid: a binary decision at every inner node on the way to the class.

    Args:
        input (Tensor): [N, D].
        label (Tensor): [N, 1] or [N] integers in [0, num_classes).
        num_classes (int): at least 2. The default tree is complete: class c is node c + num_classes of a heap.
        weight (Tensor): [num_classes - 1, D], one row for every inner node.
        bias (Tensor, optional): [num_classes - 1, 1].
        path_table, path_code (Tensor, optional): [N, depth]: the nodes on each sample's way, ended by negative numbers,
            and the decisions (0 or 1) there.
        is_sparse (bool): accepted.

    Returns:
        Tensor [N, 1].

    Source: Morin and Bengio, 2005.
    """
    if num_classes < 2:
        raise ValueError(f"Expected num_classes >= 2 (got {num_classes})")
    if path_table is None:
        node = label.reshape([-1]).astype("int64") + num_classes
        nodes, codes = [], []
        for _ in range((num_classes - 1).bit_length()):
            inner = node // 2
            nodes.append(paddle.where(inner >= 1, inner - 1, paddle.full_like(inner, -1)))
            codes.append(node % 2)
            node = inner
        path_table, path_code = paddle.stack(nodes, axis=1), paddle.stack(codes, axis=1)
    valid = (path_table >= 0).astype(input.dtype)
    index = paddle.clip(path_table.astype("int64"), min=0)
    shape = index.shape
    rows = paddle.gather(weight, index.flatten()).reshape([shape[0], shape[1], input.shape[1]])
    score = paddle.sum(rows * input.unsqueeze(1), axis=-1)
    if bias is not None:
        score = score + paddle.gather(bias.flatten(), index.flatten()).reshape(shape)
    # Places after the end of a way keep a score of zero, and so add the constant log 2, as Paddle's loss does.
    score = paddle.clip(score, -40.0, 40.0) * valid
    loss = paddle.log(1.0 + paddle.exp(score)) - path_code.astype(input.dtype) * score
    return paddle.sum(loss, axis=1, keepdim=True)


@names_errors
def adaptive_log_softmax_with_loss(input, label, head_weight, tail_weights, cutoffs, head_bias=None, name=None):
    """Log-softmax over frequent classes and clusters of rare ones.

    Args:
        input (Tensor): [N, D] or [D].
        label (Tensor): [N] or [] integers.
        head_weight (Tensor): [D, cutoffs[0] + number of clusters].
        tail_weights (list of pairs): for every cluster a projection [D, d] and a weight [d, size].
        cutoffs (sequence of int): where the clusters begin, increasing, ended by the number of classes. Clusters that
            begin where it ends hold no labels.
        head_bias (Tensor, optional): of the head.

    Returns:
        (log probability of every label [N], mean of their negatives).

    Raises:
        ValueError: ranks or shapes don't fit.

    Source: Grave et al., 2016 (https://arxiv.org/abs/1609.04309).
    """
    single = len(label.shape) == 0
    if len(label.shape) == 1:
        if len(input.shape) != 2 or input.shape[0] != label.shape[0]:
            raise ValueError(
                f"Input and label should have the same size in the batch dimension: got {input.shape}, {label.shape}"
            )
    elif single:
        if len(input.shape) != 1:
            raise ValueError("0D label tensor expects 1D input tensors, but found inputs with size")
        input, label = input.unsqueeze(0), label.unsqueeze(0)
    else:
        raise ValueError("0D or 1D label tensor expected, multi-label not supported")
    bounds = [0, *[int(c) for c in cutoffs]]
    head = log_softmax(linear(input, head_weight, head_bias), axis=1)
    first = bounds[1]
    chosen = paddle.clip(label, 0, first - 1)
    output = paddle.take_along_axis(head, chosen.unsqueeze(1), 1).squeeze(1)
    for i, (project, out_weight) in enumerate(tail_weights[: len(bounds) - 2]):
        low, high = bounds[i + 1], bounds[i + 2]
        inside = paddle.logical_and(label >= low, label < high)
        local = log_softmax(paddle.matmul(paddle.matmul(input, project), out_weight), axis=1)
        index = paddle.clip(label - low, 0, high - low - 1)
        value = head[:, first + i] + paddle.take_along_axis(local, index.unsqueeze(1), 1).squeeze(1)
        output = paddle.where(inside, value, output)
    loss = -paddle.mean(output)
    return (output.squeeze(0) if single else output), loss
