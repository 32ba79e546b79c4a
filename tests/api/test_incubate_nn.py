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
    out, total, mean, inverse = IF.fused_layer_norm(x, w, b, 1e-5, begin_norm_axis=2)
    want = paddle.nn.functional.layer_norm(x, [4], w, b)
    np.testing.assert_allclose(out.numpy(), want.numpy(), rtol=1e-6)
    assert total.shape == [0] and mean.shape == inverse.shape == [6]
    np.testing.assert_allclose(mean.numpy(), x.numpy().mean(-1).reshape(-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(inverse.numpy(), (x.numpy().var(-1) + 1e-5).reshape(-1) ** -0.5, rtol=1e-5)
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


def _standardised(x, scale, shift):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


@pytest.mark.parametrize("before", [True, False])
def test_attention(before):
    """Against the formula: softmax(q k^T / sqrt(width) + mask) v per head, projected, added, normalised."""
    layer = paddle.incubate.nn.FusedMultiHeadAttention(6, 2, 0.0, 0.0, normalize_before=before)
    for p in layer.parameters():
        p.set_value(RNG.standard_normal(p.shape).astype("float32"))
    x, mask = RNG.standard_normal((2, 4, 6)), np.tril(np.ones((4, 4), bool))
    w = {k: p.numpy().astype("float64") for k, p in layer.named_parameters()}
    ln = (w["pre_ln_scale"], w["pre_ln_bias"]) if before else (w["ln_scale"], w["ln_bias"])
    q, k, v = np.einsum("bsd,chwd->cbhsw", _standardised(x, *ln) if before else x, w["qkv_weight"]) + (
        w["qkv_bias"][:, None, :, None]
    )
    scores = np.where(mask, np.einsum("bhsw,bhtw->bhst", q, k) / np.sqrt(3), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    heads = np.einsum("bhst,bhtw->bshw", weights / weights.sum(-1, keepdims=True), v).reshape(2, 4, 6)
    want = x + heads @ w["linear_weight"] + w["linear_bias"]
    want = want if before else _standardised(want, *ln)
    t = paddle.to_tensor(x.astype("float32"))
    allowed = paddle.to_tensor(mask)
    np.testing.assert_allclose(layer(t, attn_mask=allowed).numpy(), want, rtol=1e-4, atol=1e-4)
    # What a cache holds stands before: the last two positions alone, after the first two.
    cache = paddle.zeros([2, 2, 2, 0, 3])
    first, cache = layer(t[:, :2], attn_mask=allowed[:2, :2], cache=cache)
    last, cache = layer(t[:, 2:], attn_mask=allowed[2:], cache=cache)
    assert cache.shape == [2, 2, 2, 4, 3]
    np.testing.assert_allclose(paddle.concat([first, last], 1).numpy(), want, rtol=1e-4, atol=1e-4)
    flat = IF.fused_multi_head_attention(
        t, layer.qkv_weight.reshape([18, 6]).t(), layer.linear_weight, before, layer.pre_ln_scale, layer.pre_ln_bias,
        layer.ln_scale, layer.ln_bias, 1e-5, layer.qkv_bias.flatten(), layer.linear_bias, attn_mask=allowed,
        dropout_rate=0.0, attn_dropout_rate=0.0, num_heads=2, transpose_qkv_wb=True,
    )  # fmt: skip
    np.testing.assert_allclose(flat.numpy(), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("before", [True, False])
def test_feed_forward(before):
    layer = paddle.incubate.nn.FusedFeedForward(4, 8, 0.0, activation="relu", normalize_before=before)
    for p in layer.parameters():
        p.set_value(RNG.standard_normal(p.shape).astype("float32"))
    w = {k: p.numpy().astype("float64") for k, p in layer.named_parameters()}
    ln = (w["_ln1_scale"], w["_ln1_bias"]) if before else (w["_ln2_scale"], w["_ln2_bias"])
    x = RNG.standard_normal((2, 3, 4))
    inner = np.maximum((_standardised(x, *ln) if before else x) @ w["_linear1_weight"] + w["_linear1_bias"], 0)
    want = x + inner @ w["_linear2_weight"] + w["_linear2_bias"]
    want = want if before else _standardised(want, *ln)
    np.testing.assert_allclose(layer(paddle.to_tensor(x.astype("float32"))).numpy(), want, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="activation"):
        paddle.incubate.nn.FusedFeedForward(4, 8, activation="none")(tensor(2, 3, 4))


def test_encoder_layer_drops_in_training_alone():
    layer = paddle.incubate.nn.FusedTransformerEncoderLayer(4, 2, 8, dropout_rate=0.5)
    x = tensor(2, 3, 4)
    paddle.seed(0)
    assert not np.array_equal(layer(x).numpy(), layer(x).numpy())
    layer.eval()
    want = layer.ffn(layer.fused_attn(x))
    np.testing.assert_array_equal(layer(x).numpy(), want.numpy())
    (layer(x) ** 2).sum().backward()
    assert all(p.grad is not None for p in layer.parameters())


def test_bias_and_activation():
    x, b = tensor(2, 6), tensor(6)
    s = x.numpy() + b.numpy()
    np.testing.assert_allclose(IF.fused_bias_act(x, b, act_method="relu").numpy(), np.maximum(s, 0), rtol=1e-6)
    want = s[:, :3] / (1 + np.exp(-s[:, :3])) * s[:, 3:]
    np.testing.assert_allclose(IF.fused_bias_act(x, b, act_method="swiglu").numpy(), want, rtol=1e-5)
    whole = paddle.to_tensor([[2, -3]], dtype="int32")
    out = IF.fused_bias_act(whole, dequant_scales=paddle.to_tensor([0.5, 2.0]), act_method="relu", compute_dtype="fp32")
    np.testing.assert_allclose(out.numpy(), [[1.0, 0.0]])
