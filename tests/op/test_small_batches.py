"""Batches of small matrices: products by the kernels for single ones, against NumPy in double precision."""

import numpy as np
import paddle
import pytest

# shapes as they are multiplied; a batch axis of size 1 broadcasts
SHAPES = [
    ((4, 16, 64), (4, 64, 16)),
    ((1, 4, 16, 16), (1, 4, 16, 64)),
    ((3, 1, 17, 33), (1, 5, 33, 19)),
    ((2, 7, 9, 5), (7, 5, 2)),
    ((6, 300, 50), (1, 50, 50)),
    ((1, 300, 50), (6, 50, 50)),
    ((40, 3, 32), (40, 32, 100)),
]


def operand(rng, shape, lies):
    """(the tensor, its elements): as they lie, as the transpose of what lies there, or an axis in front repeated."""
    a = rng.standard_normal(shape).astype("float32")
    if lies == "transposed":
        return paddle.to_tensor(np.ascontiguousarray(a.swapaxes(-1, -2))).transpose(
            [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2]
        ), a
    if lies == "repeated":
        return paddle.to_tensor(a[:1]).expand(list(shape)), np.broadcast_to(a[:1], shape)
    if lies == "heads":  # batch and rows the other way round in memory
        return paddle.to_tensor(np.ascontiguousarray(a.swapaxes(-3, -2))).transpose(
            [*range(a.ndim - 3), a.ndim - 2, a.ndim - 3, a.ndim - 1]
        ), a
    return paddle.to_tensor(a), a


@pytest.fixture(params=[1, 3])
def threads(request):
    before = paddle.base.core.get_num_threads()
    paddle.base.core.set_num_threads(request.param)
    yield
    paddle.base.core.set_num_threads(before)


@pytest.mark.parametrize("lies", ["plain", "transposed", "repeated", "heads"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products(shapes, lies, threads):
    rng = np.random.default_rng(3)
    x, a = operand(rng, shapes[0], lies)
    y, b = operand(rng, shapes[1], lies)
    got = paddle.matmul(x, y).numpy()
    expected = a.astype("float64") @ b.astype("float64")
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 * np.abs(a).max() * np.abs(b).max() * a.shape[-1])


def test_nan_and_infinity_stay_in_their_batch():
    a, b = np.ones((4, 16, 64), "float32"), np.ones((4, 64, 16), "float32")
    a[1, 3, 5], b[2, 7, 9] = np.nan, np.inf
    got = paddle.matmul(paddle.to_tensor(a), paddle.to_tensor(b)).numpy()
    np.testing.assert_array_equal(got, a @ b)
