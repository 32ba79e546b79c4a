"""Functions and layers against NumPy, SciPy-free closed forms, and hand calculation."""

import itertools

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle import nn

rng = np.random.RandomState(0)


def draw(*shape):
    return rng.randn(*shape).astype("float32")


def t(array):
    return paddle.to_tensor(array)


def close(got, want, tol=2e-5):
    np.testing.assert_allclose(got.numpy(), want, rtol=tol, atol=tol)


def conv2d_reference(x, w, stride, pads, dilation, groups):
    (top, bottom), (left, right) = pads
    x = np.pad(x.astype("float64"), ((0, 0), (0, 0), (top, bottom), (left, right)))
    n, c, h, width = x.shape
    o, cg, kh, kw = w.shape
    oh, ow = (h - dilation * (kh - 1) - 1) // stride + 1, (width - dilation * (kw - 1) - 1) // stride + 1
    out = np.zeros((n, o, oh, ow))
    for f, i, j in itertools.product(range(o), range(oh), range(ow)):
        first = f // (o // groups) * cg
        patch = x[:, first : first + cg, i * stride : i * stride + dilation * (kh - 1) + 1 : dilation]
        patch = patch[:, :, :, j * stride : j * stride + dilation * (kw - 1) + 1 : dilation]
        out[:, f, i, j] = (patch * w[f]).sum((1, 2, 3))
    return out


