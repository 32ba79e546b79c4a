"""Linear layers with weights in 8 or 4 bits.

A weight [K, N] is kept as int8 [N, K] (two rows of 4 bits in one of int8 [N / 2, K]: the even one in the low bits), with the
scale of each output channel, or of each group of `group_size` inputs of it. Official Paddle arranges the bytes for the
tensor cores of an `arch`; here they stand in their order, whatever `arch` is, so bytes don't interchange, scales do.
"""

from __future__ import annotations

import paddle

from .. import functional as F

__all__ = []

_BITS = {"weight_only_int8": 8, "llm.int8": 8, "weight_only_int4": 4}


def _bits(op, algo):
    if algo not in _BITS:
        raise ValueError(f"[{op}] expected algo {', '.join(_BITS)}, got {algo!r}")
    return _BITS[algo]


def _groups(op, group_size, k):
    if group_size not in (-1, 64, 128):
        raise ValueError(f"Currently group_size only support -1/64/128, but got {group_size} ")
    if group_size != -1 and k % group_size:
        raise ValueError(f"[{op}] expected {k} inputs to be groups of {group_size}")
    return 1 if group_size == -1 else k // group_size


def weight_quantize(x, algo="weight_only_int8", arch=None, group_size=-1):
    """A weight in few bits.

    Args:
        x (Tensor): [K, N], floating-point.
        algo (str): "weight_only_int8", "weight_only_int4" or "llm.int8".
        arch (int, optional): has no effect.
        group_size (int): how many inputs share a scale: -1 for all, 64 or 128.

    Returns:
        (int8 [N, K], or [N / 2, K] for 4 bits; the scales [N], or [K / group_size, N]: float32 for "llm.int8", else of x's
        dtype).

    Raises:
        ValueError: an unknown `algo` or `group_size`, or sizes that don't fit.
    """
    bits = _bits("weight_quantize", algo)
    if x.ndim != 2:
        raise ValueError(f"[weight_quantize] expected a matrix, got shape {list(x.shape)}")
    k, n = x.shape
    groups = _groups("weight_quantize", group_size, k)
    top = 2 ** (bits - 1) - 1
    w = x.astype("float32").reshape([groups, k // groups, n])
    scale = paddle.max(paddle.abs(w), axis=1) / top  # [groups, N]
    safe = paddle.where(scale > 0, scale, paddle.ones_like(scale)).unsqueeze(1)
    q = paddle.clip(paddle.round(w / safe), -top, top).reshape([k, n]).transpose([1, 0])
    if bits == 4:
        if n % 2:
            raise ValueError(f"[weight_quantize] expected an even number of output channels for 4 bits, got {n}")
        pairs = q.astype("int32").reshape([n // 2, 2, k])
        byte = (pairs[:, 1] & 15) * 16 + (pairs[:, 0] & 15)
        q = paddle.where(byte > 127, byte - 256, byte)
    scale = scale if group_size != -1 else scale.reshape([n])
    return q.astype("int8"), scale if algo == "llm.int8" else scale.astype(x.dtype)


def weight_dequantize(x, scale, algo="weight_only_int8", out_dtype=None, group_size=-1):
    """The inverse of `weight_quantize`, but for what rounding lost: [K, N] in `out_dtype` (the scales' by default).

    Raises:
        ValueError: an unknown `algo` or `group_size`, or sizes that don't fit.
    """
    bits = _bits("weight_dequantize", algo)
    q = x.astype("int32")
    if bits == 4:
        low, high = (paddle.where(v > 7, v - 16, v) for v in (q & 15, (q >> 4) & 15))
        q = paddle.stack([low, high], axis=1).reshape([-1, x.shape[1]])
    n, k = q.shape
    groups = _groups("weight_dequantize", group_size, k)
    w = q.astype("float32").transpose([1, 0]).reshape([groups, k // groups, n])
    w = w * scale.astype("float32").reshape([groups, 1, n])
    return w.reshape([k, n]).astype(out_dtype or scale.dtype)


def weight_only_linear(x, weight, bias=None, weight_scale=None, weight_dtype="int8", arch=None, group_size=-1):
    """x times a weight of `weight_quantize`, plus a bias; computed in x's dtype.

    Args:
        x (Tensor): [..., K].
        weight (Tensor): int8 [N, K], or [N / 2, K] with `weight_dtype` "int4".
        bias (Tensor, optional): [N].
        weight_scale (Tensor): of `weight_quantize`.
        weight_dtype (str): "int8" or "int4".
        arch (int, optional): has no effect.
        group_size (int): as in `weight_quantize`.

    Raises:
        ValueError: no scales, or sizes that don't fit.
    """
    if weight_scale is None:
        raise ValueError("[weight_only_linear] expected weight_scale, the scales of weight_quantize")
    if weight_dtype not in ("int8", "int4"):
        raise ValueError(f"[weight_only_linear] expected weight_dtype 'int8' or 'int4', got {weight_dtype!r}")
    w = weight_dequantize(weight, weight_scale, f"weight_only_{weight_dtype}", x.dtype, group_size)
    return F.linear(x, w, bias)


def llm_int8_linear(x, weight, bias=None, weight_scale=None, threshold=6.0):
    """x times an 8-bit weight, plus a bias. Inputs beyond `threshold` go through floating-point, the others are rounded to 8
    bits row by row.

    Source: Dettmers et al., 2022 (LLM.int8()).

    Args:
        x (Tensor): [..., K].
        weight (Tensor): int8 [N, K] of ``weight_quantize(algo="llm.int8")``.
        bias (Tensor, optional): [N].
        weight_scale (Tensor): float32 [N].
        threshold (float): from what magnitude on an input's channel is an outlier.
    """
    if weight_scale is None:
        raise ValueError("[llm_int8_linear] expected weight_scale, the scales of weight_quantize")
    flat = x.reshape([-1, x.shape[-1]]).astype("float32")
    outlier = paddle.max(paddle.abs(flat), axis=0) > threshold  # [K]
    zeros = paddle.zeros_like(flat)
    usual = paddle.where(outlier, zeros, flat)
    top = paddle.max(paddle.abs(usual), axis=1, keepdim=True) / 127.0
    safe = paddle.where(top > 0, top, paddle.ones_like(top))
    q = weight.astype("float32").transpose([1, 0])  # products of integers below 2**24 are exact
    scale = weight_scale.astype("float32")
    out = paddle.matmul(paddle.round(usual / safe), q) * top * scale
    out = out + paddle.matmul(paddle.where(outlier, flat, zeros), q * scale)
    out = out.astype(x.dtype).reshape([*x.shape[:-1], weight.shape[0]])
    return out if bias is None else out + bias


def apply_per_channel_scale(x, scales):
    """x [..., K] times one factor per channel [K]."""
    return x * scales
