"""LU, eigenvalues, complex solves against NumPy; gradients against finite differences."""

import numpy as np
import paddle
import pytest


def matrix(*shape, dtype="float64"):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape)).astype(dtype) if dtype.startswith("complex") else x.astype(dtype)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 3), (3, 5), (5, 5)])
def test_lu(shape):
    a = matrix(*shape)
    packed, pivots, infos = paddle.linalg.lu(paddle.to_tensor(a), get_infos=True)
    p, low, up = paddle.linalg.lu_unpack(packed, pivots)
    np.testing.assert_allclose((p @ low @ up).numpy(), a, atol=1e-12)
    assert infos.numpy().tolist() == np.zeros(shape[:-2], int).tolist() and pivots.dtype == paddle.int32


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
def test_lu_gradient(shape):
    a, w = matrix(*shape), matrix(*shape)[::-1].copy()

    def loss(x):
        return (paddle.linalg.lu(x)[0] ** 2 * paddle.to_tensor(w)).sum()

    t = paddle.to_tensor(a, stop_gradient=False)
    loss(t).backward()
    d = np.cos(np.arange(a.size)).reshape(shape)
    step = 1e-6
    want = (float(loss(paddle.to_tensor(a + step * d))) - float(loss(paddle.to_tensor(a - step * d)))) / (2 * step)
    assert float((t.grad.numpy() * d).sum()) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
def test_eig(n, dtype):
    a = matrix(2, n, n, dtype=dtype)
    w, v = paddle.linalg.eig(paddle.to_tensor(a))
    np.testing.assert_allclose(a @ v.numpy(), v.numpy() * w.numpy()[:, None], atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(v.numpy(), axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.sort_complex(w.numpy()), np.sort_complex(np.linalg.eigvals(a)), atol=1e-11)
    np.testing.assert_allclose(paddle.linalg.eigvals(paddle.to_tensor(a)).numpy(), w.numpy(), atol=1e-12)


def test_eig_of_difficult_matrices():
    for a in (np.zeros((3, 3)), np.eye(3), np.array([[0.0, 1], [0, 0]]), np.array([[0.0, -1], [1, 0]]),
              np.roll(np.eye(6), 1, 0)):  # fmt: skip
        w, v = (t.numpy() for t in paddle.linalg.eig(paddle.to_tensor(a)))
        np.testing.assert_allclose(a @ v, v * w, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_eig_gradient(dtype):
    a = matrix(4, 4, dtype=dtype)

    def loss(x):
        w, v = paddle.linalg.eig(x)
        return (w.abs() ** 2).sum() + (v.abs() ** 3).sum()

    t = paddle.to_tensor(a, stop_gradient=False)
    loss(t).backward()
    d, step = matrix(5, 4, 4, dtype=dtype)[4], 1e-6
    want = (float(loss(paddle.to_tensor(a + step * d))) - float(loss(paddle.to_tensor(a - step * d)))) / (2 * step)
    assert float(np.real(np.vdot(t.grad.numpy(), d))) == pytest.approx(want, rel=1e-5)


def test_hermitian():
    a = matrix(4, 4, dtype="complex128")
    a = a + a.conj().T
    w, v = (t.numpy() for t in paddle.linalg.eigh(paddle.to_tensor(a)))
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a), atol=1e-12)
    np.testing.assert_allclose(a @ v, v * w, atol=1e-12)
    assert w.dtype == np.float64


def test_complex_equations():
    a, b = matrix(3, 3, dtype="complex128"), matrix(3, 2, dtype="complex128")
    np.testing.assert_allclose(paddle.linalg.solve(*map(paddle.to_tensor, (a, b))).numpy(), np.linalg.solve(a, b))
    np.testing.assert_allclose(paddle.linalg.inv(paddle.to_tensor(a)).numpy(), np.linalg.inv(a))
    np.testing.assert_allclose(paddle.linalg.det(paddle.to_tensor(a)).numpy(), np.linalg.det(a))


def test_mode_counts_and_runs():
    x = paddle.to_tensor([[2.0, 1.0, 2.0, 1.0], [3.0, 5.0, 5.0, 4.0]], stop_gradient=False)
    values, index = paddle.mode(x)
    assert values.numpy().tolist() == [1.0, 5.0] and index.numpy().tolist() == [3, 2]
    values.sum().backward()
    assert x.grad.numpy().tolist() == [[0, 0, 0, 1], [0, 0, 1, 0]]
    assert paddle.bincount(paddle.to_tensor([0, 2, 2]), minlength=5).numpy().tolist() == [1, 0, 2, 0, 0]
    weighted = paddle.bincount(paddle.to_tensor([0, 2, 2]), paddle.to_tensor([0.5, 1.0, 2.0]))
    assert weighted.numpy().tolist() == [0.5, 0.0, 3.0]
    with pytest.raises(ValueError):
        paddle.bincount(paddle.to_tensor([-1, 2]))
    out, inverse, counts = paddle.unique_consecutive(
        paddle.to_tensor([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True
    )
    assert [t.numpy().tolist() for t in (out, inverse, counts)] == [[1, 2, 1], [0, 0, 1, 1, 2], [2, 2, 1]]


def test_zero_dimensional_reductions():
    x = paddle.to_tensor(0.5, stop_gradient=False)
    for f in (paddle.mean, paddle.max, paddle.min, paddle.amax, paddle.logsumexp, paddle.prod, paddle.sum):
        for axis in (0, -1, None):
            assert float(f(x, axis=axis)) == pytest.approx(0.5)
    paddle.mean(x, axis=0).backward()
    assert float(x.grad) == 1.0 and not x.grad.stop_gradient
