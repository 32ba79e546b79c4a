"""Linear maps, similarity, label smoothing; and the names of the other files of this family."""

from __future__ import annotations

import paddle
from paddle import _C_ops

from .._alias import accepts
from .dropout import (  # noqa: F401
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from .padding import pad, zeropad2d  # noqa: F401
from .patches import fold, unfold  # noqa: F401
from .resize import interpolate, upsample  # noqa: F401

__all__ = []


def linear(x, weight, bias=None, name=None):
    """x @ weight + bias.

    Args:
        x (Tensor): [..., in].
        weight (Tensor): [in, out].
        bias (Tensor, optional): [out].

    Returns:
        Tensor [..., out].
    """
    out = _C_ops.matmul(x, weight, False, False)
    return out if bias is None else _C_ops.add(out, bias)


def bilinear(x1, x2, weight, bias=None, name=None):
    """out[n, o] = x1[n] @ weight[o] @ x2[n] + bias[o].

    Args:
        x1 (Tensor): [N, in1]. x2 (Tensor): [N, in2].
        weight (Tensor): [out, in1, in2].
        bias (Tensor, optional): [1, out].

    Returns:
        Tensor [N, out].
    """
    # [N, in1] x [in1, out * in2] -> [N, out, in2], then contract with x2.
    outs, in1, in2 = weight.shape
    half = paddle.matmul(x1, paddle.transpose(weight, [1, 0, 2]).reshape([in1, outs * in2]))
    out = paddle.matmul(half.reshape([-1, outs, in2]), paddle.unsqueeze(x2, -1)).squeeze(-1)
    return out if bias is None else out + bias


@accepts(axis="dim")
def cosine_similarity(x1, x2, axis=1, eps=1e-8):
    """x1 · x2 / max(|x1| |x2|, `eps`) along `axis`; the inputs broadcast, and `axis` disappears."""
    dot = paddle.sum(x1 * x2, axis=axis)
    squares = paddle.sum(x1 * x1, axis=axis) * paddle.sum(x2 * x2, axis=axis)
    return dot * paddle.rsqrt(paddle.clip(squares, min=eps * eps))


def label_smooth(label, prior_dist=None, epsilon=0.1, name=None):
    """(1 - `epsilon`) * label + `epsilon` * prior.

    Args:
        label (Tensor): one-hot or soft, [..., K].
        prior_dist (Tensor, optional): [1, K]; uniform when None.
        epsilon (float): in [0, 1].

    Raises:
        ValueError: `epsilon` is out of range.
    """
    if epsilon > 1.0 or epsilon < 0.0:
        raise ValueError("The value of epsilon must be between 0 and 1.")
    prior = 1.0 / label.shape[-1] if prior_dist is None else prior_dist
    return label * (1.0 - epsilon) + epsilon * prior


def class_center_sample(label, num_classes, num_samples, group=None):
    """Keeps the classes that occur in `label` and random others, up to `num_samples`.

    Args:
        label (Tensor): 1-D integers in [0, num_classes).
        num_classes (int): classes held by this process.
        num_samples (int): how many to keep at least.
        group: False or None for a single process.

    Returns:
        (remapped label, sampled classes sorted with the positive ones first).

    Raises:
        ValueError: more samples than classes, or a group of several processes.

    Source: An et al., 2021, Partial FC (https://arxiv.org/abs/2010.05222).
    """
    if num_samples > num_classes:
        raise ValueError(f"Expected num_samples less than or equal to {num_classes}, got num_samples {num_samples}")
    if group not in (None, False) and getattr(group, "nranks", 1) > 1:
        raise ValueError("[class_center_sample] sampling across processes is not supported")
    positive = paddle.unique(label)
    missing = max(num_samples - positive.shape[0], 0)
    taken = paddle.zeros([num_classes], "float32")
    taken = paddle.scatter(taken, positive, paddle.full([positive.shape[0]], 2.0, "float32"))
    order = paddle.argsort(taken + paddle.rand([num_classes]), descending=True)
    sampled = paddle.sort(order[positive.shape[0] : positive.shape[0] + missing])
    sampled = paddle.concat([positive, sampled.astype(positive.dtype)])
    remapped = paddle.searchsorted(positive, label).astype(label.dtype)
    return remapped, sampled
