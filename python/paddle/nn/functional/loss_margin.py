"""Losses with a margin."""

from __future__ import annotations

import paddle

from ._args import check_reduction, names_errors, reduce
from .activation import log_sigmoid, relu
from .cross_entropy import softmax_with_cross_entropy
from .distance import pairwise_distance
from .input import one_hot

__all__ = []


@names_errors
def margin_ranking_loss(input, other, label, margin=0.0, reduction="mean", name=None):
    """max(0, -label * (input - other) + `margin`), label in {1, -1}."""
    check_reduction("margin_ranking_loss", reduction)
    return reduce(relu(-label * (input - other) + margin), reduction)


@names_errors
def hinge_embedding_loss(input, label, margin=1.0, reduction="mean", name=None):
    """input where label is 1, max(0, `margin` - input) where it is -1."""
    check_reduction("hinge_embedding_loss", reduction)
    zero = paddle.zeros_like(input)
    loss = paddle.where(label == 1.0, input, zero)
    loss = loss + paddle.where(label == -1.0, relu(margin - input), zero)
    return reduce(loss, reduction)


@names_errors
def cosine_embedding_loss(input1, input2, label, margin=0, reduction="mean", name=None):
    """1 - cos(input1, input2) where label is 1, max(0, cos - `margin`) where it is -1.

    Args:
        input1, input2 (Tensor): [N, M] or [M].
        label (Tensor): [N] or one element.
        margin (float): in [-1, 1].

    Raises:
        ValueError: ranks, shapes, dtypes or `reduction` don't fit.
    """
    if len(label.shape) != 1:
        raise ValueError("1D target tensor expected, multi-target not supported")
    if list(input1.shape) != list(input2.shape):
        raise ValueError(
            "the shape of input tensor 1 should be equal to input tensor 2, but found inputs with different sizes"
        )
    if len(input1.shape) > 2:
        raise ValueError("1D target tensor expects 1D or 2D input tensors, but found inputs with different sizes")
    check_reduction("cosine_embedding_loss", reduction)
    product = paddle.sum(input1 * input2, axis=-1)
    first = paddle.sum(input1 * input1, axis=-1) + 1e-11
    second = paddle.sum(input2 * input2, axis=-1) + 1e-11
    cosine = product / paddle.sqrt(first * second)
    zero = paddle.zeros_like(cosine)
    loss = paddle.where(label == 1, 1 - cosine, zero)
    loss = loss + paddle.where(label == -1, paddle.clip(cosine - margin, min=0.0), zero)
    return reduce(loss, reduction)


@names_errors
def soft_margin_loss(input, label, reduction="mean", name=None):
    """log(1 + exp(-label * input)), label in {1, -1}."""
    check_reduction("soft_margin_loss", reduction)
    label = label.astype(input.dtype)
    return reduce(paddle.log(1 + paddle.exp(-label * input)), reduction)


