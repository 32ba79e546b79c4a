"""paddle.compat: results as PyTorch documents them."""

import sys

import numpy as np
import paddle
import pytest
from paddle import compat


def test_extremes_and_medians():
    x = paddle.to_tensor([[0.2, 0.9, 0.5], [0.7, 0.1, 0.6]], stop_gradient=False)
    assert float(compat.max(x)) == pytest.approx(0.9)
    values, indices = compat.min(x, 1)
    np.testing.assert_allclose(values.numpy(), [0.2, 0.1], rtol=1e-6)
    assert indices.numpy().tolist() == [0, 1]
    values.sum().backward()
    assert x.grad.numpy().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert compat.max(x, dim=0, keepdim=True).values.shape == [1, 3]
    np.testing.assert_allclose(compat.max(x, paddle.full([2, 3], 0.6)).numpy().max(), 0.9, rtol=1e-6)
    y = paddle.to_tensor([[1.0, float("nan"), 3.0, 2.0], [4.0, 1.0, 3.0, 2.0]])
    middle = compat.nanmedian(y, 1)
    assert middle.values.numpy().tolist() == [2.0, 2.0] and middle.indices.numpy().tolist() == [3, 3]
    assert np.isnan(compat.median(y, 1).values.numpy()).tolist() == [True, False]
    assert compat.median(y, 1).indices.numpy().tolist() == [1, 3]


def test_splitting_and_order():
    x = paddle.arange(10)
    assert [p.shape for p in compat.split(x, 4)] == [[4], [4], [2]]
    assert [p.shape for p in compat.split(x, [1, 9])] == [[1], [9]]
    with pytest.raises(ValueError):
        compat.split(x, [1, 2])
    values, indices = compat.sort(paddle.to_tensor([3, 1, 2]), descending=True)
    assert values.numpy().tolist() == [3, 2, 1] and indices.numpy().tolist() == [0, 2, 1]
    _, inverse = compat.unique(paddle.to_tensor([[2, 1], [1, 2]]), return_inverse=True)
    assert inverse.numpy().tolist() == [[1, 0], [0, 1]]
    assert compat.equal(x, x) is True and compat.equal(x, x + 1) is False


def test_layers():
    layer = compat.nn.Linear(3, 2)
    x = paddle.rand([4, 3])
    np.testing.assert_allclose(
        layer(x).numpy(), x.numpy() @ layer.weight.numpy().T + layer.bias.numpy(), rtol=1e-5, atol=1e-6
    )
    image = paddle.ones([1, 1, 3, 3])
    assert float(compat.nn.AvgPool2D(3, 1, 1)(image)[0, 0, 0, 0]) == pytest.approx(4 / 9)
    assert float(compat.nn.AvgPool2D(3, 1, 1, count_include_pad=False)(image)[0, 0, 0, 0]) == pytest.approx(1)
    np.testing.assert_allclose(compat.nn.Softmax()(paddle.rand([2, 3, 4])).sum(0).numpy(), 1, rtol=1e-6)
    attention = compat.nn.MultiheadAttention(8, 2, batch_first=True)
    q = paddle.rand([2, 5, 8])
    out, weights = attention(q, q, q)
    assert out.shape == [2, 5, 8]
    np.testing.assert_allclose(weights.sum(-1).numpy(), 1, rtol=1e-5)
    hidden = paddle.to_tensor([[False] * 4 + [True]] * 2)
    assert float(attention(q, q, q, key_padding_mask=hidden)[1][..., 4].abs().max()) == 0
    padded = compat.nn.functional.pad(paddle.ones([2, 2]), [1, 0, 0, 2])
    assert padded.shape == [4, 3] and float(padded[0, 0]) == 0


def test_torch_stands_for_paddle():
    before = sys.modules.get("torch")
    with compat.use_torch_proxy_guard():
        import torch
        import torch.nn.functional as functional

        assert torch.sin is paddle.sin and functional.relu is paddle.nn.functional.relu
        with compat.use_torch_proxy_guard(enable=False):
            assert sys.modules.get("torch") is before
    assert sys.modules.get("torch") is before
