"""Losses over alignments of sequences, by dynamic programming in log space."""

from __future__ import annotations

import paddle

from .activation import log_softmax
from ._args import check_rank, check_reduction, names_errors, reduce

__all__ = []

_NEVER = -1e30  # a log probability that survives adding up, unlike infinity minus infinity


def _log_add(*terms):
    return paddle.logsumexp(paddle.stack(terms, axis=0), axis=0)


@names_errors
def ctc_loss(
    log_probs, labels, input_lengths, label_lengths, blank=0, reduction="mean", norm_by_times=False, zero_infinity=False
):
    """Connectionist temporal classification.

    Args:
        log_probs (Tensor): unnormalised logits [T, N, C]; a log-softmax is taken inside.
        labels (Tensor): [N, L] integers without blanks.
        input_lengths, label_lengths (Tensor): [N].
        blank (int): the class that means nothing.
        reduction (str): "mean" divides every loss by its label's length first.
        norm_by_times (bool): divides the gradient (not the value) by the input's length.
        zero_infinity (bool): losses that no alignment reaches count as zero.

    Returns:
        Tensor: a scalar, or [N].

    Source: Graves et al., 2006.
    """
    check_reduction("ctc_loss", reduction)
    check_rank("ctc_loss", "log_probs", log_probs, 3)
    check_rank("ctc_loss", "labels", labels, 2)
    logits = log_softmax(log_probs, axis=-1)
    steps, batch = logits.shape[0], logits.shape[1]
    labels, label_lengths, input_lengths = (t.astype("int64") for t in (labels, label_lengths, input_lengths))
    width = 2 * labels.shape[1] + 1
    # Labels between blanks: b l1 b l2 b ... b
    between = paddle.full([batch, labels.shape[1]], blank, "int64")
    states = paddle.stack([between, labels], axis=2).reshape([batch, width - 1])
    states = paddle.concat([states, paddle.full([batch, 1], blank, "int64")], axis=1)
    may_skip = paddle.zeros([batch, width], "bool")
    if width > 2:
        skip = paddle.logical_and(states[:, 2:] != blank, states[:, 2:] != states[:, :-2])
        may_skip = paddle.concat([paddle.zeros([batch, 2], "bool"), skip], axis=1)
    place = paddle.arange(0, width, dtype="int64").unsqueeze(0)
    never = paddle.full([batch, width], _NEVER, logits.dtype)
    emitted = paddle.take_along_axis(logits[0], states, 1)
    alpha = paddle.where(paddle.logical_and(place < 2, place < 2 * label_lengths.unsqueeze(1) + 1), emitted, never)
    for t in range(1, steps):
        emitted = paddle.take_along_axis(logits[t], states, 1)
        one = paddle.concat([never[:, :1], alpha[:, :-1]], axis=1)
        two = paddle.concat([never[:, :2], alpha[:, :-2]], axis=1) if width > 2 else never
        moved = _log_add(alpha, one, paddle.where(may_skip, two, never)) + emitted
        alpha = paddle.where((t < input_lengths).unsqueeze(1), moved, alpha)
    end = paddle.stack([2 * label_lengths, paddle.clip(2 * label_lengths - 1, min=0)], axis=1)
    last = paddle.take_along_axis(alpha, end, 1)
    both = _log_add(last[:, 0], last[:, 1])
    loss = -paddle.where(label_lengths > 0, both, last[:, 0])
    if norm_by_times:
        scaled = loss / input_lengths.astype(loss.dtype)
        loss = scaled + (loss - scaled).detach()
    if zero_infinity:
        loss = paddle.where(loss > -_NEVER / 2, paddle.zeros_like(loss), loss)
    if reduction == "mean":
        return paddle.mean(loss / paddle.clip(label_lengths, min=1).astype(loss.dtype))
    return reduce(loss, reduction)


@names_errors
def rnnt_loss(input, label, input_lengths, label_lengths, blank=0, fastemit_lambda=0.001, reduction="mean", name=None):
    """Loss of a recurrent transducer.

    Args:
        input (Tensor): log probabilities [B, T, U + 1, D].
        label (Tensor): [B, U] integers.
        input_lengths, label_lengths (Tensor): [B].
        blank (int): the class that advances time.
        fastemit_lambda (float): scales the gradient of emitting labels by 1 + this (FastEmit).
        reduction (str): "mean" divides the sum by B.

    Returns:
        Tensor: a scalar, or [B].

    Source: Graves, 2012; Yu et al., 2020, FastEmit (https://arxiv.org/abs/2010.11148).
    """
    check_reduction("rnnt_loss", reduction)
    check_rank("rnnt_loss", "input", input, 4)
    check_rank("rnnt_loss", "label", label, 2)
    logits = input
    batch, steps, rows = logits.shape[0], logits.shape[1], logits.shape[2]
    label, input_lengths, label_lengths = (t.astype("int64") for t in (label, input_lengths, label_lengths))
    silent = logits[:, :, :, blank]
    index = paddle.expand(label.unsqueeze(1).unsqueeze(-1), [batch, steps, rows - 1, 1])
    spoken = paddle.take_along_axis(logits[:, :, : rows - 1], index, 3).squeeze(-1)
    if fastemit_lambda:
        spoken = spoken + fastemit_lambda * (spoken - spoken.detach())
    columns = []
    for t in range(steps):
        # From the left by a blank, from below by a label.
        cells = []
        for u in range(rows):
            ways = []
            if t:
                ways.append(columns[-1][u] + silent[:, t - 1, u])
            if u:
                ways.append(cells[-1] + spoken[:, t, u - 1])
            if not ways:
                cells.append(paddle.zeros([batch], logits.dtype))
            else:
                cells.append(ways[0] if len(ways) == 1 else _log_add(*ways))
        columns.append(cells)
    table = paddle.stack([paddle.stack(cells, axis=1) for cells in columns], axis=1) + silent
    flat = table.reshape([batch, steps * rows])
    end = ((input_lengths - 1) * rows + label_lengths).unsqueeze(1)
    loss = -paddle.take_along_axis(flat, end, 1).squeeze(1)
    return paddle.sum(loss) / batch if reduction == "mean" else reduce(loss, reduction)
