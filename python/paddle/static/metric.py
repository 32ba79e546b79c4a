"""Metrics as parts of a program, with their state in the scope."""

from __future__ import annotations

import paddle

from ..base import core, unique_name
from .variables import create_global_var

__all__ = ["accuracy", "auc", "ctr_metric_bundle"]


def accuracy(input, label, k: int = 1, correct=None, total=None):
    """The share of rows of ``input`` whose ``k`` largest values hold the label's.

    Args:
        input: [N, classes] scores.
        label: int64 [N, 1].
        correct, total: variables that get the number of right rows, and of rows.

    Returns:
        A float32 tensor without axes.
    """
    _, chosen = paddle.topk(input, k=k, axis=-1)
    hit = paddle.any(chosen == label.reshape([-1, 1]).astype(chosen.dtype), axis=-1)
    right = hit.astype("int32").sum()
    rows = paddle.ones_like(hit, dtype="int32").sum()
    for variable, value in ((correct, right), (total, rows)):
        if variable is not None:
            paddle.assign(value.astype(variable.dtype).reshape(variable.shape), variable)
    return right.astype("float32") / rows.astype("float32")


def _area(positive, negative):
    """Area under the curve from histograms of scores, from the highest score down, by trapezoids."""
    positive, negative = paddle.flip(positive, [0]), paddle.flip(negative, [0])
    tp, fp = paddle.cumsum(positive), paddle.cumsum(negative)
    tp_before, fp_before = tp - positive, fp - negative
    area = ((fp - fp_before) * (tp + tp_before)).astype("float64").sum() / 2.0
    pairs = (tp[-1] * fp[-1]).astype("float64")
    return paddle.where(pairs > 0, area / paddle.maximum(pairs, paddle.ones_like(pairs)), paddle.zeros_like(pairs))


def auc(
    input,
    label,
    curve: str = "ROC",
    num_thresholds: int = 2**12 - 1,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight=None,
):
    """Area under the ROC curve of two classes, of all batches so far and of the last ``slide_steps``.

    Args:
        input: [N, 2] probabilities; those of the second class are scored.
        label: int [N, 1], 0 or 1.
        num_thresholds: the scores are counted in so many + 1 bins.
        slide_steps: 0: the second area is that of all batches too.

    Returns:
        (area of all, area of the last batches, [the histograms of the last batches and of all]).

    Raises:
        NotImplementedError: a curve other than ROC.
    """
    if curve != "ROC":
        raise NotImplementedError(f"[auc] curve must be ROC, got {curve!r}")
    bins = num_thresholds + 1
    steps = max(slide_steps, 1)
    name = unique_name.generate("auc")
    states = [
        create_global_var([steps, bins] if batch else [1, bins], 0, "int64", True, name=f"{name}.{kind}")
        for kind, batch in (("batch_pos", True), ("batch_neg", True), ("pos", False), ("neg", False))
    ]
    with paddle.no_grad():
        score = input[:, -1] if len(input.shape) == 2 else input.reshape([-1])
        place = paddle.clip((score * num_thresholds).astype("int64"), 0, num_thresholds)
        truth = label.reshape([-1]).astype("int64")
        weight = paddle.ones_like(truth) if ins_tag_weight is None else ins_tag_weight.reshape([-1]).astype("int64")
        zeros = paddle.zeros([bins], "int64")
        now = [
            paddle.scatter_nd_add(zeros, place.unsqueeze(-1), part) for part in (truth * weight, (1 - truth) * weight)
        ]
        areas = []
        for kept, total, fresh in ((states[0], states[2], now[0]), (states[1], states[3], now[1])):
            paddle.assign(paddle.concat([kept[1:], fresh.unsqueeze(0)], axis=0), kept)
            paddle.assign(total + fresh, total)
        whole = _area(states[2][0], states[3][0])
        last = _area(states[0].sum(0), states[1].sum(0)) if slide_steps else whole
        areas = [whole.astype("float64"), last.astype("float64")]
    return areas[0], areas[1], states


def ctr_metric_bundle(input, label, ins_tag_weight=None):
    """Not available: sums for click-through rates of a parameter server.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("[ctr_metric_bundle] metrics of a parameter server are not supported: use auc")


def reset(states) -> None:
    """Puts the histograms of ``auc`` in the current scope back to zero."""
    from .scope import global_scope

    for state in states:
        global_scope().var(state.name).value = core.full(list(state.shape), 0, "int64")
