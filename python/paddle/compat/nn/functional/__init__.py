"""Functions with the signatures of PyTorch."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812

from ....tensor._common import finish

__all__ = ["linear", "pad", "scaled_dot_product_attention", "softmax", "unfold"]


def linear(input, weight, bias=None):
    """input weight^T + bias, the weight [out, in]."""
    out = paddle.matmul(input, weight, transpose_y=True)
    return out if bias is None else out + bias


def pad(input, pad, mode="constant", value=0.0):
    """Padding pairs from the last axis to the first; "reflect", "replicate" and "circular" take 3 to 5 axes."""
    pairs = [int(p) for p in (pad.tolist() if isinstance(pad, paddle.Tensor) else pad)]
    if mode == "constant":
        return F.pad(input, pairs, mode="constant", value=value, pad_from_left_axis=False)
    missing = max(0, len(pairs) // 2 + 2 - input.ndim)
    x = input
    for _ in range(missing):
        x = x.unsqueeze(0)
    layout = {3: "NCL", 4: "NCHW", 5: "NCDHW"}[x.ndim]
    out = F.pad(x, pairs, mode=mode, data_format=layout)
    for _ in range(missing):
        out = out.squeeze(0)
    return out


def softmax(input, dim=None, dtype=None, *, out=None):
    """Softmax along `dim`; without it axis 0 of tensors with 0, 1 or 3 axes, else axis 1."""
    if dim is None:
        dim = 0 if input.ndim in (0, 1, 3) else 1
    return finish(F.softmax(input, axis=dim, dtype=dtype), out)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Every patch of an image as a column."""
    return F.unfold(input, kernel_size, stride, padding, dilation)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query key^T scale + mask) value, of [..., heads, length, width]."""
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = (paddle.repeat_interleave(t, times, axis=-3) for t in (key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = paddle.matmul(query, key, transpose_y=True) * scale
    if is_causal:
        rows, cols = scores.shape[-2:]
        allowed = paddle.tril(paddle.ones([rows, cols], "bool"))
        scores = paddle.where(allowed, scores, paddle.full([], float("-inf"), scores.dtype))
    if attn_mask is not None:
        if attn_mask.dtype == paddle.bool:
            scores = paddle.where(attn_mask, scores, paddle.full([], float("-inf"), scores.dtype))
        else:
            scores = scores + attn_mask
    weights = F.softmax(scores, -1)
    return paddle.matmul(F.dropout(weights, dropout_p) if dropout_p else weights, value)
