"""Captured programs through the compiler: what is fused, and that numbers and gradients stay."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from paddle import nn


RANDOM = np.random.RandomState(0)


class RMSNorm(nn.Layer):
    def __init__(self, n):
        super().__init__()
        self.weight = self.create_parameter([n])

    def forward(self, x):
        return x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def test_rmsnorm_is_one_kernel():
    layer = paddle.jit.to_static(RMSNorm(48))
    x = RANDOM.randn(5, 48).astype("float32")
    w = RANDOM.randn(48).astype("float32")
    layer.weight.set_value(w)
    with paddle.no_grad():
        y = layer(paddle.to_tensor(x))
    np.testing.assert_allclose(y.numpy(), x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w, rtol=1e-5)
    text = layer.forward.main_program.compiled()
    assert text.count('"cinn_op.group"') == 1
    outside = [line for line in text.splitlines() if line.startswith("    (%")]
    assert {line.split('"')[1] for line in outside} <= {
        "pd_op.data", "builtin.parameter", "pd_op.full", "pd_op.full_int_array", "cinn_op.group",
    }  # fmt: skip


def test_rmsnorm_gradient():
    layer = paddle.jit.to_static(RMSNorm(6))
    x = RANDOM.randn(4, 6)
    g = RANDOM.randn(4, 6)
    t = paddle.to_tensor(x.astype("float32"), stop_gradient=False)
    (layer(t) * paddle.to_tensor(g.astype("float32"))).sum().backward()
    w = layer.weight.numpy().astype("float64")

    def loss(v):
        return (v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-6) * w * g).sum()

    expected = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = 1e-5
        expected[i] = (loss(x + d) - loss(x - d)) / 2e-5
    np.testing.assert_allclose(t.grad.numpy(), expected, rtol=1e-3, atol=1e-4)
    r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(layer.weight.grad.numpy(), (g * x * r).sum(0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["CINN", None])
def test_attention_block_trains(backend):
    class Block(nn.Layer):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(8, 24)
            self.norm = nn.LayerNorm(8)

        def forward(self, x):
            q, k, v = paddle.split(self.qkv(self.norm(x)), 3, axis=-1)
            scores = nn.functional.softmax(paddle.matmul(q, k, transpose_y=True) / 8**0.5, axis=-1)
            return x + nn.functional.gelu(paddle.matmul(scores, v))

    block = Block()
    x = RANDOM.randn(2, 5, 8).astype("float32")
    w = block.qkv.weight.numpy().astype("float64")
    direction = RANDOM.randn(*w.shape)
    f = paddle.jit.to_static(block, backend=backend)
    (f(paddle.to_tensor(x)) ** 2).mean().backward()
    slope = (block.qkv.weight.grad.numpy() * direction).sum()

    from math import erf

    def loss(weight):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        q, k, v = np.split((x - mean) / np.sqrt(var + 1e-5) @ weight, 3, axis=-1)
        s = q @ k.transpose(0, 2, 1) / 8**0.5
        s = np.exp(s - s.max(-1, keepdims=True))
        h = s / s.sum(-1, keepdims=True) @ v
        return ((x + h * 0.5 * (1 + np.vectorize(erf)(h / 2**0.5))) ** 2).mean()

    expected = (loss(w + 1e-4 * direction) - loss(w - 1e-4 * direction)) / 2e-4
    assert slope == pytest.approx(expected, rel=1e-3)