@pytest.mark.parametrize(
    ("padding", "stride", "dilation", "groups", "pads"),
    [
        (0, 1, 1, 1, ((0, 0), (0, 0))),
        ([1, 2], 2, 1, 2, ((1, 1), (2, 2))),
        ([1, 0, 2, 1], 1, 2, 1, ((1, 0), (2, 1))),
        ([[0, 0], [0, 0], [1, 2], [0, 1]], 1, 1, 4, ((1, 2), (0, 1))),
        ("SAME", 2, 1, 1, ((1, 1), (0, 1))),
        ("VALID", 1, 1, 1, ((0, 0), (0, 0))),
    ],
)
def test_conv2d_paddings(padding, stride, dilation, groups, pads):
    x, w, b = draw(2, 4, 7, 8), draw(8, 4 // groups, 3, 3), draw(8)
    got = F.conv2d(t(x), t(w), t(b), stride, padding, dilation, groups)
    want = conv2d_reference(x, w, stride, pads, dilation, groups) + b[:, None, None]
    close(got, want, 1e-4)
    last = F.conv2d(
        t(x.transpose(0, 2, 3, 1).copy()), t(w), t(b), stride,
        [[0, 0], [1, 2], [0, 1], [0, 0]] if padding == [[0, 0], [0, 0], [1, 2], [0, 1]] else padding,
        dilation, groups, "NHWC",
    )  # fmt: skip
    close(last, want.transpose(0, 2, 3, 1), 1e-4)


def test_transposed_convolution_is_the_gradient():
    w = t(draw(5, 3, 3, 3))
    x = t(draw(2, 3, 8, 9))
    x.stop_gradient = False
    y = F.conv2d(x, w, stride=2, padding=1)
    g = t(draw(*y.shape))
    y.backward(g)
    close(F.conv2d_transpose(g, w, stride=2, padding=1, output_size=[8, 9]), x.grad.numpy(), 1e-4)
    with pytest.raises(ValueError):
        F.conv2d_transpose(g, w, stride=2, padding=1, output_size=[20, 9])


@pytest.mark.parametrize(
    ("mode", "numpy_mode"),
    [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap"), ("constant", "constant")],
)
def test_pad_takes_the_last_dimension_first(mode, numpy_mode):
    x = draw(2, 3, 4, 5)
    close(F.pad(t(x), [1, 2, 3, 0], mode=mode), np.pad(x, ((0, 0), (0, 0), (3, 0), (1, 2)), numpy_mode), 0)
    if mode != "reflect":  # 3 needs more than the 3 rows that NHWC has here
        want = np.pad(x, ((0, 0), (3, 0), (1, 2), (0, 0)), numpy_mode)
        close(F.pad(t(x), [1, 2, 3, 0], mode=mode, data_format="NHWC"), want, 0)


def test_pad_every_dimension_from_the_left():
    x = draw(2, 3)
    close(F.pad(t(x), [1, 2, 0, 1], value=7.0), np.pad(x, ((1, 2), (0, 1)), constant_values=7), 0)
    close(F.pad(t(x), [1, 2, 0, 1], pad_from_left_axis=False), np.pad(x, ((0, 1), (1, 2))), 0)


def test_pooling():
    x = t(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))
    assert F.max_pool2d(x, 2).tolist() == [[[[5, 7], [13, 15]]]]
    value, where = F.max_pool2d(x, 2, return_mask=True)
    assert where.tolist() == [[[[5, 7], [13, 15]]]]
    assert F.max_unpool2d(value, where, 2).numpy().ravel().nonzero()[0].tolist() == [5, 7, 13, 15]
    # The corner window of a padded pool holds 0, 1, 4, 5 and five zeros.
    assert F.avg_pool2d(x, 3, 3, 1, exclusive=True)[0, 0, 0, 0].item() == 2.5
    close(F.avg_pool2d(x, 3, 3, 1, exclusive=False)[0, 0, 0, 0], 10 / 9)
    assert F.adaptive_avg_pool2d(x, [1, 2]).tolist() == [[[[6.5, 8.5]]]]
    # Windows of 4 into 3: rows 0-1, 1-2, 2-3.
    assert F.adaptive_max_pool2d(x, [3, 1]).tolist() == [[[[7], [11], [15]]]]
    assert F.max_pool1d(t([[[1.0, 3.0, 2.0]]]), 2, 1).tolist() == [[[3, 3]]]


def test_interpolate():
    x = t(np.array([[[0.0, 1.0, 4.0]]], "float32"))
    assert F.interpolate(x, size=[5], mode="linear", align_corners=True, data_format="NCW").tolist() == [
        [[0, 0.5, 1, 2.5, 4]]
    ]
    close(F.interpolate(x, size=[6], mode="linear", data_format="NCW"), [[[0, 0.25, 0.75, 1.75, 3.25, 4]]])
    image = t(np.arange(4, dtype="float32").reshape(1, 1, 2, 2))
    assert F.interpolate(image, scale_factor=2)[0, 0].tolist() == [
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [2, 2, 3, 3],
        [2, 2, 3, 3],
    ]
    assert F.interpolate(image, size=[1, 1], mode="area").item() == 1.5
    constant = paddle.ones([1, 1, 3, 4])
    close(F.interpolate(constant, size=[7, 5], mode="bicubic"), np.ones((1, 1, 7, 5)))
    for bad in (
        {"mode": "foo", "size": [1, 1]},
        {},
        {"size": [1, 1], "scale_factor": 2},
        {"size": [2, 2], "align_corners": True},
    ):
        with pytest.raises(ValueError):
            F.interpolate(image, **bad)


def test_unfold_and_fold_are_transposes():
    x = t(np.arange(9, dtype="float32").reshape(1, 1, 3, 3))
    assert F.unfold(x, 2).tolist() == [[[0, 1, 3, 4], [1, 2, 4, 5], [3, 4, 6, 7], [4, 5, 7, 8]]]
    a, b = draw(2, 3, 5, 6), draw(2, 3 * 6, 12)
    left = (
        F.unfold(t(a), [2, 3], 2, [1, 1], 1).numpy() * b[:, :, : F.unfold(t(a), [2, 3], 2, [1, 1], 1).shape[2]]
    ).sum()
    count = F.unfold(t(a), [2, 3], 2, [1, 1], 1).shape[2]
    right = (F.fold(t(b[:, :, :count].copy()), [5, 6], [2, 3], 2, [1, 1], 1).numpy() * a).sum()
    np.testing.assert_allclose(left, right, rtol=1e-4)


def test_normalisations():
    x = draw(3, 4, 5)
    centred = x - x.mean(-1, keepdims=True)
    close(F.layer_norm(t(x), 5), centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5))
    g = x.reshape(3, 2, -1)
    g = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 1e-5)
    w, b = draw(4), draw(4)
    close(
        F.group_norm(t(x), 2, weight=t(w), bias=t(b), data_format="NCL"), g.reshape(x.shape) * w[:, None] + b[:, None]
    )
    close(F.instance_norm(t(x)), centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5))
    close(F.normalize(t(x), axis=1), x / np.linalg.norm(x, axis=1, keepdims=True))
    layer = nn.BatchNorm1D(4, momentum=0.75)
    mean, var = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
    close(layer(t(x)), (x - mean) / np.sqrt(var + 1e-5))
    close(layer._mean, 0.25 * mean.ravel())
    close(layer._variance, 0.75 + 0.25 * var.ravel())
    layer.eval()
    close(layer(t(x)), (x - 0.25 * mean) / np.sqrt(0.75 + 0.25 * var + 1e-5))
    with pytest.raises(ValueError):
        F.layer_norm(t(x), 4)