@names_errors
def multi_label_soft_margin_loss(input, label, weight=None, reduction="mean", name=None):
    """Binary cross-entropy of the logits, averaged over the classes.

    Args:
        input (Tensor): [N, C]. label (Tensor): in {0, 1}, the same shape.
        weight (Tensor, optional): [C].
    """
    check_reduction("multilabel_soft_margin_loss", reduction)
    if list(input.shape) != list(label.shape):
        raise ValueError(f"The input and label should have same dimension,but received {input.shape}!={label.shape}")
    loss = -(label * log_sigmoid(input) + (1 - label) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduce(paddle.mean(loss, axis=-1), reduction)


@names_errors
def multi_label_margin_loss(input, label, reduction="mean", name=None):
    """Sum over pairs of a target class and another of max(0, 1 - (x[target] - x[other])), over C.

    Args:
        input (Tensor): [N, C].
        label (Tensor): [N, C] integers: the target classes, ended by the first negative number.

    Returns:
        Tensor: a scalar, or [N].
    """
    check_reduction("multi_label_margin_loss", reduction)
    if len(input.shape) != 2:
        raise ValueError(f"Expected 2D input, but got {len(input.shape)}D")
    if list(input.shape) != list(label.shape):
        raise ValueError(
            f"[multi_label_margin_loss] expected label of shape {list(input.shape)}, got {list(label.shape)}"
        )
    classes = input.shape[1]
    valid = paddle.cumsum((label < 0).astype("int64"), axis=1) == 0
    index = paddle.where(valid, label, paddle.zeros_like(label)).astype("int64")
    hot = one_hot(index, classes).astype(input.dtype)
    mask = valid.astype(input.dtype)
    is_target = (paddle.sum(hot * mask.unsqueeze(-1), axis=1) > 0).astype(input.dtype)
    target = paddle.take_along_axis(input, index, 1)
    pairs = paddle.clip(1.0 - target.unsqueeze(2) + input.unsqueeze(1), min=0.0)
    pairs = pairs * mask.unsqueeze(2) * (1.0 - is_target).unsqueeze(1)
    return reduce(paddle.sum(pairs, axis=[1, 2]) / classes, reduction)


@names_errors
def multi_margin_loss(input, label, p=1, margin=1.0, weight=None, reduction="mean", name=None):
    """Sum over the wrong classes of weight[label] * max(0, `margin` - x[label] + x[j]) ** `p`, over C.

    Args:
        input (Tensor): [N, C]. label (Tensor): [N] integers in [0, C).
        weight (Tensor, optional): [C].

    Returns:
        Tensor: a scalar, or [N].
    """
    check_reduction("multi_margin_loss", reduction)
    if not (len(input.shape) == 2 and len(label.shape) == 1 and input.shape[0] == label.shape[0]):
        raise ValueError(
            f"The label's shape[0] should be equal to input's shape[0], but received "
            f"input's shape[0] {input.shape[0]} and label's shape[0] {label.shape[0]}."
        )
    column = label.reshape([-1, 1])
    right = paddle.take_along_axis(input, column, 1)
    gap = margin - right + input
    if weight is not None:
        if list(weight.shape) != [input.shape[1]]:
            raise ValueError(f"The weight's shape[0] should be equal to input's shape[1], got {list(weight.shape)}")
    constant = max(margin, 0.0) ** p
    # The sum runs over all classes; the right one adds a constant, which is taken off again.
    total = paddle.sum(paddle.pow(paddle.clip(gap, min=0.0), p), axis=1) - constant
    if weight is not None:
        total = total * paddle.gather(weight, label)
    return reduce(total / input.shape[1], reduction)


@names_errors
def triplet_margin_with_distance_loss(
    input, positive, negative, distance_function=None, margin=1.0, swap=False, reduction="mean", name=None
):
    """max(0, d(input, positive) - d(input, negative) + `margin`).

    Args:
        input, positive, negative (Tensor): [N, D].
        distance_function (callable, optional): of two tensors; Euclidean when None.
        swap (bool): take d(positive, negative) where that is smaller.

    Raises:
        ValueError: `reduction` or `margin` is out of range, or a distance is negative.
    """
    check_reduction("triplet_margin_with_distance_loss", reduction)
    if margin < 0:
        raise ValueError("The margin between positive samples and negative samples should be greater than 0.")
    distance = distance_function or pairwise_distance
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = paddle.minimum(far, distance(positive, negative))
    return reduce(paddle.clip(near - far + margin, min=0.0), reduction)


@names_errors
def triplet_margin_loss(
    input, positive, negative, margin=1.0, p=2, epsilon=1e-6, swap=False, reduction="mean", name=None
):
    """`triplet_margin_with_distance_loss` with the `p`-norm distance.

    Source: Balntas et al., 2016.
    """
    check_reduction("triplet_margin_loss", reduction)
    if margin < 0:
        raise ValueError("The margin between positive samples and negative samples should be greater than 0.")
    return triplet_margin_with_distance_loss(
        input, positive, negative, lambda a, b: pairwise_distance(a, b, p, epsilon), margin, swap, reduction
    )


@names_errors
def npair_loss(anchor, positive, labels, l2_reg=0.002):
    """Cross-entropy of the similarities anchor · positiveᵀ against equal labels, plus an L2 penalty.

    Args:
        anchor, positive (Tensor): [N, D].
        labels (Tensor): [N].

    Source: Sohn, 2016.
    """
    count = labels.shape[0]
    labels = labels.reshape([count, 1])
    same = (labels == paddle.transpose(labels, [1, 0])).astype("float32")
    same = same / paddle.sum(same, axis=1, keepdim=True)
    squares = paddle.mean(paddle.sum(anchor * anchor, 1)) + paddle.mean(paddle.sum(positive * positive, 1))
    similarity = paddle.matmul(anchor, positive, transpose_y=True)
    entropy = softmax_with_cross_entropy(similarity, same, soft_label=True)
    return squares * 0.25 * l2_reg + paddle.mean(paddle.sum(same * entropy, 0))
