"""Block.append_op: operators by name, against NumPy."""

import numpy as np
import paddle
import pytest
from paddle import static

X = np.random.RandomState(0).randn(2, 3).astype("float32")
W = np.random.RandomState(1).randn(3, 4).astype("float32")


def variables(shape, *names):
    block = static.default_main_program().global_block()
    return block, [block.create_var(name=n, shape=shape, dtype="float32") for n in names]


def test_operators_by_name(build):
    x, w = static.data("x", [2, 3], "float32"), static.data("w", [3, 4], "float32")
    block, (y, z, c) = variables([2, 4], "y", "z", "c")
    op = block.append_op(type="matmul", inputs={"X": x, "Y": [w]}, outputs={"Out": [y]}, attrs={"transpose_x": False})
    assert op.name() == "pd_op.matmul"
    block.append_op(type="relu", inputs={"x": y}, outputs={"out": z})
    block.append_op(type="concat", inputs={"X": [y, z]}, outputs={"Out": c}, attrs={"axis": 1, "op_role": 0})
    got = build.run({"x": X, "w": W}, [y, z, c])
    want = X @ W
    for a, b in zip(got, [want, np.maximum(want, 0), np.concatenate([want, np.maximum(want, 0)], 1)]):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_several_results_and_gradients(build):
    x = static.data("x", [2, 3], "float32")
    x.stop_gradient = False
    block, (values, indices, loss) = variables([2, 2], "values", "indices", "loss")
    block.append_op(type="topk", inputs={"X": x}, outputs={"Out": values, "Indices": indices}, attrs={"k": 2})
    block.append_op(type="sum", inputs={"X": values}, outputs={"Out": loss})
    (g,) = static.gradients([loss], [x])
    v, i, d = build.run({"x": X}, [values, indices, g])
    order = np.argsort(-X, 1)[:, :2]
    np.testing.assert_array_equal(i, order)
    np.testing.assert_array_equal(v, np.take_along_axis(X, order, 1))
    want = np.zeros_like(X)
    np.put_along_axis(want, order, 1.0, 1)
    np.testing.assert_array_equal(d, want)


def test_errors(build):
    x = static.data("x", [2, 3], "float32")
    block, (y,) = variables([2, 3], "y")
    with pytest.raises(NotImplementedError, match="no operator 'rellu'; did you mean 'relu'"):
        block.append_op(type="rellu", inputs={"X": x}, outputs={"Out": y})
    with pytest.raises(ValueError, match=r"\[relu\] expected arguments \['x'\], got 'Z'"):
        block.append_op(type="relu", inputs={"Z": x})
    with pytest.raises(ValueError, match="at most 1 outputs, got 2"):
        block.append_op(type="relu", inputs={"X": x}, outputs={"Out": [y, y]})
    with pytest.raises(ValueError, match="expected one variable for 'X', got 2"):
        block.append_op(type="relu", inputs={"X": [x, x]})
    with pytest.raises(ValueError, match="under program_guard"):
        static.Program().global_block().append_op(type="relu", inputs={"X": x})
    assert isinstance(paddle.ones([1]), paddle.Tensor)
