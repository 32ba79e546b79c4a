"""Distances between sequences of tokens."""

from __future__ import annotations

import paddle

__all__ = []


def _distances(a, b):
    """The table's last rows: [i, n] holds the distance of the first i elements of a (of n sequences) to all of b's
    prefixes, [rows + 1, N, columns + 1]."""
    steps = paddle.arange(b.shape[1] + 1, dtype="int64").unsqueeze(0)
    row = steps.expand([a.shape[0], b.shape[1] + 1])
    rows = [row]
    for i in range(a.shape[1]):
        change = row[:, :-1] + (a[:, i : i + 1] != b).astype("int64")
        begin = paddle.minimum(row[:, 1:] + 1, change)
        best = paddle.concat([paddle.full([a.shape[0], 1], i + 1, "int64"), begin], axis=1)
        # An insertion costs one more than its left neighbour: a running minimum once each column's own cost is off.
        row = paddle.cummin(best - steps, axis=1)[0] + steps
        rows.append(row)
    return paddle.stack(rows)


def _without(tokens, lengths, ignored):
    """Sequences without the tokens that don't count, closed up, and their lengths."""
    columns = paddle.arange(tokens.shape[1]).unsqueeze(0)
    counts = columns < lengths.unsqueeze(1)
    for t in ignored or ():
        counts = paddle.logical_and(counts, tokens != t)
    order = paddle.argsort(paddle.where(counts, columns, columns + tokens.shape[1]), axis=1)
    return paddle.take_along_axis(tokens, order, axis=1), counts.astype("int64").sum(axis=1)


def edit_distance(input, label, normalized=True, ignored_tokens=None, input_length=None, label_length=None):
    """The least number of insertions, deletions and changes that make a sequence of another.

    Args:
        input, label (Tensor): [N, L] and [N, K] integers.
        normalized (bool): divide by the label's length.
        ignored_tokens (list of int, optional): tokens that are left out first.
        input_length, label_length (Tensor, optional): [N]; by default all of the columns count.

    Returns:
        (the number of sequences [1] of int64, their distances [N, 1] of float32).
    """
    lengths = []
    for x, given in ((input, input_length), (label, label_length)):
        whole = paddle.full([x.shape[0]], x.shape[1], "int64") if given is None else given
        lengths.append(whole.reshape([-1]).astype("int64"))
    a, n = _without(input.astype("int64"), lengths[0], ignored_tokens)
    b, m = _without(label.astype("int64"), lengths[1], ignored_tokens)
    table = _distances(a, b).transpose([1, 0, 2])
    rows = paddle.take_along_axis(table, n.reshape([-1, 1, 1]), axis=1)
    distance = paddle.take_along_axis(rows.squeeze(1), m.unsqueeze(1), axis=1).astype("float32")
    if normalized:
        distance = distance / m.unsqueeze(1).astype("float32")
    return paddle.full([1], input.shape[0], "int64"), distance
