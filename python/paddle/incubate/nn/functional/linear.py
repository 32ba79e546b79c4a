"""Products with what follows them."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812

__all__ = []


def fused_matmul_bias(x, y, bias=None, transpose_x=False, transpose_y=False, name=None):
    """x y + bias."""
    out = paddle.matmul(x, y, transpose_x, transpose_y)
    return out if bias is None else out + bias


def fused_linear(x, weight, bias=None, transpose_weight=False, name=None):
    """x weight + bias, the weight [in, out], or [out, in] with `transpose_weight`."""
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


def fused_linear_activation(x, y, bias, trans_x=False, trans_y=False, activation=None):
    """``fused_matmul_bias`` and "gelu" or "relu".

    Raises:
        ValueError: another activation.
    """
    out = fused_matmul_bias(x, y, bias, trans_x, trans_y)
    if activation in (None, "", "none"):
        return out
    if activation not in ("gelu", "relu"):
        raise ValueError(f"[fused_linear_activation] expected activation 'gelu', 'relu' or None, got {activation!r}")
    return F.gelu(out) if activation == "gelu" else F.relu(out)


def fused_dropout_add(x, y, p=0.5, training=True, mode="upscale_in_train", name=None):
    """dropout(x) + y."""
    return F.dropout(x, p, training=training, mode=mode) + y
