"""paddle.sparse against NumPy, and against what official paddle 3.3.1 gives on a CPU where it has a kernel (written out here)."""

import numpy as np
import paddle
import pytest

sparse = paddle.sparse


def coo(**options):
    return sparse.sparse_coo_tensor([[0, 1, 1], [1, 0, 2]], [1.0, 2.0, 3.0], [2, 3], **options)


def other(**options):
    return sparse.sparse_coo_tensor([[0, 1, 1], [1, 1, 2]], [4.0, 5.0, 6.0], [2, 3], **options)


def parts(t):
    where = t.indices() if t.is_sparse_coo() else t.crows()
    return where.numpy().tolist(), t.values().numpy().astype("f8").round(4).tolist()


DENSE = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]], "float32")


def test_forms():
    x = coo()
    assert (x.shape, x.nnz(), x.is_sparse(), x.is_sparse_coo(), x.is_sparse_csr()) == ([2, 3], 3, True, True, False)
    np.testing.assert_array_equal(x.to_dense().numpy(), DENSE)
    c = x.to_sparse_csr()
    assert c.crows().numpy().tolist() == [0, 1, 3] and c.cols().numpy().tolist() == [1, 0, 2]
    np.testing.assert_array_equal(c.to_dense().numpy(), DENSE)
    np.testing.assert_array_equal(
        sparse.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [1.0, 2.0, 3.0], [2, 3]).numpy(), DENSE
    )
    dense = paddle.to_tensor(DENSE)
    assert parts(dense.to_sparse_coo(2)) == parts(x)
    assert parts(dense.to_sparse_csr()) == parts(c)
    batch = paddle.to_tensor(np.stack([DENSE, DENSE * 0, DENSE + 1])).to_sparse_csr()
    np.testing.assert_array_equal(batch.to_dense().numpy(), np.stack([DENSE, DENSE * 0, DENSE + 1]))
    twice = sparse.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0], [2, 3])
    assert not twice.is_coalesced() and parts(twice.coalesce()) == ([[0, 1], [1, 0]], [3.0, 3.0])
    hybrid = sparse.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]], [3, 2])
    np.testing.assert_array_equal(hybrid.numpy(), [[1, 2], [0, 0], [3, 4]])


def test_elementwise():
    x, y = coo(), other()
    union = [[0, 1, 1, 1], [1, 0, 1, 2]]
    assert parts(sparse.add(x, y)) == (union, [5.0, 2.0, 5.0, 9.0])
    assert parts(sparse.subtract(x, y)) == (union, [-3.0, 2.0, -5.0, -3.0])
    assert parts(sparse.multiply(x, y)) == (union, [4.0, 0.0, 0.0, 18.0])
    assert parts(sparse.add(x.to_sparse_csr(), y.to_sparse_csr())) == ([0, 1, 4], [5.0, 2.0, 5.0, 9.0])
    quotient = sparse.divide(x, y)
    assert quotient.nnz() == 6
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(quotient.numpy(), DENSE / y.numpy())
    for name in ("sin", "tanh", "square", "sqrt", "expm1", "log1p", "abs", "neg", "atan", "sinh", "asinh"):
        got = getattr(sparse, name)(x)
        want = getattr(np, {"neg": "negative", "atan": "arctan", "asinh": "arcsinh"}.get(name, name))(DENSE)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)
    np.testing.assert_allclose(sparse.pow(x, 2.0).numpy(), DENSE**2)
    np.testing.assert_allclose(sparse.rad2deg(x).numpy(), np.rad2deg(DENSE), rtol=1e-6)
    assert sparse.cast(x, "int32", "float64").values().dtype == paddle.float64
    assert sparse.is_same_shape(x, y) and not sparse.isnan(x).values().numpy().any()


