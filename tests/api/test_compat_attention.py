"""compat.nn.MultiheadAttention with keys and values of its own, in NumPy; names and shapes are those of official paddle 3.3.1."""

import numpy as np
import paddle
import pytest
from paddle import compat


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def reference(m, x, heads, hidden):
    """x [B, L, D]; hidden [B, L] where True."""
    d = x.shape[-1]
    w, b = m.in_proj_weight.numpy(), m.in_proj_bias.numpy()
    q, k, v = (x @ w[i * d : (i + 1) * d].T + b[i * d : (i + 1) * d] for i in range(3))
    extra = 0
    if m.bias_k is not None:
        k, v = (np.concatenate([t, np.tile(p.numpy(), (len(x), 1, 1))], 1) for t, p in ((k, m.bias_k), (v, m.bias_v)))
        extra += 1
    if m.add_zero_attn:
        k, v = (np.concatenate([t, np.zeros([len(x), 1, d])], 1) for t in (k, v))
        extra += 1

    def split(t):
        return t.reshape(*t.shape[:2], heads, -1).swapaxes(1, 2)

    q, k, v = split(q), split(k), split(v)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(d // heads)
    mask = np.concatenate([hidden, np.zeros([len(x), extra], bool)], 1)
    p = softmax(np.where(mask[:, None, None], -np.inf, scores))
    out = (p @ v).swapaxes(1, 2).reshape(x.shape)
    return out @ m.out_proj.weight.numpy().T + m.out_proj.bias.numpy(), p.mean(1)


@pytest.mark.parametrize(("kv", "zero"), [(False, False), (True, False), (False, True), (True, True)])
def test_extra_keys(kv, zero):
    paddle.seed(3)
    m = compat.nn.MultiheadAttention(8, 2, add_bias_kv=kv, add_zero_attn=zero, batch_first=True)
    x = np.random.default_rng(0).normal(size=(2, 5, 8)).astype("f4")
    hidden = np.zeros([2, 5], bool)
    hidden[1, 3:] = True
    out, weights = m(*[paddle.to_tensor(x)] * 3, key_padding_mask=paddle.to_tensor(hidden))
    want, shown = reference(m, x, 2, hidden)
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights.numpy(), shown, rtol=1e-4, atol=1e-6)


def test_parameters():
    m = compat.nn.MultiheadAttention(8, 2, add_bias_kv=True)
    assert {n: list(p.shape) for n, p in m.named_parameters()} == {
        "in_proj_weight": [24, 8], "in_proj_bias": [24], "bias_k": [1, 1, 8], "bias_v": [1, 1, 8],
        "out_proj.weight": [8, 8], "out_proj.bias": [8],
    }  # fmt: skip
    m = compat.nn.MultiheadAttention(8, 2, kdim=4, vdim=6)
    assert [list(p.shape) for p in (m.q_proj_weight, m.k_proj_weight, m.v_proj_weight)] == [[8, 8], [8, 4], [8, 6]]
    out, _ = m(paddle.rand([3, 2, 8]), paddle.rand([5, 2, 4]), paddle.rand([5, 2, 6]))
    assert list(out.shape) == [3, 2, 8]
