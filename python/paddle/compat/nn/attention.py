"""Attention with several heads, as PyTorch has it."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle import nn

from .functional import linear

__all__ = []


class MultiheadAttention(nn.Layer):
    """softmax(q k^T / sqrt(width)) v in several heads, with projections before and after.

    Args:
        embed_dim, num_heads (int): sizes. dropout (float): of the weights. bias (bool): of the projections.
        kdim, vdim (int, optional): sizes of keys and values.
        batch_first (bool): [batch, length, embed_dim] rather than [length, batch, embed_dim].

    Raises:
        ValueError: embed_dim is no multiple of num_heads. NotImplementedError: add_bias_kv or add_zero_attn.
    """

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
        vdim=None, batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"[MultiheadAttention] expected embed_dim in multiples of {num_heads}, got {embed_dim}")
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError("[MultiheadAttention] add_bias_kv and add_zero_attn are not available")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        uniform = nn.initializer.XavierUniform()

        def weight(rows, cols):
            return self.create_parameter([rows, cols], dtype=dtype, default_initializer=uniform)

        self.q_proj_weight, self.k_proj_weight = weight(embed_dim, embed_dim), weight(embed_dim, self.kdim)
        self.v_proj_weight, self.out_proj_weight = weight(embed_dim, self.vdim), weight(embed_dim, embed_dim)
        zeros = nn.initializer.Constant(0.0)
        self.in_proj_bias = self.create_parameter([3 * embed_dim], dtype=dtype, is_bias=True,
                                                  default_initializer=zeros) if bias else None  # fmt: skip
        self.out_proj_bias = self.create_parameter([embed_dim], dtype=dtype, is_bias=True,
                                                   default_initializer=zeros) if bias else None  # fmt: skip

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
        is_causal=False,
    ):  # fmt: skip
        """(attended, weights or None). Masks are True (or -inf) where nothing may be seen."""
        single = query.ndim == 2
        if single:
            query, key, value = (t.unsqueeze(0) for t in (query, key, value))
        elif not self.batch_first:
            query, key, value = (t.transpose([1, 0, 2]) for t in (query, key, value))
        biases = [None] * 3 if self.in_proj_bias is None else paddle.split(self.in_proj_bias, 3)
        weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        q, k, v = (self._heads(linear(t, w, b)) for t, w, b in zip((query, key, value), weights, biases))
        scores = paddle.matmul(q, k, transpose_y=True) * (self.embed_dim // self.num_heads) ** -0.5
        if attn_mask is not None:
            mask = self._additive(attn_mask, scores.dtype)
            scores = scores + (mask.reshape([-1, self.num_heads, *mask.shape[1:]]) if mask.ndim == 3 else mask)
        if key_padding_mask is not None:
            scores = scores + self._additive(key_padding_mask, scores.dtype).unsqueeze([1, 2])
        probabilities = F.softmax(scores, -1)
        dropped = F.dropout(probabilities, self.dropout, training=self.training)
        out = paddle.matmul(dropped, v).transpose([0, 2, 1, 3])
        out = linear(out.reshape([*out.shape[:2], self.embed_dim]), self.out_proj_weight, self.out_proj_bias)
        shown = None
        if need_weights:
            shown = probabilities.mean(1) if average_attn_weights else probabilities
        if single:
            return out.squeeze(0), None if shown is None else shown.squeeze(0)
        return out if self.batch_first else out.transpose([1, 0, 2]), shown

    def _heads(self, x):
        return x.reshape([*x.shape[:2], self.num_heads, self.embed_dim // self.num_heads]).transpose([0, 2, 1, 3])

    @staticmethod
    def _additive(mask, dtype):
        if mask.dtype != paddle.bool:
            return mask
        return paddle.where(mask, paddle.full([], float("-inf"), dtype), paddle.zeros([], dtype))
