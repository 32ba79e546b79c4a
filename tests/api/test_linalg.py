"""paddle.linalg against NumPy; gradients against central differences in float64."""

import numpy as np
import paddle
import pytest
from paddle import linalg

RNG = np.random.default_rng(1)


def t(a, **options):
    return paddle.to_tensor(a, **options)


def close(got, want, tol=1e-6):
    np.testing.assert_allclose(np.asarray(got.numpy()), want, rtol=tol, atol=tol)


def positive(*batch, n=4):
    a = RNG.normal(size=(*batch, n, n))
    return a @ a.swapaxes(-1, -2) + n * np.eye(n)


def check_gradient(f, x, tol=1e-5):
    """A random direction through df/dx, against (f(x + h d) - f(x - h d)) / 2h."""
    leaf = t(x, stop_gradient=False)
    out = f(leaf)
    weight = t(RNG.normal(size=out.shape))
    (out * weight).sum().backward()
    d, h = RNG.normal(size=x.shape), 1e-6
    high, low = (float((f(t(x + s * h * d)) * weight).sum()) for s in (1, -1))
    slope = (high - low) / (2 * h)
    assert abs(float((leaf.grad.numpy() * d).sum()) - slope) <= tol * max(1.0, abs(slope))


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_factors_multiply_back(batch):
    x = RNG.normal(size=(*batch, 5, 3))
    for a in (x, x.swapaxes(-1, -2)):
        for full in (False, True):
            u, s, vh = linalg.svd(t(a), full_matrices=full)
            wu, ws, wv = np.linalg.svd(a, full_matrices=full)
            assert u.shape == list(wu.shape) and vh.shape == list(wv.shape)
            close(s, ws)
            k = s.shape[-1]
            close(u[..., :k] * s.unsqueeze(-2) @ vh[..., :k, :], a)
            close(u.mT @ u, np.broadcast_to(np.eye(u.shape[-1]), (*batch, u.shape[-1], u.shape[-1])))
            close(vh @ vh.mT, np.broadcast_to(np.eye(vh.shape[-2]), (*batch, vh.shape[-2], vh.shape[-2])))
        for mode in ("reduced", "complete"):
            q, r = linalg.qr(t(a), mode)
            wq, wr = np.linalg.qr(a, mode)
            close(q, wq), close(r, wr)
    s = positive(*batch)
    w, v = linalg.eigh(t(s))
    close(w, np.linalg.eigvalsh(s)), close(v * w.unsqueeze(-2) @ v.mT, s)
    close(linalg.cholesky(t(s)), np.linalg.cholesky(s))
    close(linalg.cholesky(t(s), upper=True), np.linalg.cholesky(s).swapaxes(-1, -2))


def test_a_matrix_of_low_rank():
    a = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
    u, s, vh = linalg.svd(t(a))
    close(s, [np.linalg.norm(a), 0]), close(u * s @ vh, a), close(u.T @ u, np.eye(2))
    assert linalg.matrix_rank(t(a)).item() == 1
    close(linalg.pinv(t(a), rcond=1e-10), np.linalg.pinv(a))
    close(linalg.svd(paddle.zeros([2, 2], "float64"))[1], [0, 0])


def test_equations():
    a, b = positive(2), RNG.normal(size=(2, 4, 3))
    close(linalg.solve(t(a), t(b)), np.linalg.solve(a, b))
    close(linalg.solve(t(a[0]), t(b[0, :, 0])), np.linalg.solve(a[0], b[0, :, 0]))
    close(linalg.solve(t(a[0]), t(b)), np.linalg.solve(a[0], b))
    close(linalg.inv(t(a)), np.linalg.inv(a)), close(paddle.inverse(t(a)), np.linalg.inv(a))
    close(linalg.det(t(a)), np.linalg.det(a)), close(linalg.slogdet(t(-a)), np.stack(np.linalg.slogdet(-a)))
    low = np.tril(a)
    close(linalg.triangular_solve(t(low), t(b), upper=False), np.linalg.solve(low, b))
    close(linalg.triangular_solve(t(low), t(b), False, True), np.linalg.solve(low.swapaxes(-1, -2), b))
    close(linalg.cholesky_solve(t(b), linalg.cholesky(t(a))), np.linalg.solve(a, b))
    tall, y = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 2))
    solution, residuals, rank, _ = linalg.lstsq(t(tall), t(y))
    want, squares, _, _ = np.linalg.lstsq(tall, y, rcond=None)
    close(solution, want), close(residuals, squares)
    assert rank.item() == 3
    for p in (None, "fro", 1, np.inf):
        close(linalg.cond(t(a[0]), p), np.linalg.cond(a[0], p))
    close(linalg.matrix_power(t(a[0]), -2), np.linalg.matrix_power(a[0], -2))
    close(linalg.norm(t(tall), "nuc", axis=[0, 1]), np.linalg.norm(tall, "nuc"))
    angle = np.array([[0.0, -3.0], [3.0, 0.0]])
    close(linalg.matrix_exp(t(angle)), [[np.cos(3), -np.sin(3)], [np.sin(3), np.cos(3)]])


def test_gradients():
    s, general, tall = positive(), RNG.normal(size=(4, 4)) + 3 * np.eye(4), RNG.normal(size=(5, 3))
    y = t(RNG.normal(size=(4, 2)))
    check_gradient(linalg.inv, general), check_gradient(linalg.det, general)
    check_gradient(lambda x: linalg.slogdet(x)[1], general)
    check_gradient(lambda x: linalg.solve(x, y), general)
    check_gradient(lambda v: linalg.solve(t(general), v), y.numpy())
    for upper in (False, True):
        check_gradient(lambda x: linalg.triangular_solve(x, y, upper), general)
        check_gradient(lambda x: linalg.triangular_solve(x, y, upper, True), general)
        check_gradient(lambda x: linalg.cholesky(x + x.T, upper), s)
    check_gradient(lambda x: linalg.qr(x)[0], tall), check_gradient(lambda x: linalg.qr(x)[1], tall)
    check_gradient(lambda x: linalg.eigh(x + x.T)[0], s)
    check_gradient(lambda x: linalg.eigh(x + x.T)[1] ** 2, s)
    for a in (tall, tall.T):
        check_gradient(lambda x: linalg.svd(x)[1], a)
        check_gradient(lambda x: linalg.svd(x)[0] ** 2, a)
        check_gradient(lambda x: linalg.svd(x)[2] ** 2, a)


def test_refuses():
    with pytest.raises(ValueError):
        linalg.inv(paddle.zeros([2, 2]))
    with pytest.raises(ValueError):
        linalg.cholesky(t([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError):
        linalg.det(paddle.ones([2, 3]))
    with pytest.raises(ValueError):
        linalg.qr(paddle.ones([2, 2]), mode="full")


def test_completed_vectors_have_no_gradient():
    x = t(RNG.normal(size=(2, 3)), stop_gradient=False)
    u, s, vh = linalg.svd(x, full_matrices=True)
    linalg.svd(x, full_matrices=True)[1].sum().backward()
    assert x.grad is not None
    with pytest.raises(ValueError):
        vh.sum().backward()
