"""Attention: softmax(q kᵀ * scale + mask) v.

Layout: [batch, sequence, heads, head size]. Source: Vaswani et al., 2017 (https://arxiv.org/abs/1706.03762).
"""

from __future__ import annotations

import math

import paddle
from paddle import _C_ops

from .activation import softmax
from .dropout import dropout as _dropout

__all__ = []


def attend(query, key, value, mask=None, dropout=0.0, causal=False, training=True, scale=None, gqa=True):
    """The definition of attention; see `scaled_dot_product_attention`.

    Args:
        mask (Tensor, optional): bool (True attends) or added to the scores; broadcasts to [B, H, S_q, S_k].

    Returns:
        (output [B, S_q, H, D], attention weights [B, H, S_q, S_k] before dropout, logsumexp of the scores [B, H, S_q]).
    """
    heads, kv_heads = query.shape[2], key.shape[2]
    if heads != kv_heads:
        if not gqa or heads % kv_heads != 0:
            raise ValueError(
                f"[scaled_dot_product_attention] {heads} query heads don't divide into {kv_heads} key heads"
            )
        key = paddle.repeat_interleave(key, heads // kv_heads, axis=2)
        value = paddle.repeat_interleave(value, heads // kv_heads, axis=2)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    q, k, v = (paddle.transpose(t, [0, 2, 1, 3]) for t in (query, key, value))
    scores = paddle.matmul(q * scale, k, transpose_y=True)
    if causal:
        row = paddle.arange(0, scores.shape[-2], dtype="int64").unsqueeze(1)
        ahead = paddle.arange(0, scores.shape[-1], dtype="int64").unsqueeze(0) > row
        scores = paddle.where(ahead, paddle.full([], -math.inf, scores.dtype), scores)
    if mask is not None:
        if mask.dtype == paddle.bool:
            scores = paddle.where(mask, scores, paddle.full([], -math.inf, scores.dtype))
        else:
            scores = scores + mask.astype(scores.dtype)
    weights = softmax(scores, axis=-1)
    used = _dropout(weights, dropout, training=training) if dropout else weights
    out = paddle.transpose(paddle.matmul(used, v), [0, 2, 1, 3])
    return out, weights, scores


def fused(query, key, value, mask=None, causal=False, scale=None):
    """`attend` without dropout, its output alone. Eager calls run the operator at once; programs hold the definition, which
    every reader of files knows, and the compiler puts the operator in its place."""
    if not paddle.in_dynamic_mode():
        return attend(query, key, value, mask, 0.0, causal, False, scale)[0]
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    rows, columns = query.shape[1], key.shape[1]
    if causal and rows != columns:  # to the operator the last query sees all keys; here the first sees the first
        seen, causal = paddle.tril(paddle.ones([rows, columns], "bool")), False
        if mask is None or mask.dtype == paddle.bool:
            mask = seen if mask is None else paddle.logical_and(mask, seen)
        else:
            mask = paddle.where(seen, mask, paddle.full([], -math.inf, mask.dtype))
    return _C_ops.attention(query, key, value, mask, scale, causal)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, training=True, backend=None, scale=None,
    enable_gqa=True, name=None,
):  # fmt: skip
    """softmax(q kᵀ * scale + mask) v.

    Args:
        query (Tensor): [B, S_q, H, D], or [S_q, H, D].
        key, value (Tensor): [B, S_k, H_kv, D].
        attn_mask (Tensor, optional): bool (True attends) or floating point (added); broadcasts to [B, H, S_q, S_k].
        dropout_p (float): of the attention weights, in training.
        is_causal (bool): query i does not see the keys after key i, however many there are of each.
        training (bool): whether dropout happens.
        backend (str, optional): accepted; every backend computes the same.
        scale (float, optional): 1 / sqrt(D) when None.
        enable_gqa (bool): allow H to be a multiple of H_kv.

    Returns:
        Tensor like `query` (with the last size of `value`).

    Raises:
        ValueError: shapes don't fit.
    """
    if len(query.shape) == 3:
        query, key, value = (t.unsqueeze(0) for t in (query, key, value))
        return scaled_dot_product_attention(
            query, key, value, attn_mask, dropout_p, is_causal, training, backend, scale, enable_gqa
        ).squeeze(0)
    if len(query.shape) != 4:
        raise ValueError(f"[scaled_dot_product_attention] expected 4-D query, key and value, got {list(query.shape)}")
    if (dropout_p and training) or (query.shape[2] != key.shape[2] and not enable_gqa):
        return attend(query, key, value, attn_mask, dropout_p, is_causal, training, scale, enable_gqa)[0]
    return fused(query, key, value, attn_mask, is_causal, scale)
