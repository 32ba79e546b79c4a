"""Arguments at the ends of their ranges, and empty operands: an answer or a typed error, never memory of others'."""

import numpy as np
import paddle
import pytest
from paddle import _C_ops

TOP, BOTTOM = 2**63 - 1, -(2**63)


def test_an_index_beyond_an_empty_axis():
    x = paddle.zeros([0, 3])
    with pytest.raises(IndexError, match="one index along axis 0"):
        _C_ops.slice(x, [0], [2], [3], [], [0])
    with pytest.raises(IndexError, match="one index along axis 0"):
        _C_ops.set_value_with_tensor(x, paddle.to_tensor(1.0), [2], [3], [7], [0], [0], [])


def test_a_single_value_beside_an_empty_operand():
    x, y = paddle.full([1, 1], -2, "int16"), paddle.zeros([0], "float64")
    for result in (paddle.floor_divide(x, y), x + y, paddle.pow(x.astype("float64"), y)):
        assert result.shape == [1, 0] and result.dtype == paddle.float64


@pytest.mark.parametrize("diagonal", [TOP, BOTTOM])
def test_triangles(diagonal):
    x = np.arange(15, dtype="float32").reshape(3, 5) + 1
    above = diagonal > 0
    np.testing.assert_array_equal(paddle.tril(paddle.to_tensor(x), diagonal).numpy(), x if above else 0 * x)
    np.testing.assert_array_equal(paddle.triu(paddle.to_tensor(x), diagonal).numpy(), 0 * x if above else x)


def test_factors_whose_squares_overflow():
    x = paddle.zeros([1, 4, 2, 2])
    for factor in (2**33, 2**62):
        with pytest.raises(ValueError):
            paddle.nn.functional.pixel_shuffle(x, factor)
        with pytest.raises(ValueError):
            paddle.nn.functional.pixel_unshuffle(x, factor)


def test_integers_wrap_around():
    big = paddle.to_tensor([[-(2**62), 3]])
    with np.errstate(over="ignore"):
        expected = np.array([[-(2**62), 3]]) @ np.array([[-2], [5]])
    np.testing.assert_array_equal(paddle.matmul(big, paddle.to_tensor([[-2], [5]])).numpy(), expected)


def test_draws_from_the_whole_range():
    x = paddle.randint(BOTTOM, TOP, [1000], "int64").numpy()
    assert (x < 0).any() and (x > 0).any()


def test_one_window_takes_no_step():
    x = paddle.arange(4, dtype="float32")
    np.testing.assert_array_equal(paddle.signal.frame(x, 4, TOP).numpy().ravel(), [0, 1, 2, 3])


def test_the_last_element_by_a_tensor():
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0])
    take = paddle.jit.to_static(lambda x, i: x[i], full_graph=True)
    for at, expected in ((-1, 4.0), (-2, 3.0), (0, 1.0), (3, 4.0)):
        assert float(take(x, paddle.to_tensor(at))) == expected
