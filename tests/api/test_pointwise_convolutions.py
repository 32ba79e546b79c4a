"""Convolutions with filters of one element, which are products of matrices: values and gradients against NumPy."""

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

# (batch, channels, filters, sizes): with many positions and with few, of images and of volumes.
CASES = [(3, 5, 7, (17, 16)), (1, 300, 270, (16, 16)), (2, 4, 3, (3, 5)), (2, 3, 4, (7, 8, 9))]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("strided", [False, True])
def test_values_and_gradients(case, strided):
    n, c, k, sizes = case
    r = np.random.default_rng(n * c * k)
    x, w = r.standard_normal((n, c, *sizes)).astype("float32"), r.standard_normal((k, c)).astype("float32")
    g = r.standard_normal((n, k, *sizes)).astype("float32")
    if strided:
        tx = paddle.to_tensor(np.ascontiguousarray(np.moveaxis(x, 1, -1))).transpose(
            [0, x.ndim - 1, *range(1, x.ndim - 1)]
        )
    else:
        tx = paddle.to_tensor(x)
    tx, tw = tx.detach(), paddle.to_tensor(w.reshape(k, c, *[1] * len(sizes)))
    tx.stop_gradient = tw.stop_gradient = False
    y = (F.conv2d if len(sizes) == 2 else F.conv3d)(tx, tw)
    gx, gw = paddle.grad(y, [tx, tw], paddle.to_tensor(g))
    x, w, g = (v.astype("float64") for v in (x, w, g))
    tolerance = {"atol": 3e-6 * max(c, k), "rtol": 1e-5}
    np.testing.assert_allclose(y.numpy(), np.einsum("kc,nc...->nk...", w, x), **tolerance)
    np.testing.assert_allclose(gx.numpy(), np.einsum("kc,nk...->nc...", w, g), **tolerance)
    expected = np.einsum("nkp,ncp->kc", g.reshape(n, k, -1), x.reshape(n, c, -1))
    np.testing.assert_allclose(gw.numpy().reshape(k, c), expected, atol=1e-5 * np.abs(expected).max() + 1e-4, rtol=0)


def test_nan_stays_in_its_column():
    x, w = paddle.ones([1, 4, 16, 16]), paddle.ones([3, 4, 1, 1])
    x[0, 2, 5, 7] = float("nan")
    bad = np.isnan(F.conv2d(x, w).numpy())
    assert bad[:, :, 5, 7].all() and bad.sum() == 3
