"""The two halves of a transformer's layer, with the normalisation, dropout and residual around them."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812

from .norm import _quantised

__all__ = []

_ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "silu": F.silu, "swish": F.silu, "sigmoid": F.sigmoid, "tanh": F.tanh}


def _activation(op, name):
    if name not in _ACTIVATIONS:
        raise ValueError(f"[{op}] expected an activation among {', '.join(_ACTIVATIONS)}, got {name!r}")
    return _ACTIVATIONS[name]


def _normalised(x, scale, bias, epsilon):
    return F.layer_norm(x, [x.shape[-1]], scale, bias, epsilon)


def _projected(x, weight, bias, heads, transposed):
    """Queries, keys and values [B, S, heads, width] of x [B, S, D]."""
    if transposed:  # [D, 3 D]
        if heads <= 0:
            raise ValueError(f"[fused_multi_head_attention] expected num_heads > 0 with transpose_qkv_wb, got {heads}")
        sizes = [3, heads, weight.shape[1] // 3 // heads]
    else:  # [3, heads, width, D]
        sizes = weight.shape[:3]
        weight = weight.reshape([-1, weight.shape[-1]]).t()
    both = F.linear(x, weight, None if bias is None else bias.reshape([-1]))
    return paddle.unbind(both.reshape([0, 0, *sizes]), axis=2)


def fused_multi_head_attention(
    x, qkv_weight, linear_weight, pre_layer_norm=False, pre_ln_scale=None, pre_ln_bias=None, ln_scale=None, ln_bias=None,
    pre_ln_epsilon=1e-5, qkv_bias=None, linear_bias=None, cache_kv=None, attn_mask=None, dropout_rate=0.5,
    attn_dropout_rate=0.5, ln_epsilon=1e-5, training=True, mode="upscale_in_train", ring_id=-1, add_residual=True,
    num_heads=-1, transpose_qkv_wb=False, name=None,
):  # fmt: skip
    """Self-attention: x + dropout(attention(x) linear_weight + linear_bias), normalised afterwards, or x before.

    Args:
        x (Tensor): [B, S, D].
        qkv_weight (Tensor): [3, heads, D / heads, D]; [D, 3 D] with `transpose_qkv_wb`, which needs `num_heads`.
        linear_weight (Tensor): [D, D].
        pre_layer_norm (bool): x is normalised, by `pre_ln_scale` and `pre_ln_bias`; else the result, by the others.
        qkv_bias, linear_bias (Tensor, optional): [3, heads, D / heads] or [3 D], and [D].
        cache_kv (Tensor, optional): keys and values [2, B, heads, S0, D / heads] that stand before those of x.
        attn_mask (Tensor, optional): added to the scores [B, heads, S, S0 + S]; bool: True attends.
        add_residual (bool): False leaves ``x +`` away.

    Returns:
        The result [B, S, D]; with `cache_kv` (the result, the keys and values of all S0 + S).
    """
    source = _normalised(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    query, key, value = _projected(source, qkv_weight, qkv_bias, num_heads, transpose_qkv_wb)
    cache = None
    if cache_kv is not None:
        before = cache_kv.transpose([0, 1, 3, 2, 4])
        key, value = paddle.concat([before[0], key], 1), paddle.concat([before[1], value], 1)
        cache = paddle.stack([key, value]).transpose([0, 1, 3, 2, 4])
    out = F.scaled_dot_product_attention(query, key, value, attn_mask, attn_dropout_rate, False, training)
    out = F.linear(out.flatten(2), linear_weight, linear_bias)
    out = F.dropout(out, dropout_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    if not pre_layer_norm:
        out = _normalised(out, ln_scale, ln_bias, ln_epsilon)
    return out if cache is None else (out, cache)


def fused_feedforward(
    x, linear1_weight, linear2_weight, linear1_bias=None, linear2_bias=None, ln1_scale=None, ln1_bias=None,
    ln2_scale=None, ln2_bias=None, dropout1_rate=0.5, dropout2_rate=0.5, activation="relu", ln1_epsilon=1e-5,
    ln2_epsilon=1e-5, pre_layer_norm=False, training=True, mode="upscale_in_train", ring_id=-1, add_residual=True,
    name=None,
):  # fmt: skip
    """x + dropout(linear2(dropout(activation(linear1(x))))), normalised afterwards, or x before.

    Args:
        x (Tensor): [B, S, D].
        linear1_weight, linear2_weight (Tensor): [D, H] and [H, D].
        pre_layer_norm (bool): x is normalised, by `ln1_scale` and `ln1_bias`; else the result, by the others.
        activation (str): relu, gelu and the like.
        add_residual (bool): False leaves ``x +`` away.

    Raises:
        ValueError: another activation.
    """
    active = _activation("fused_feedforward", activation)
    inner = _normalised(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    inner = active(F.linear(inner, linear1_weight, linear1_bias))
    inner = F.dropout(inner, dropout1_rate, training=training, mode=mode)
    out = F.dropout(F.linear(inner, linear2_weight, linear2_bias), dropout2_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    return out if pre_layer_norm else _normalised(out, ln2_scale, ln2_bias, ln2_epsilon)


def fused_bias_act(
    x, bias=None, dequant_scales=None, shift=None, smooth=None, act_method="gelu", compute_dtype="default",
    quant_scale=-1, quant_round_type=0, quant_max_bound=0, quant_min_bound=0,
):  # fmt: skip
    """activation(x + bias); of "swiglu" and "geglu" the first half's activation times the second half.

    Args:
        dequant_scales (Tensor, optional): what each column of integers `x` is multiplied by first.
        shift, smooth (Tensor, optional): (result + shift) * smooth, per column.
        compute_dtype (str): the dtype of the result where `x` is integers: "fp16", "bf16" or "fp32".
        quant_scale (float): above 0, the result is int8.

    Raises:
        ValueError: another activation.
    """
    dtypes = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "default": x.dtype}
    x = x.astype(dtypes[compute_dtype])
    x = x if dequant_scales is None else x * dequant_scales.astype(x.dtype)
    x = x if bias is None else x + bias
    gated = {"swiglu": "silu", "geglu": "gelu"}.get(act_method)
    if gated:
        first, second = paddle.chunk(x, 2, axis=-1)
        out = _ACTIVATIONS[gated](first) * second
    else:
        out = _activation("fused_bias_act", act_method)(x)
    out = out if shift is None else out + shift
    out = out if smooth is None else out * smooth
    return _quantised(out, quant_scale, quant_round_type, quant_max_bound, quant_min_bound)
