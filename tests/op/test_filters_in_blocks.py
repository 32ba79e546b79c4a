"""Convolutions whose filters are copied to blocks of filters, against sums of products in double precision."""

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest


def convolved(x, w, stride):
    sizes = w.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("float64"), sizes, tuple(range(2, x.ndim)))
    windows = windows[(slice(None), slice(None), *[slice(None, None, stride)] * len(sizes))]
    per_place = np.moveaxis(windows, 1, 1 + len(sizes))  # picture, places, channel, elements of the window
    summed = np.tensordot(per_place, w.astype("float64"), (range(1 + len(sizes), per_place.ndim), range(1, w.ndim)))
    return np.moveaxis(summed, -1, 1)


# filters: less than a block, whole blocks, a rest; channels: below, at and beyond what is turned at a time
@pytest.mark.parametrize("filters", [1, 7, 24, 25, 70])
@pytest.mark.parametrize("channels", [1, 3, 16, 40])
@pytest.mark.parametrize("size", [(3,), (5, 5), (3, 1), (2, 3, 2)], ids=str)
def test_values(filters, channels, size):
    rng = np.random.default_rng(filters + channels)
    x = rng.standard_normal((2, channels, *[9] * len(size))).astype("float32")
    w = rng.standard_normal((filters, channels, *size)).astype("float32")
    conv = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[len(size)]
    expected = convolved(x, w, 2)
    weight = paddle.to_tensor(w)
    run = lambda t: conv(t, weight, stride=2)
    tolerance = 1e-5 * np.sqrt(channels * np.prod(size))
    with paddle.no_grad():
        for f in (run, paddle.jit.to_static(run, full_graph=True)):
            np.testing.assert_allclose(f(paddle.to_tensor(x)).numpy(), expected, rtol=0, atol=tolerance)


def test_threads_share_the_blocks():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((1, 40, 12, 12)).astype("float32")
    w = rng.standard_normal((200, 40, 5, 5)).astype("float32")
    before = paddle.base.core.get_num_threads()
    paddle.base.core.set_num_threads(3)
    try:
        got = F.conv2d(paddle.to_tensor(x), paddle.to_tensor(w), stride=2).numpy()
    finally:
        paddle.base.core.set_num_threads(before)
    np.testing.assert_allclose(got, convolved(x, w, 2), rtol=0, atol=5e-4)
