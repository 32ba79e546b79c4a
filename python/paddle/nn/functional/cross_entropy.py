"""Cross-entropy over classes."""

from __future__ import annotations

import paddle
from paddle import _C_ops

from .._alias import accepts
from ._args import check_class_weights, check_reduction, names_errors, reduce
from .common import label_smooth
from .input import one_hot

__all__ = []


def _column_labels(input, label, axis, soft):
    """Labels with the rank of the logits, and whether a dimension was added."""
    missing = len(input.shape) - 1 == len(label.shape)
    if not missing and len(input.shape) != len(label.shape):
        raise ValueError(
            f"Expected input_dims - 1 = label_dims or input_dims == label_dims (got input_dims{len(input.shape)}, "
            f"label_dims{len(label.shape)})"
        )
    return (paddle.unsqueeze(label, axis), True) if missing and not soft else (label, missing)


@names_errors
def softmax_with_cross_entropy(
    logits, label, soft_label=False, ignore_index=-100, numeric_stable_mode=True, return_softmax=False, axis=-1
):
    """-log(softmax(logits))[label] along `axis`, not reduced.

    Args:
        logits (Tensor): [..., K, ...].
        label (Tensor): class indices with size one at `axis` (or without it), or with `soft_label` probabilities in the
            shape of `logits`.
        ignore_index (int): labels of this value have loss zero.
        numeric_stable_mode (bool): accepted; the computation is always the stable one.
        return_softmax (bool): return (loss, softmax).

    Returns:
        Tensor with size one at `axis`.
    """
    label, _ = _column_labels(logits, label, axis, soft_label)
    softmax, loss = _C_ops.cross_entropy_with_softmax(
        logits, label, soft_label, True, numeric_stable_mode, ignore_index, axis
    )
    return (loss, softmax) if return_softmax else loss


@accepts(label="target")
@names_errors
def cross_entropy(
    input, label, weight=None, ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True,
    label_smoothing=0.0, name=None,
):  # fmt: skip
    """Cross-entropy between logits (or probabilities) and labels.

    Args:
        input (Tensor): [N, ..., K], logits, or probabilities without `use_softmax`.
        label (Tensor): class indices of shape [N, ...] or [N, ..., 1] in [0, K); or with `soft_label` probabilities in
            the shape of `input`; or with `label_smoothing` one-hot labels in that shape.
        weight (Tensor, optional): [K], a weight for every class.
        ignore_index (int): labels whose loss is zero. They don't count in the mean's divisor either, unless this is
            negative and there are no weights.
        reduction (str): "mean" divides by the weights that counted, "sum", "none".
        soft_label (bool): see `label`.
        axis (int): the dimension of the classes.
        use_softmax (bool): see `input`.
        label_smoothing (float): in [0, 1]: how much of a label is spread over all classes.

    Returns:
        Tensor: a scalar; with "none" the shape of the label (indices), or of `input` with size one at `axis`.

    Raises:
        ValueError: ranks, `reduction` or combinations don't fit.
    """
    if reduction == "batchmean" or reduction not in ("sum", "mean", "none"):
        check_reduction("softmax_cross_entropy", reduction)
    if ignore_index > 0 and soft_label:
        raise ValueError(
            "When soft_label == True, the value of 'ignore_index' in softmax_cross_entropy "
            "should be '-100', but received {}, which is not allowed.".format(ignore_index)
        )
    if not soft_label and paddle.is_floating_point(label):  # class numbers, written as floats
        label = label.astype("int64")
    if len(input.shape) == 0:
        raise ValueError("The dimension of input should be larger than zero!")
    if weight is not None:
        check_class_weights("cross_entropy", weight, input.shape[axis])
    if label_smoothing:
        if not soft_label:
            label, soft_label = _smoothed(input, label, axis, label_smoothing), True
        else:
            label = label_smooth(label, epsilon=label_smoothing)
    label, added = _column_labels(input, label, axis, soft_label)
    loss = _C_ops.cross_entropy_with_softmax(input, label, soft_label, use_softmax, True, ignore_index, axis)[1]
    if soft_label:
        return _reduce_soft(loss, label, weight, axis, reduction)
    if weight is None:
        if reduction == "mean":
            if ignore_index < 0:  # as in Paddle: labels that can't occur are in the divisor all the same
                return paddle.mean(loss)
            counted = paddle.sum((label != ignore_index).astype(loss.dtype))
            return paddle.sum(loss) / paddle.clip(counted, min=1.0)
    else:
        counts = label != ignore_index
        chosen = paddle.where(counts, label, paddle.zeros_like(label))
        weights = paddle.gather(weight, chosen.flatten()).reshape(label.shape) * counts.astype(weight.dtype)
        weights = weights.astype(loss.dtype)
        loss = loss * weights
        if reduction == "mean":
            total = paddle.sum(weights)
            return paddle.sum(loss) / (total + (total == 0).astype(total.dtype))
    if reduction == "sum":
        return paddle.sum(loss)
    return paddle.squeeze(loss, axis) if added else loss


