"""Normalisations with the bias and residual that come before them."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812

__all__ = []


def _before(x, bias, residual, alpha=1.0):
    """x + bias + alpha residual."""
    x = x if bias is None else x + bias
    return x if residual is None else x + (residual if alpha == 1.0 else residual * alpha)


def _quantised(out, scale, round_type, high, low):
    """int8 where a scale above 0 is given: round(out * scale * high), half to even (0) or away from zero (1)."""
    if scale <= 0:
        return out
    value = out.astype("float32") * (scale * high)
    value = paddle.round(value) if round_type == 0 else paddle.sign(value) * paddle.floor(paddle.abs(value) + 0.5)
    return value.clip(low, high).astype("int8")


def fused_rms_norm(
    x, norm_weight, norm_bias, epsilon, begin_norm_axis=1, bias=None, residual=None, quant_scale=-1,
    quant_round_type=0, quant_max_bound=0, quant_min_bound=0,
):  # fmt: skip
    """x / sqrt(mean(x^2) + epsilon) * norm_weight + norm_bias over the axes from `begin_norm_axis` on.

    Args:
        bias, residual (Tensor, optional): added to `x` first.
        quant_scale (float): above 0, the result is int8.

    Returns:
        (result, x + bias + residual; without `residual` the second is empty).
    """
    total = _before(x, bias, residual)
    wide = total.astype("float32") if total.dtype in (paddle.float16, paddle.bfloat16) else total
    axes = list(range(begin_norm_axis % len(x.shape), len(x.shape)))
    out = wide * paddle.rsqrt((wide * wide).mean(axes, keepdim=True) + epsilon)
    tail = x.shape[axes[0] :]
    out = out.astype(x.dtype) * norm_weight.reshape(tail)
    out = out if norm_bias is None else out + norm_bias.reshape(tail)
    out = _quantised(out, quant_scale, quant_round_type, quant_max_bound, quant_min_bound)
    return out, paddle.empty([0], x.dtype) if residual is None else total


def fused_rms_norm_ext(x, scale, epsilon=1e-5, name=None):
    """(x / sqrt(mean(x^2) + epsilon) * scale, 1 / sqrt(mean(x^2) + epsilon)) over the last axis."""
    wide = x.astype("float32") if x.dtype in (paddle.float16, paddle.bfloat16) else x
    inverse = paddle.rsqrt((wide * wide).mean(-1) + epsilon)
    return (wide * inverse.unsqueeze(-1)).astype(x.dtype) * scale, inverse


def fused_layer_norm(
    x, norm_weight, norm_bias, epsilon, residual_alpha=1.0, begin_norm_axis=1, bias=None, residual=None,
    quant_scale=-1, quant_round_type=0, quant_max_bound=0, quant_min_bound=0,
):  # fmt: skip
    """Layer normalisation of x + bias + residual_alpha residual; without weights only that sum.

    Returns:
        (result, the sum, its mean, 1 / sqrt(its variance + epsilon)), the last two as float32 vectors over what is not
        normalised; without `residual` the sum is empty. Without weights the result is the sum, and the vectors are empty.
    """
    total = _before(x, bias, residual, residual_alpha)
    rest = paddle.empty([0], x.dtype) if residual is None else total
    if norm_weight is None and norm_bias is None:
        return total, rest, paddle.empty([0], "float32"), paddle.empty([0], "float32")
    tail = x.shape[begin_norm_axis % len(x.shape) :]
    weight = None if norm_weight is None else norm_weight.reshape(tail)
    shift = None if norm_bias is None else norm_bias.reshape(tail)
    out = F.layer_norm(total, list(tail), weight, shift, epsilon)
    axes = list(range(x.ndim - len(tail), x.ndim))
    wide = total.astype("float32")
    mean = wide.mean(axes)
    inverse = paddle.rsqrt(wide.var(axes, unbiased=False) + epsilon)
    out = _quantised(out, quant_scale, quant_round_type, quant_max_bound, quant_min_bound)
    return out, rest, mean.flatten(), inverse.flatten()


def fused_bias_dropout_residual_layer_norm(
    x, residual, bias=None, ln_scale=None, ln_bias=None, dropout_rate=0.5, ln_epsilon=1e-5, training=True,
    mode="upscale_in_train", name=None,
):  # fmt: skip
    """layer_norm(residual + dropout(x + bias)) over the last axis."""
    y = F.dropout(x if bias is None else x + bias, dropout_rate, training=training, mode=mode)
    return F.layer_norm(residual + y, [x.shape[-1]], ln_scale, ln_bias, ln_epsilon)