def test_group_norm_gradient_by_differences():
    x, g = draw(2, 4, 3).astype("float64"), draw(2, 4, 3).astype("float64")
    value = t(x)
    value.stop_gradient = False
    (F.group_norm(value, 2, data_format="NCL") * t(g)).sum().backward()
    d, eps = draw(2, 4, 3).astype("float64"), 1e-5
    plus, minus = ((F.group_norm(t(x + s * eps * d), 2, data_format="NCL").numpy() * g).sum() for s in (1, -1))
    np.testing.assert_allclose((value.grad.numpy() * d).sum(), (plus - minus) / (2 * eps), rtol=1e-6)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    q, k, v = draw(2, 3, 4, 8), draw(2, 5, 2, 8), draw(2, 5, 2, 8)
    mask = draw(2, 1, 3, 5)
    scores = np.einsum("bqhd,bkhd->bhqk", q, k.repeat(2, 2)) / np.sqrt(8) + mask
    if causal:
        scores = np.where(np.arange(5)[None] <= np.arange(3)[:, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    want = np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(-1, keepdims=True), v.repeat(2, 2))
    close(F.scaled_dot_product_attention(t(q), t(k), t(v), t(mask), is_causal=causal), want)


def test_packed_attention_equals_one_sequence_at_a_time():
    q, k, v = draw(7, 2, 4), draw(7, 2, 4), draw(7, 2, 4)
    cu = t(np.array([0, 3, 7], "int32"))
    got, _ = F.flash_attention.flash_attn_unpadded(t(q), t(k), t(v), cu, cu, 4, 4, 0.5, causal=True)
    for a, b in ((0, 3), (3, 7)):
        one = F.scaled_dot_product_attention(
            t(q[None, a:b]), t(k[None, a:b]), t(v[None, a:b]), is_causal=True, scale=0.5
        )
        close(got[a:b], one.numpy()[0])


def test_lstm_step_and_lengths():
    net = nn.LSTM(2, 3)
    x = t(draw(2, 4, 2))
    out, (h, c) = net(x, sequence_length=t(np.array([4, 2])))
    wi, wh = net.weight_ih_l0.numpy(), net.weight_hh_l0.numpy()
    bias = net.bias_ih_l0.numpy() + net.bias_hh_l0.numpy()
    sigmoid = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
    for row, length in ((0, 4), (1, 2)):
        hidden, cell = np.zeros(3), np.zeros(3)
        for step in range(length):
            i, f, g, o = np.split(x.numpy()[row, step] @ wi.T + hidden @ wh.T + bias, 4)
            cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
            hidden = sigmoid(o) * np.tanh(cell)
            close(out[row, step], hidden)
        close(h[0, row], hidden)
        close(c[0, row], cell)
    assert not out[1, 2:].numpy().any()


def test_dropout_modes():
    paddle.seed(0)
    x = paddle.ones([400, 400])
    y = F.dropout(x, 0.25).numpy()
    np.testing.assert_allclose(np.unique(y), [0, 1 / 0.75], rtol=1e-6)
    assert abs((y == 0).mean() - 0.25) < 0.01
    assert F.dropout(x, 0.25, training=False).numpy().all()
    close(F.dropout(x, 0.25, training=False, mode="downscale_in_infer"), np.full((400, 400), 0.75))
    rows = F.dropout(x, 0.5, axis=0).numpy()
    assert all(len(set(row)) == 1 for row in rows) and 0 < (rows[:, 0] == 0).sum() < 400
    for bad in ({"p": 1.5}, {"mode": "x"}, {"axis": 2}):
        with pytest.raises(ValueError):
            F.dropout(x, **bad)


def test_embedding_padding_and_small_helpers():
    weight = t(draw(4, 3))
    weight.stop_gradient = False
    out = F.embedding(t(np.array([[1, 2], [2, 2]])), weight, padding_idx=-3)
    assert not out[0, 0].numpy().any()
    out.sum().backward()
    assert weight.grad.numpy()[:, 0].tolist() == [0, 0, 3, 0]
    assert F.one_hot(t(np.array([2, 0])), 3).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert F.sequence_mask(t(np.array([1, 3]))).tolist() == [[1, 0, 0], [1, 1, 1]]
    close(F.label_smooth(t(np.array([[1.0, 0.0]], "float32")), epsilon=0.2), [[0.9, 0.1]])
    assert F.pixel_shuffle(t(np.arange(4, dtype="float32").reshape(1, 4, 1, 1)), 2).tolist() == [[[[0, 1], [2, 3]]]]
    soft = F.gumbel_softmax(t(draw(5, 4)), hard=True)
    assert sorted(np.unique(soft.numpy().round(4))) == [0, 1] and soft.sum().item() == 5


def test_grid_sample_of_the_identity_grid():
    x = draw(1, 2, 3, 4)
    theta = t(np.array([[[1, 0, 0], [0, 1, 0]]], "float32"))
    for corners in (True, False):
        grid = F.affine_grid(theta, [1, 2, 3, 4], corners)
        close(F.grid_sample(t(x), grid, align_corners=corners), x)
    outside = paddle.full([1, 1, 1, 2], 3.0)
    assert not F.grid_sample(t(x), outside).numpy().any()
    close(F.grid_sample(t(x), outside, padding_mode="border"), x[:, :, -1:, -1:])
