"""Products of 16-bit floats on every processor: right to the rounding of the result, whether the instructions exist or not."""

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F

ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


def low(array, dtype):
    """The tensor, and the values that it holds after rounding as float32."""
    tensor = paddle.to_tensor(array.astype("float32")).astype(dtype)
    return tensor, tensor.astype("float32").numpy()


def close(tensor, expected, dtype):
    got = tensor.astype("float32").numpy()
    assert str(tensor.dtype) == "paddle." + dtype
    np.testing.assert_allclose(got, expected, rtol=ROUNDING[dtype], atol=ROUNDING[dtype] * np.abs(expected).max())


@pytest.mark.parametrize("dtype", list(ROUNDING))
@pytest.mark.parametrize(
    "shapes", [((5, 7), (7, 3)), ((2, 4, 5, 7), (7, 3)), ((2, 1, 5, 7), (3, 7, 3)), ((7,), (7, 3))]
)
def test_matmul(dtype, shapes):
    rng = np.random.default_rng(0)
    (x, xv), (y, yv) = (low(rng.standard_normal(s), dtype) for s in shapes)
    close(paddle.matmul(x, y), xv @ yv, dtype)


@pytest.mark.parametrize("dtype", list(ROUNDING))
def test_convolution_and_its_gradients(dtype):
    rng = np.random.default_rng(1)
    x, xv = low(rng.standard_normal((2, 4, 9, 8)), dtype)
    w, wv = low(rng.standard_normal((6, 2, 3, 3)), dtype)
    wide = [paddle.to_tensor(v, stop_gradient=False) for v in (xv, wv)]
    for t in (x, w):
        t.stop_gradient = False
    out = F.conv2d(x, w, stride=2, padding=1, groups=2)
    expected = F.conv2d(*wide, stride=2, padding=1, groups=2)
    close(out, expected.numpy(), dtype)
    out.astype("float32").sum().backward()
    expected.sum().backward()
    for t, v in zip((x, w), wide, strict=True):
        close(t.grad, v.grad.numpy(), dtype)