def _smoothed(input, label, axis, epsilon):
    """Class indices as smoothed probabilities in the shape of `input`."""
    if len(label.shape) == len(input.shape):
        if label.shape[axis] == input.shape[axis] != 1:  # one-hot already
            return label.astype(input.dtype) * (1.0 - epsilon) + epsilon / input.shape[axis]
        label = paddle.squeeze(label, axis)
    axis = axis % len(input.shape)
    hot = one_hot(label, input.shape[axis]).astype(input.dtype)
    if axis != len(input.shape) - 1:
        order = list(range(len(input.shape) - 1))
        order.insert(axis, len(input.shape) - 1)
        hot = paddle.transpose(hot, order)
    return hot * (1.0 - epsilon) + epsilon / input.shape[axis]


def _reduce_soft(loss, label, weight, axis, reduction):
    if weight is None:
        return reduce(loss, reduction)
    axis = axis % len(label.shape)
    per_class = weight.reshape([-1] + [1] * (len(label.shape) - axis - 1))
    weights = paddle.sum(label * per_class.astype(label.dtype), axis=axis, keepdim=True)
    loss = loss * weights
    if reduction == "mean":
        total = paddle.sum(weights)
        return paddle.sum(loss) / (total + (total == 0).astype(total.dtype))
    return reduce(loss, reduction)


@names_errors
def nll_loss(input, label, weight=None, ignore_index=-100, reduction="mean", name=None):
    """-input[label], for log probabilities.

    Args:
        input (Tensor): [N, C] or [N, C, d1, ...].
        label (Tensor): integers in [0, C), [N] or [N, d1, ...].
        weight (Tensor, optional): [C].
        ignore_index (int): labels that don't count.

    Returns:
        Tensor: a scalar ("mean" divides by the weights that counted), or the shape of `label`.

    Raises:
        ValueError: ranks or `reduction` don't fit.
    """
    check_reduction("nll_loss", reduction)
    if len(input.shape) == 2 and len(label.shape) == 2 and label.shape[1] == 1:
        label = paddle.squeeze(label, 1)
    if len(input.shape) - 1 != len(label.shape):
        raise ValueError(
            f"Expected input_dims - 1 = label_dims (got input_dims{len(input.shape)}, label_dims{len(label.shape)})"
        )
    if len(input.shape) < 2:
        raise ValueError(f"Expected 2 or more dimensions (got {len(input.shape)})")
    if input.shape[1] < 1:
        raise ValueError(f"Expected 1 or more classes (got num classes{input.shape[1]})")
    if weight is not None:
        check_class_weights("nll_loss", weight, input.shape[1])
    counts = label != ignore_index
    chosen = paddle.where(counts, label, paddle.zeros_like(label))
    picked = paddle.squeeze(paddle.take_along_axis(input, paddle.unsqueeze(chosen, 1), 1), 1)
    weights = counts.astype(input.dtype)
    if weight is not None:
        weights = weights * paddle.gather(weight, chosen.flatten()).reshape(label.shape)
    loss = -picked * weights
    if reduction == "mean":
        return paddle.sum(loss) / paddle.sum(weights)
    return reduce(loss, reduction)


@names_errors
def margin_cross_entropy(
    logits, label, margin1=1.0, margin2=0.5, margin3=0.0, scale=64.0, group=None, return_softmax=False,
    reduction="mean",
):  # fmt: skip
    """Cross-entropy with cos(`margin1` * θ + `margin2`) - `margin3` in place of the target's cos θ, times `scale`.

    Args:
        logits (Tensor): cosines [N, C].
        label (Tensor): integers [N] or [N, 1].
        group: False or None for a single process.
        return_softmax (bool): return (loss, softmax).
        reduction (str | None): None is "none"; the loss is then [N, 1].

    Source: Deng et al., 2018, ArcFace (https://arxiv.org/abs/1801.07698).
    """
    if reduction not in ("mean", "sum", "none", None):
        check_reduction("margin_cross_entropy", reduction)
    if group not in (None, False) and getattr(group, "nranks", 1) > 1:
        raise ValueError("[margin_cross_entropy] classes split over processes are not supported")
    label = label if len(label.shape) == len(logits.shape) else paddle.unsqueeze(label, -1)
    hot = one_hot(paddle.squeeze(label, -1), logits.shape[-1]).astype(logits.dtype)
    angle = paddle.acos(paddle.clip(logits, -1.0, 1.0))
    moved = paddle.cos(margin1 * angle + margin2) - margin3
    adjusted = scale * paddle.where(hot > 0, moved, logits)
    loss, softmax = softmax_with_cross_entropy(adjusted, label, return_softmax=True)
    loss = reduce(loss, reduction or "none")
    return (loss, softmax) if return_softmax else loss
