"""Losses. `reduction` is "mean", "sum" or "none" (ValueError otherwise); inputs and labels have one shape, and "none"
keeps it, unless a docstring says otherwise."""

from __future__ import annotations

import paddle

from ... import _C_ops
from ._args import check_reduction, names_errors, reduce
from .activation import log_sigmoid, sigmoid
from .input import one_hot
from .sequence_distance import edit_distance  # noqa: F401
from .cross_entropy import (  # noqa: F401
    cross_entropy,
    margin_cross_entropy,
    nll_loss,
    softmax_with_cross_entropy,
)
from .loss_margin import (  # noqa: F401
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_label_margin_loss,
    multi_label_soft_margin_loss,
    multi_margin_loss,
    npair_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .loss_sequence import ctc_loss, rnnt_loss  # noqa: F401
from .loss_tree import adaptive_log_softmax_with_loss, hsigmoid_loss  # noqa: F401

__all__ = []


@names_errors
def mse_loss(input, label, reduction="mean", name=None):
    """(input - label)^2; the two broadcast."""
    if reduction == "mean":
        difference = input - label
        return paddle.mean(difference * difference)
    check_reduction("mse_loss", reduction)
    return reduce(paddle.square(input - label), reduction)


@names_errors
def square_error_cost(input, label):
    """(input - label)^2, not reduced."""
    return paddle.square(input - label)


@names_errors
def l1_loss(input, label, reduction="mean", name=None):
    """|input - label|."""
    check_reduction("L1Loss", reduction)
    return reduce(paddle.abs(input - label), reduction)


@names_errors
def smooth_l1_loss(input, label, reduction="mean", delta=1.0, is_huber=True, name=None):
    """0.5 * d^2 for d = |input - label| <= `delta`, `delta` * (d - 0.5 * `delta`) beyond; divided by `delta` unless
    `is_huber`."""
    check_reduction("smooth_l1_loss", reduction)
    d = paddle.abs(input - label)
    loss = paddle.where(d <= delta, 0.5 * d * d, delta * d - 0.5 * delta * delta)
    return reduce(loss if is_huber else loss / delta, reduction)


@names_errors
def binary_cross_entropy(input, label, weight=None, reduction="mean", name=None):
    """-(label * log(input) + (1 - label) * log(1 - input)) * weight, logarithms bounded below by -100.

    Args:
        input (Tensor): probabilities in [0, 1].
        label (Tensor): in [0, 1].
        weight (Tensor, optional): broadcasts.
    """
    check_reduction("binary_cross_entropy", reduction)
    loss = _C_ops.bce_loss(input, label)
    return reduce(loss if weight is None else loss * weight, reduction)


@names_errors
def binary_cross_entropy_with_logits(logit, label, weight=None, reduction="mean", pos_weight=None, name=None):
    """`binary_cross_entropy` of sigmoid(logit), without its overflow; `pos_weight` multiplies the positive part."""
    check_reduction("binary_cross_entropy_with_logits", reduction)
    # log(1 + e^-logit) as one operator: the parts of max(-logit, 0) + log1p(e^-|logit|) have no slope at 0
    softplus = -log_sigmoid(logit)
    if pos_weight is None:
        loss = (1.0 - label) * logit + softplus
    else:
        scale = label * (pos_weight - 1.0) + 1.0
        loss = (1.0 - label) * logit + scale * softplus
    return reduce(loss if weight is None else loss * weight, reduction)


@names_errors
def kl_div(input, label, reduction="mean", log_target=False, name=None):
    """label * (log(label) - input), for log probabilities `input`; `log_target` says that `label` holds logs too.

    `reduction` may also be "batchmean": the sum over the first dimension's size.
    """
    if reduction not in ("sum", "mean", "batchmean", "none"):
        raise ValueError(
            f"The value of 'reduction' in kl_div should be 'sum', "
            f"'batchmean', 'mean' or 'none', but received {reduction}"
        )
    if label.dtype != input.dtype:
        label = label.astype(input.dtype)
    if log_target:
        loss = paddle.exp(label) * (label - input)
    else:
        positive = label > 0
        safe = paddle.where(positive, label, paddle.ones_like(label))
        loss = paddle.where(positive, label * (paddle.log(safe) - input), paddle.zeros_like(label))
    if reduction == "batchmean":
        return paddle.sum(loss) / input.shape[0] if len(input.shape) else paddle.sum(loss)
    return reduce(loss, reduction)


@names_errors
def poisson_nll_loss(input, label, log_input=True, full=False, epsilon=1e-8, reduction="mean", name=None):
    """exp(input) - label * input, or input - label * log(input + `epsilon`) without `log_input`.

    `full` adds Stirling's approximation of log(label!) where label > 1.
    """
    if epsilon <= 0:
        raise ValueError(
            f"The value of `epsilon` in poisson_nll_loss should be "
            f"positive, but received {epsilon:f}, which is not allowed"
        )
    check_reduction("poisson_nll_loss", reduction)
    loss = paddle.exp(input) - label * input if log_input else input - label * paddle.log(input + epsilon)
    if full:
        safe = paddle.clip(label, min=1.0)
        stirling = label * paddle.log(safe) - label + 0.5 * paddle.log(2 * 3.141592653589793 * safe)
        loss = loss + paddle.where(label > 1, stirling, paddle.zeros_like(stirling))
    return reduce(loss, reduction)


@names_errors
def gaussian_nll_loss(input, label, variance, full=False, epsilon=1e-6, reduction="mean", name=None):
    """0.5 * (log(var) + (input - label)^2 / var), var = max(variance, `epsilon`); `full` adds 0.5 * log(2 π).

    Args:
        variance (Tensor): positive; the shape of `input`, or that without the last dimension or with size one there.

    Raises:
        ValueError: the shapes don't fit, or `epsilon` is not positive.
    """
    check_reduction("gaussian_nll_loss", reduction)
    if list(variance.shape) != list(input.shape):
        if list(input.shape[:-1]) == list(variance.shape):
            variance = paddle.unsqueeze(variance, -1)
        elif list(input.shape[:-1]) != list(variance.shape[:-1]) or variance.shape[-1] != 1:
            raise ValueError("variance is of incorrect shape")
    variance = variance + (paddle.clip(variance, min=epsilon) - variance).detach()
    difference = input - label
    loss = 0.5 * (paddle.log(variance) + difference * difference / variance)
    return reduce(loss + 0.9189385332046727 if full else loss, reduction)


@names_errors
def log_loss(input, label, epsilon=1e-4, name=None):
    """-label * log(input + `epsilon`) - (1 - label) * log(1 - input + `epsilon`), not reduced; both [N, 1]."""
    return -label * paddle.log(input + epsilon) - (1.0 - label) * paddle.log(1.0 - input + epsilon)


@names_errors
def dice_loss(input, label, epsilon=0.00001, name=None):
    """1 - the Dice coefficient, averaged over the batch.

    Args:
        input (Tensor): probabilities [N, ..., K].
        label (Tensor): classes [N, ..., 1], integers.
    """
    assert len(input.shape) >= 2, "The rank of input should be greater than or equal to 2."
    assert len(input.shape) == len(label.shape), "The rank of input and label should be equal"
    assert label.shape[-1] == 1, "The last dimension of label should be 1"
    label = one_hot(paddle.squeeze(label, -1), input.shape[-1]).astype(input.dtype)
    axes = list(range(1, len(input.shape)))
    inside = paddle.sum(input * label, axis=axes)
    total = paddle.sum(input, axis=axes) + paddle.sum(label, axis=axes)
    return paddle.mean(1 - inside * 2 / (total + epsilon))


@names_errors
def sigmoid_focal_loss(logit, label, normalizer=None, alpha=0.25, gamma=2.0, reduction="sum", name=None):
    """Binary cross-entropy that counts easy examples less, over `normalizer`.

    Args:
        logit, label (Tensor): the same shape; labels in {0, 1}.
        normalizer (Tensor, optional): one element.
        alpha (float): weight of the positive class, in [0, 1].
        gamma (float): how fast easy examples fade.

    Source: Lin et al., 2017, Focal loss (https://arxiv.org/abs/1708.02002).
    """
    check_reduction("sigmoid_focal_loss", reduction)
    if normalizer is not None and len(normalizer.shape) > 1:
        raise ValueError(
            f"Expected zero or one dimension of normalizer in sigmoid_focal_loss but got {len(normalizer.shape)}."
        )
    label = label.astype(logit.dtype)
    entropy = binary_cross_entropy_with_logits(logit, label, reduction="none")
    p = sigmoid(logit)
    right = p * label + (1 - p) * (1 - label)
    loss = (alpha * label + (1 - alpha) * (1 - label)) * paddle.pow(1 - right, gamma) * entropy
    return reduce(loss if normalizer is None else loss / normalizer, reduction)
