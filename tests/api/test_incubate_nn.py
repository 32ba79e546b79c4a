"""paddle.incubate.nn.functional, paddle.tensor.top_p_sampling: against their formulas in NumPy."""

import numpy as np
import paddle
import paddle.incubate.nn.functional as IF  # noqa: N812
import pytest

RNG = np.random.default_rng(0)


def tensor(*shape):
    return paddle.to_tensor(RNG.standard_normal(shape).astype("float32"))


def test_norms():
    x, w, b, residual = tensor(2, 3, 4), tensor(4), tensor(4), tensor(2, 3, 4)
    out, total = IF.fused_rms_norm(x, w, b, 1e-5, 2, residual=residual)
    s = x.numpy() + residual.numpy()
    np.testing.assert_allclose(total.numpy(), s, rtol=1e-6)
    want = s / np.sqrt((s * s).mean(-1, keepdims=True) + 1e-5) * w.numpy() + b.numpy()
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-6)
    out, total = IF.fused_layer_norm(x, w, b, 1e-5, begin_norm_axis=2)
    want = paddle.nn.functional.layer_norm(x, [4], w, b)
    np.testing.assert_allclose(out.numpy(), want.numpy(), rtol=1e-6)
    assert total is None
    y, inverse = IF.fused_rms_norm_ext(x, w)
    np.testing.assert_allclose((x * inverse.unsqueeze(-1) * w).numpy(), y.numpy(), rtol=1e-6)


@pytest.mark.parametrize("pairs", [True, False])
def test_rotation_depends_on_distance_alone(pairs):
    q = paddle.expand(tensor(1, 1, 2, 8), [1, 6, 2, 8])
    k = paddle.expand(tensor(1, 1, 2, 8), [1, 6, 2, 8])
    a, b, none = IF.fused_rotary_position_embedding(q, k, use_neox_rotary_style=pairs)
    assert none is None
    products = np.einsum("nihd,njhd->hij", a.numpy(), b.numpy())[0]
    for shift in range(3):
        np.testing.assert_allclose(np.diag(products, shift), products[0, shift], rtol=1e-4, atol=1e-5)
    turned, *_ = IF.fused_rotary_position_embedding(
        q, position_ids=paddle.to_tensor([[5, 4, 3, 2, 1, 0]]), use_neox_rotary_style=pairs
    )
    np.testing.assert_allclose(turned.numpy(), a.numpy()[:, ::-1], rtol=1e-5)
    major, *_ = IF.fused_rotary_position_embedding(
        q.transpose([1, 0, 2, 3]), use_neox_rotary_style=pairs, time_major=True
    )
    np.testing.assert_allclose(major.numpy(), a.numpy().transpose(1, 0, 2, 3), rtol=1e-5)


def test_linear():
    x, w, b = tensor(2, 3), tensor(4, 3), tensor(4)
    want = x.numpy() @ w.numpy().T + b.numpy()
    np.testing.assert_allclose(IF.fused_linear(x, w, b, transpose_weight=True).numpy(), want, rtol=1e-5, atol=1e-6)
    layer = paddle.incubate.nn.FusedLinear(3, 4, transpose_weight=True)
    assert layer.weight.shape == [4, 3] and layer(x).shape == [2, 4]
    out = IF.fused_dropout_add(x, x, 0.5, training=False)
    np.testing.assert_allclose(out.numpy(), 2 * x.numpy(), rtol=1e-6)


def test_top_p_sampling():
    paddle.seed(1)
    p = paddle.expand(paddle.to_tensor([[0.1, 0.5, 0.05, 0.35]]), [4000, 4])
    value, index = paddle.tensor.top_p_sampling(p, paddle.full([4000], 0.8))
    drawn = index.numpy()[:, 0]
    assert set(drawn.tolist()) == {1, 3} and index.shape == [4000, 1]
    assert (drawn == 1).mean() == pytest.approx(0.5 / 0.85, abs=0.04)
    np.testing.assert_array_equal(value.numpy()[:, 0], np.where(drawn == 1, 0.5, 0.35).astype("float32"))
    only = paddle.tensor.top_p_sampling(p, paddle.full([4000], 0.0))[1]
    assert (only.numpy() == 1).all()
