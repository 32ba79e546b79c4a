"""A transformer's layer in two halves, each with its normalisation, dropout and residual."""

from __future__ import annotations

from paddle import nn
from paddle.nn.initializer import Constant
from paddle.nn.layer.transformer import _convert_attention_mask, _convert_param_attr_to_list

from . import functional as F  # noqa: N812

__all__ = []


def _positive(layer, **sizes):
    for name, size in sizes.items():
        if size <= 0:
            raise ValueError(f"[{layer}] expected {name} > 0, got {size}")


class FusedBiasDropoutResidualLayerNorm(nn.Layer):
    """layer_norm(residual + dropout(x + bias)) over the last axis.

    Args:
        embed_dim (int): its size.
        dropout_rate (float): of x + bias.
        weight_attr, bias_attr (ParamAttr | bool, optional): of the normalisation's scale, and of its and the first bias.
    """

    def __init__(self, embed_dim, dropout_rate=0.5, weight_attr=None, bias_attr=None, epsilon=1e-5, name=None):
        super().__init__()
        _positive(type(self).__name__, embed_dim=embed_dim)
        self.embed_dim, self.dropout_rate, self._epsilon, self.name = embed_dim, dropout_rate, epsilon, name
        self.linear_bias = self.create_parameter([embed_dim], bias_attr, is_bias=True)
        self.ln_scale = self.create_parameter([embed_dim], weight_attr, default_initializer=Constant(1.0))
        self.ln_bias = self.create_parameter([embed_dim], bias_attr, is_bias=True)

    def forward(self, x, residual):
        return F.fused_bias_dropout_residual_layer_norm(
            x, residual, self.linear_bias, self.ln_scale, self.ln_bias, self.dropout_rate, self._epsilon, self.training
        )

    def extra_repr(self):
        return f"embed_dim={self.embed_dim}, dropout_rate={self.dropout_rate}, epsilon={self._epsilon}"


class FusedMultiHeadAttention(nn.Layer):
    """Self-attention of several heads, as ``functional.fused_multi_head_attention``.

    Args:
        embed_dim, num_heads (int): the second divides the first.
        dropout_rate, attn_dropout_rate (float): of the result, and of the attention weights.
        kdim, vdim (int, optional): None, or `embed_dim`.
        normalize_before (bool): normalises what comes in, else what goes out.
        need_weights (bool): must be False.
        transpose_qkv_wb (bool): the first weight has shape [embed_dim, 3 embed_dim].
    """

    def __init__(
        self, embed_dim, num_heads, dropout_rate=0.5, attn_dropout_rate=0.5, kdim=None, vdim=None,
        normalize_before=False, need_weights=False, qkv_weight_attr=None, qkv_bias_attr=None, linear_weight_attr=None,
        linear_bias_attr=None, pre_ln_scale_attr=None, pre_ln_bias_attr=None, ln_scale_attr=None, ln_bias_attr=None,
        epsilon=1e-5, nranks=1, ring_id=-1, transpose_qkv_wb=False, name=None,
    ):  # fmt: skip
        super().__init__()
        layer = type(self).__name__
        _positive(layer, embed_dim=embed_dim, num_heads=num_heads)
        if embed_dim % num_heads:
            raise ValueError(f"[{layer}] expected num_heads to divide embed_dim, got {num_heads} and {embed_dim}")
        if need_weights or kdim not in (None, embed_dim) or vdim not in (None, embed_dim):
            raise NotImplementedError(f"[{layer}] only self-attention without its weights as a result is supported")
        if nranks > 1:
            raise NotImplementedError(f"[{layer}] nranks {nranks}: use fleet's parallel layers")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim, self.need_weights = kdim, vdim, need_weights
        self.normalize_before, self.transpose_qkv_wb = normalize_before, transpose_qkv_wb
        self.dropout_rate, self.attn_dropout_rate, self._epsilon = dropout_rate, attn_dropout_rate, epsilon
        self.name = name
        heads = [3, num_heads, self.head_dim]
        weight, bias = ([embed_dim, 3 * embed_dim], [3 * embed_dim]) if transpose_qkv_wb else ([*heads, embed_dim], heads)
        self.qkv_weight = self.create_parameter(weight, qkv_weight_attr)
        self.qkv_bias = self.create_parameter(bias, qkv_bias_attr, is_bias=True)
        self.linear_weight = self.create_parameter([embed_dim, embed_dim], linear_weight_attr)
        self.linear_bias = self.create_parameter([embed_dim], linear_bias_attr, is_bias=True)
        scale, shift = (pre_ln_scale_attr, pre_ln_bias_attr) if normalize_before else (ln_scale_attr, ln_bias_attr)
        self.pre_ln_scale = self.pre_ln_bias = self.ln_scale = self.ln_bias = None
        prefix = "pre_ln" if normalize_before else "ln"
        setattr(self, f"{prefix}_scale", self.create_parameter([embed_dim], scale, default_initializer=Constant(1.0)))
        setattr(self, f"{prefix}_bias", self.create_parameter([embed_dim], shift, is_bias=True))

    def forward(self, query, key=None, value=None, attn_mask=None, cache=None):
        """`query` [B, S, embed_dim]; `key` and `value` are None or the same."""
        if (key is not None and key is not query) or (value is not None and value is not query):
            raise NotImplementedError("[FusedMultiHeadAttention] only self-attention is supported: key and value are query")
        return F.fused_multi_head_attention(
            query, self.qkv_weight, self.linear_weight, self.normalize_before, self.pre_ln_scale, self.pre_ln_bias,
            self.ln_scale, self.ln_bias, self._epsilon, self.qkv_bias, self.linear_bias, cache,
            _convert_attention_mask(attn_mask, query.dtype), self.dropout_rate, self.attn_dropout_rate, self._epsilon,
            self.training, num_heads=self.num_heads, transpose_qkv_wb=self.transpose_qkv_wb,
        )  # fmt: skip

    def extra_repr(self):
        return (
            f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout_rate={self.dropout_rate}, "
            f"attn_dropout_rate={self.attn_dropout_rate}, epsilon={self._epsilon}, kdim={self.kdim}, vdim={self.vdim}, "
            f"normalize_before={self.normalize_before}, need_weights={self.need_weights}, dtype={self._dtype}"
        )


