"""Products of float32 matrices that are larger than a block of the kernels', read as they lie and transposed."""

import numpy as np
import paddle
import pytest


@pytest.fixture(params=["base", "avx2", "avx512"])
def isa(request):
    try:
        paddle.set_flags({"FLAGS_cpu_isa": request.param})
    except ValueError:
        pytest.skip("this processor lacks it")
    yield request.param
    paddle.set_flags({"FLAGS_cpu_isa": ""})


# Depths of several blocks, columns of more than one, rows that fill no tile; strides of whole pages.
SHAPES = [(257, 70, 512), (259, 1100, 512), (300, 64, 1536), (256, 513, 1024), (261, 131, 290)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turned", ["none", "x", "y", "both"])
def test_against_double(isa, shape, turned):
    m, k, n = shape
    r = np.random.default_rng(m + k + n)
    x, y = r.standard_normal((m, k)).astype("float32"), r.standard_normal((k, n)).astype("float32")
    tx, ty = turned in ("x", "both"), turned in ("y", "both")
    a = paddle.to_tensor(np.ascontiguousarray(x.T) if tx else x)
    b = paddle.to_tensor(np.ascontiguousarray(y.T) if ty else y)
    got = paddle.matmul(a, b, transpose_x=tx, transpose_y=ty).numpy()
    expected = x.astype("float64") @ y.astype("float64")
    np.testing.assert_allclose(got, expected, atol=2e-6 * k, rtol=0)


def test_a_part_of_a_matrix():
    r = np.random.default_rng(0)
    x, y = r.standard_normal((600, 300)).astype("float32"), r.standard_normal((300, 1024)).astype("float32")
    got = paddle.matmul(paddle.to_tensor(x)[::2, 1:281], paddle.to_tensor(y)[20:, 5:517]).numpy()
    np.testing.assert_allclose(got, x[::2, 1:281].astype("float64") @ y[20:, 5:517], atol=1e-3, rtol=0)
