"""Rotary position embedding (Su et al., "RoFormer", 2021)."""

from __future__ import annotations

import paddle

__all__ = []


def _tables(length, width, base, pairs):
    """sin and cos [1, length, 1, width]: each angle twice, side by side (`pairs`) or half the width apart."""
    exponents = paddle.arange(0, width, 2, dtype="float32") / width
    angles = paddle.outer(paddle.arange(length, dtype="float32"), 1.0 / base**exponents)
    angles = paddle.repeat_interleave(angles, 2, axis=-1) if pairs else paddle.concat([angles, angles], -1)
    angles = angles.reshape([1, length, 1, width])
    return paddle.sin(angles), paddle.cos(angles)


def _rotated(x, sin, cos, pairs):
    if pairs:  # (x0, x1) to (-x1, x0)
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = paddle.stack([-odd, even], -1).reshape(x.shape)
    else:
        half = x.shape[-1] // 2
        turned = paddle.concat([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


def fused_rotary_position_embedding(
    q, k=None, v=None, sin=None, cos=None, position_ids=None, use_neox_rotary_style=True, time_major=False,
    rotary_emb_base=10000.0,
):  # fmt: skip
    """`q`, `k` and `v` (those given) turned by their positions.

    Args:
        q, k, v (Tensor): [batch, length, heads, width], or [length, batch, heads, width] with `time_major`.
        sin, cos (Tensor, optional): [1, positions, 1, width] or [positions, width]; of rotary_emb_base^(-2 i / width) by
            default.
        position_ids (Tensor, optional): [batch, length]; 0, 1 ... by default.
        use_neox_rotary_style (bool): neighbouring elements are turned together, rather than those half the width
            apart.

    Returns:
        (q, k, v) turned, None for those not given.

    Raises:
        ValueError: only one of `sin` and `cos`, or ranks that don't fit.
    """
    if (sin is None) != (cos is None):
        raise ValueError("[fused_rotary_position_embedding] expected both sin and cos, or none")
    if len(q.shape) != 4:
        raise ValueError(f"[fused_rotary_position_embedding] expected q of 4 dimensions, got {list(q.shape)}")
    length, width = q.shape[0 if time_major else 1], q.shape[-1]
    if sin is None:
        needed = length if position_ids is None else int(position_ids.max()) + 1
        sin, cos = _tables(needed, width, rotary_emb_base, use_neox_rotary_style)
    sin, cos = (t.reshape([-1, t.shape[-1]]) for t in (sin, cos))
    if position_ids is None:
        sin, cos = (t[:length].reshape([1, length, 1, width]) for t in (sin, cos))
    else:
        sin, cos = (paddle.gather(t, position_ids.reshape([-1]), axis=0) for t in (sin, cos))
        sin, cos = (t.reshape([*position_ids.shape, 1, width]) for t in (sin, cos))
    if time_major:
        sin, cos = sin.transpose([1, 0, 2, 3]), cos.transpose([1, 0, 2, 3])
    sin, cos = sin.astype(q.dtype), cos.astype(q.dtype)
    return tuple(None if t is None else _rotated(t, sin, cos, use_neox_rotary_style) for t in (q, k, v))
