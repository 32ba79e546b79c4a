"""In-place operators whose result has another dtype: the tensor takes it on; what can't is refused."""

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")


@pytest.mark.parametrize("name", ["less_than", "less_equal", "greater_than", "equal", "not_equal", "logical_and", "logical_xor"])
def test_comparisons_make_booleans(name):
    a, b = np.array([[1, 5, 3], [0, 2, 9]], "int32"), np.array([1, 2, 9], "int32")
    x = paddle.to_tensor(a)
    assert getattr(x, name + "_")(paddle.to_tensor(b)) is x and x.dtype == paddle.bool
    functions = {"equal": "equal", "less_than": "less", "greater_than": "greater"}
    np.testing.assert_array_equal(x.numpy(), getattr(np, functions.get(name, name))(a, b))


def test_integers_become_floats():
    x = paddle.to_tensor([1, 2])
    x.exp_()
    np.testing.assert_allclose(x.numpy(), np.exp([1, 2]), rtol=1e-6)
    x = paddle.to_tensor([3, 4])
    x.divide_(paddle.to_tensor([2, 2]))
    assert x.dtype == paddle.float32 and x.tolist() == [1.5, 2.0]


def test_views_keep_what_they_saw():
    x = paddle.to_tensor([1, 2, 3])
    view = x[1:]
    x.less_than_(paddle.to_tensor([2, 2, 2]))
    assert view.tolist() == [2, 3] and view.dtype == paddle.int64
    with pytest.raises(TypeError, match="an in-place operator can't change it"):  # its base would not know
        view.less_than_(paddle.to_tensor([2, 2]))
    with pytest.raises((TypeError, ValueError)):
        paddle.to_tensor([1.0], stop_gradient=False).less_than_(paddle.to_tensor([2.0]))