def test_shapes():
    x = coo()
    assert parts(sparse.transpose(x, [1, 0])) == ([[1, 0, 2], [0, 1, 1]], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(sparse.reshape(x, [3, -1]).numpy(), DENSE.reshape(3, 2))
    np.testing.assert_array_equal(sparse.slice(x, [1], [1], [3]).numpy(), DENSE[:, 1:3])
    np.testing.assert_array_equal(sparse.sum(x, 0).numpy(), DENSE.sum(0))
    np.testing.assert_array_equal(sparse.sum(x, 1, keepdim=True).numpy(), DENSE.sum(1, keepdims=True))
    assert float(sparse.sum(x).to_dense()) == 6.0


def test_products():
    rng = np.random.default_rng(0)
    y, v = rng.normal(size=(3, 4)).astype("f4"), rng.normal(size=3).astype("f4")
    for x in (coo(), coo().to_sparse_csr()):
        np.testing.assert_allclose(sparse.matmul(x, paddle.to_tensor(y)).numpy(), DENSE @ y, rtol=1e-6)
        np.testing.assert_allclose(sparse.mv(x, paddle.to_tensor(v)).numpy(), DENSE @ v, rtol=1e-6)
        a, b = rng.normal(size=(2, 5)).astype("f4"), rng.normal(size=(5, 3)).astype("f4")
        masked = sparse.masked_matmul(paddle.to_tensor(a), paddle.to_tensor(b), x)
        np.testing.assert_allclose(masked.numpy(), (a @ b) * (DENSE != 0), rtol=1e-5)
        np.testing.assert_allclose(sparse.mask_as(paddle.to_tensor(a @ b), x).numpy(), (a @ b) * (DENSE != 0))
        c = rng.normal(size=(2, 4)).astype("f4")
        got = sparse.addmm(paddle.to_tensor(c), x, paddle.to_tensor(y), 0.5, 2.0)
        np.testing.assert_allclose(got.numpy(), 0.5 * c + 2 * DENSE @ y, rtol=1e-5)
    both = sparse.matmul(coo(), sparse.transpose(coo(), [1, 0]))
    np.testing.assert_allclose(both.numpy(), DENSE @ DENSE.T)


def test_layers():
    row = sparse.nn.functional.softmax(coo().to_sparse_csr())
    assert parts(row) == ([0, 1, 3], [1.0, 0.2689, 0.7311])
    x = sparse.neg(coo())
    assert (sparse.nn.ReLU()(x).values().numpy() == 0).all()
    np.testing.assert_allclose(sparse.nn.LeakyReLU(0.1)(x).numpy(), -0.1 * DENSE, rtol=1e-6)
    rng = np.random.default_rng(1)
    pixels = sparse.sparse_coo_tensor(
        [[0, 0], [0, 1], [0, 2], [0, 1]], rng.normal(size=(2, 2)).astype("f4"), [1, 4, 4, 4, 2]
    )
    dense = np.pad(pixels.numpy(), [(0, 0), (1, 1), (1, 1), (1, 1), (0, 0)])
    w = rng.normal(size=(3, 3, 3, 2, 3)).astype("f4")
    want = np.zeros([1, 4, 4, 4, 3])
    for i in np.ndindex(4, 4, 4):
        window = dense[0, i[0] : i[0] + 3, i[1] : i[1] + 3, i[2] : i[2] + 3]
        want[(0, *i)] = np.einsum("abcd,abcde->e", window, w)
    full = sparse.nn.functional.conv3d(pixels, paddle.to_tensor(w), padding=1)
    np.testing.assert_allclose(full.numpy(), want, rtol=1e-4, atol=1e-5)
    kept = sparse.nn.functional.subm_conv3d(pixels, paddle.to_tensor(w), padding=1)
    assert kept.nnz() == 2
    np.testing.assert_allclose(kept.values().numpy()[1], want[0, 1, 2, 1], rtol=1e-4, atol=1e-5)
    pooled = sparse.nn.MaxPool3D(2, 2)(pixels)
    assert pooled.shape == [1, 2, 2, 2, 2] and pooled.nnz() == 2
    norm = sparse.nn.BatchNorm(2)
    np.testing.assert_allclose(norm(pixels).values().numpy().mean(0), 0, atol=1e-5)
    assert sparse.nn.SubmConv3D(2, 3, 3, padding=1)(pixels).shape == [1, 4, 4, 4, 3]


def test_attention():
    rng = np.random.default_rng(2)
    q, k, v = (rng.normal(size=(1, 2, 4, 3)).astype("f4") for _ in range(3))
    layout = np.tril(np.ones([2, 4, 4], "f4"))
    mask = paddle.to_tensor(layout).to_sparse_csr()
    got = sparse.nn.functional.attention(*(paddle.to_tensor(t) for t in (q, k, v)), mask)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(3) + np.where(layout > 0, 0, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(got.numpy(), (e / e.sum(-1, keepdims=True)) @ v, rtol=1e-5, atol=1e-6)


def test_gradients():
    x, y = coo(stop_gradient=False), other(stop_gradient=False)
    sparse.multiply(x, y).to_dense().sum().backward()
    assert parts(x.grad) == ([[0, 1, 1], [1, 0, 2]], [4.0, 0.0, 6.0])
    m = paddle.ones([3, 2])
    m.stop_gradient = False
    x = coo(stop_gradient=False)
    (sparse.matmul(x, m) ** 2).sum().backward()
    np.testing.assert_allclose(m.grad.numpy(), DENSE.T @ (2 * DENSE @ np.ones([3, 2])))
    np.testing.assert_allclose(x.grad.values().numpy(), [4.0, 20.0, 20.0])


def test_bad_input():
    with pytest.raises(ValueError, match="minimum shape"):
        sparse.sparse_coo_tensor([[0, 9], [1, 0]], [1.0, 2.0], [2, 3])
    with pytest.raises(ValueError, match="same number"):
        sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0], [2, 3])
    with pytest.raises(ValueError, match="one shape"):
        sparse.add(coo(), sparse.sparse_coo_tensor([[0], [1]], [1.0], [3, 3]))
    with pytest.raises(TypeError, match="expected a sparse tensor"):
        sparse.sin(paddle.ones([2]))
    with pytest.raises(ValueError, match="expected a sparse tensor"):
        paddle.ones([2]).indices()
    with pytest.raises(RuntimeError):
        paddle.abs(coo())
    with pytest.raises(ValueError, match="crows"):
        sparse.sparse_csr_tensor([0, 1], [1], [1.0], [2, 3])


