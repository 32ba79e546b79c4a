"""Attention with several heads, as PyTorch has it."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle import nn

from .functional import linear
from .linear import Linear

__all__ = []


class MultiheadAttention(nn.Layer):
    """softmax(q k^T / sqrt(width)) v in several heads, with projections before and after.

    Args:
        embed_dim, num_heads (int): sizes. dropout (float): of the weights. bias (bool): of the projections.
        kdim, vdim (int, optional): sizes of keys and values.
        batch_first (bool): [batch, length, embed_dim] rather than [length, batch, embed_dim].
        add_bias_kv (bool): a learnt key and value (`bias_k`, `bias_v`) behind the others.
        add_zero_attn (bool): a key and value of zeros behind these.

    Parameters: `in_proj_weight` [3 * embed_dim, embed_dim] and `in_proj_bias`, or one weight and bias each where keys or
    values have sizes of their own; `out_proj`.

    Raises:
        ValueError: embed_dim is no multiple of num_heads.
    """

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
        vdim=None, batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"[MultiheadAttention] expected embed_dim in multiples of {num_heads}, got {embed_dim}")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim, self.add_zero_attn = kdim or embed_dim, vdim or embed_dim, add_zero_attn
        uniform, zeros = nn.initializer.XavierUniform(), nn.initializer.Constant(0.0)

        def weight(rows, columns):
            return self.create_parameter([rows, columns], dtype=dtype, default_initializer=uniform)

        def bias_of(size):
            if not bias:
                return None
            return self.create_parameter([size], dtype=dtype, is_bias=True, default_initializer=zeros)

        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight, self.in_proj_bias = weight(3 * embed_dim, embed_dim), bias_of(3 * embed_dim)
        else:
            for name, size in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
                setattr(self, f"{name}_proj_weight", weight(embed_dim, size))
                setattr(self, f"{name}_proj_bias", bias_of(embed_dim))
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            normal = nn.initializer.XavierNormal()
            for name in ("bias_k", "bias_v"):
                shape = [1, 1, embed_dim]
                setattr(self, name, self.create_parameter(shape, dtype=dtype, default_initializer=normal))
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype=dtype)
        if bias:
            self.out_proj.bias.set_value(paddle.zeros_like(self.out_proj.bias))

    def _projected(self, query, key, value):
        if self.kdim == self.vdim == self.embed_dim:
            weights = paddle.split(self.in_proj_weight, 3)
            biases = [None] * 3 if self.in_proj_bias is None else paddle.split(self.in_proj_bias, 3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            biases = (self.q_proj_bias, self.k_proj_bias, self.v_proj_bias)
        return [linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases)]

    def _with_extra(self, k, v):
        """Keys and values [batch, length, embed_dim] with those that the layer itself adds, and how many these are."""
        extra = 0
        if self.bias_k is not None:
            k, v = (
                paddle.concat([t, paddle.expand(b, [t.shape[0], 1, self.embed_dim])], axis=1)
                for t, b in ((k, self.bias_k), (v, self.bias_v))
            )
            extra += 1
        if self.add_zero_attn:
            k, v = (paddle.concat([t, paddle.zeros([t.shape[0], 1, self.embed_dim], t.dtype)], axis=1) for t in (k, v))
            extra += 1
        return k, v, extra

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
        q, k, v = self._projected(query, key, value)
        k, v, extra = self._with_extra(k, v)
        q, k, v = (self._heads(t) for t in (q, k, v))
        scores = paddle.matmul(q, k, transpose_y=True) * (self.embed_dim // self.num_heads) ** -0.5
        if attn_mask is not None:
            mask = self._additive(attn_mask, scores.dtype, extra)
            scores = scores + (mask.reshape([-1, self.num_heads, *mask.shape[1:]]) if mask.ndim == 3 else mask)
        if key_padding_mask is not None:
            mask = self._additive(key_padding_mask, scores.dtype, extra)
            scores = scores + (mask.unsqueeze(0) if mask.ndim == 1 else mask).unsqueeze([1, 2])
        probabilities = F.softmax(scores, -1)
        dropped = F.dropout(probabilities, self.dropout, training=self.training)
        out = paddle.matmul(dropped, v).transpose([0, 2, 1, 3])
        out = self.out_proj(out.reshape([*out.shape[:2], self.embed_dim]))
        shown = None
        if need_weights:
            shown = probabilities.mean(1) if average_attn_weights else probabilities
        if single:
            return out.squeeze(0), None if shown is None else shown.squeeze(0)
        return out if self.batch_first else out.transpose([1, 0, 2]), shown

    def _heads(self, x):
        return x.reshape([*x.shape[:2], self.num_heads, self.embed_dim // self.num_heads]).transpose([0, 2, 1, 3])

    @staticmethod
    def _additive(mask, dtype, extra):
        """The mask as numbers to add; what the layer adds itself is always seen."""
        if mask.dtype == paddle.bool:
            mask = paddle.where(mask, paddle.full([], float("-inf"), dtype), paddle.zeros([], dtype))
        if not extra:
            return mask
        return paddle.concat([mask, paddle.zeros([*mask.shape[:-1], extra], mask.dtype)], axis=-1)
