"""Weights in bfloat16 that stay: programs for inference read few rows' products from them as they are packed."""

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


def values(t):
    return t.astype("float32").numpy().astype("float64")


@pytest.mark.parametrize("shape", [(1, 96, 64), (5, 130, 100), (16, 65, 131), (17, 64, 64), (2, 7, 3)])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_times_a_weight(isa, shape, turned):
    rows, k, n = shape
    r = np.random.default_rng(rows * k)
    weight = paddle.create_parameter([n, k] if turned else [k, n], "bfloat16")
    weight.set_value(paddle.to_tensor(r.standard_normal(weight.shape).astype("float32")).astype("bfloat16"))
    f = paddle.jit.to_static(lambda x: paddle.matmul(x, weight, transpose_y=turned), full_graph=True)
    x = paddle.to_tensor(r.standard_normal((rows, k)).astype("float32")).astype("bfloat16")
    with paddle.no_grad():
        for _ in range(2):
            got = f(x)
            w = values(weight).T if turned else values(weight)
            expected = values(x) @ w
            assert got.dtype == paddle.bfloat16
            np.testing.assert_allclose(values(got), expected, rtol=2.0**-8, atol=2.0**-8 * np.abs(expected).max())
            weight.set_value(weight * -3)  # in place: the program must notice