def test_weights_in_few_bits():
    quant = paddle.nn.quant
    w = np.random.default_rng(0).normal(size=(64, 32)).astype("f4")
    x = np.random.default_rng(1).normal(size=(3, 64)).astype("f4")
    for algo, top, shape in (("weight_only_int8", 127, [32, 64]), ("weight_only_int4", 7, [16, 64])):
        q, scale = quant.weight_quantize(paddle.to_tensor(w), algo)
        assert q.shape == shape and q.dtype == paddle.int8
        np.testing.assert_allclose(scale.numpy(), np.abs(w).max(0) / top, rtol=1e-6)
        back = quant.weight_dequantize(q, scale, algo)
        rounded = np.round(w / (np.abs(w).max(0) / top)) * (np.abs(w).max(0) / top)
        np.testing.assert_allclose(back.numpy(), rounded, rtol=1e-5, atol=1e-6)
        out = quant.weight_only_linear(paddle.to_tensor(x), q, None, scale, algo.rsplit("_", 1)[-1])
        np.testing.assert_allclose(out.numpy(), x @ rounded, rtol=1e-4, atol=1e-4)
    q, scale = quant.weight_quantize(paddle.to_tensor(w), "weight_only_int8", group_size=64)
    assert scale.shape == [1, 32]
    q, scale = quant.weight_quantize(paddle.to_tensor(w), "llm.int8")
    x[:, 5] *= 20  # an outlier, which keeps its precision
    got = quant.llm_int8_linear(paddle.to_tensor(x), q, None, scale, 6.0).numpy()
    assert np.abs(got - x @ w).max() < 0.02 * np.abs(x @ w).max()
    with pytest.raises(ValueError, match="algo"):
        quant.weight_quantize(paddle.to_tensor(w), "int3")


def test_printing_as_official():
    hybrid = paddle.to_tensor([[-2.0, 0.0], [1.0, 2.0]]).to_sparse_coo(1)
    head = "Tensor(shape=[2, 2], dtype=paddle.float32, place=Place(cpu), stop_gradient=True, \n       "
    assert str(hybrid) == head + "indices=[[0, 1]], \n       values=[[-2.,  0.],\n               [ 1.,  2.]])"
    assert f"{hybrid.to_dense().to_sparse_csr()}" == head + "crows=[0, 1, 3], \n       cols=[0, 0, 1], \n       values=[-2.,  1.,  2.])"
    assert isinstance(hybrid.shape, paddle.Size)


def test_sums_over_dense_axes_too():
    dense = np.arange(24).reshape(2, 3, 4) % 5 * 1.0
    for n in (1, 2, 3):
        x = paddle.to_tensor(dense).to_sparse_coo(n)
        for axis in (0, 1, 2, -1, [0, 1], [1, 2], None):
            for keep in (False, True):
                got = sparse.sum(x, axis, keepdim=keep).to_dense().numpy()
                want = dense.sum(tuple(axis) if isinstance(axis, list) else axis, keepdims=keep)
                np.testing.assert_array_equal(got.reshape(want.shape), want)
    rows = sparse.sum(paddle.to_tensor(dense[0]).to_sparse_csr(), -1)
    assert rows.is_sparse_csr() and rows.shape == [3, 1]
    assert sparse.sum(paddle.to_tensor(dense[0]).to_sparse_csr()).shape == [1, 1]


def test_submanifold_results_stand_where_the_elements_do():
    stream = np.random.RandomState(0)
    x = sparse.sparse_coo_tensor([[0, 0, 0, 0], [0, 0, 1, 2], [1, 3, 2, 3]], stream.randn(4, 2).astype("float32"), [1, 3, 4, 2])
    w = paddle.to_tensor(stream.randn(3, 3, 2, 3).astype("float32"))
    want = [-1.025, -1.78, -0.966, -2.23, 1.577, 0.222, -5.455, 2.242, -4.483, -2.481]  # official's
    for options in ({}, {"padding": 1}, {"stride": 2, "padding": 1}):
        y = sparse.nn.functional.subm_conv2d(x, w, **options)
        assert y.shape == [1, 3, 4, 3] and y.nnz() == 4
        np.testing.assert_allclose(y.to_dense().numpy().reshape(-1)[[3, 4, 5, 9, 10, 11, 18, 19, 20, 33]], want, atol=1e-3)