class FusedFeedForward(nn.Layer):
    """Two linear layers, as ``functional.fused_feedforward``.

    Args:
        d_model, dim_feedforward (int): sizes outside and inside.
        dropout_rate (float): of the result.
        act_dropout_rate (float, optional): after the activation; `dropout_rate` when None.
        normalize_before (bool): normalises what comes in, else what goes out.
    """

    def __init__(
        self, d_model, dim_feedforward, dropout_rate=0.1, epsilon=1e-5, activation="relu", act_dropout_rate=None,
        normalize_before=False, linear1_weight_attr=None, linear1_bias_attr=None, linear2_weight_attr=None,
        linear2_bias_attr=None, ln1_scale_attr=None, ln1_bias_attr=None, ln2_scale_attr=None, ln2_bias_attr=None,
        nranks=1, ring_id=-1, name=None,
    ):  # fmt: skip
        super().__init__()
        layer = type(self).__name__
        _positive(layer, d_model=d_model, dim_feedforward=dim_feedforward)
        if nranks > 1:
            raise NotImplementedError(f"[{layer}] nranks {nranks}: use fleet's parallel layers")
        self._d_model, self._dim_feedforward, self._epsilon, self._act_method = d_model, dim_feedforward, epsilon, activation
        self._dropout_rate = dropout_rate
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._normalize_before, self.name = normalize_before, name
        self._linear1_weight = self.create_parameter([d_model, dim_feedforward], linear1_weight_attr)
        self._linear1_bias = self.create_parameter([dim_feedforward], linear1_bias_attr, is_bias=True)
        self._linear2_weight = self.create_parameter([dim_feedforward, d_model], linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], linear2_bias_attr, is_bias=True)
        scale, shift = (ln1_scale_attr, ln1_bias_attr) if normalize_before else (ln2_scale_attr, ln2_bias_attr)
        self._ln1_scale = self._ln1_bias = self._ln2_scale = self._ln2_bias = None
        prefix = "_ln1" if normalize_before else "_ln2"
        setattr(self, f"{prefix}_scale", self.create_parameter([d_model], scale, default_initializer=Constant(1.0)))
        setattr(self, f"{prefix}_bias", self.create_parameter([d_model], shift, is_bias=True))

    def forward(self, src, cache=None):
        return F.fused_feedforward(
            src, self._linear1_weight, self._linear2_weight, self._linear1_bias, self._linear2_bias, self._ln1_scale,
            self._ln1_bias, self._ln2_scale, self._ln2_bias, self._act_dropout_rate, self._dropout_rate,
            self._act_method, self._epsilon, self._epsilon, self._normalize_before, self.training,
        )  # fmt: skip

    def extra_repr(self):
        return (
            f"d_model={self._d_model}, dim_feedforward={self._dim_feedforward}, dropout_rate={self._dropout_rate}, "
            f"epsilon={self._epsilon}, activation={self._act_method}, act_dropout_rate={self._act_dropout_rate}, "
            f"normalize_before={self._normalize_before}, dtype={self._dtype}"
        )


class FusedTransformerEncoderLayer(nn.Layer):
    """``FusedMultiHeadAttention`` and ``FusedFeedForward`` one behind the other.

    Args:
        d_model, nhead, dim_feedforward (int): sizes, see there.
        weight_attr, bias_attr (ParamAttr | bool | list, optional): for both parts, or one for each.
    """

    def __init__(
        self, d_model, nhead, dim_feedforward, dropout_rate=0.1, activation="relu", attn_dropout_rate=None,
        act_dropout_rate=None, normalize_before=False, weight_attr=None, bias_attr=None,
    ):  # fmt: skip
        super().__init__()
        _positive(type(self).__name__, d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        self.normalize_before = normalize_before
        weights, biases = _convert_param_attr_to_list(weight_attr, 2), _convert_param_attr_to_list(bias_attr, 2)
        self.fused_attn = FusedMultiHeadAttention(
            d_model, nhead, dropout_rate, dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before, qkv_weight_attr=weights[0], qkv_bias_attr=biases[0],
            linear_weight_attr=weights[0], linear_bias_attr=biases[0], pre_ln_scale_attr=weights[0],
            pre_ln_bias_attr=biases[0], ln_scale_attr=weights[0], ln_bias_attr=biases[0],
        )  # fmt: skip
        self.ffn = FusedFeedForward(
            d_model, dim_feedforward, dropout_rate, activation=activation, act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before, linear1_weight_attr=weights[1], linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1], linear2_bias_attr=biases[1], ln1_scale_attr=weights[1],
            ln1_bias_attr=biases[1], ln2_scale_attr=weights[1], ln2_bias_attr=biases[1],
        )  # fmt: skip

    def forward(self, src, src_mask=None, cache=None):
        """`src` [B, S, d_model]; with `cache` (the result, the new cache)."""
        out = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        if cache is None:
            return self.ffn(out)
        out, kept = out
        return self.ffn(out), kept
