"""py_func: programs that call back into Python, against NumPy."""

import numpy as np
import paddle
import pytest
from paddle import static

X = np.random.RandomState(0).randn(4, 3).astype("float32")


def variable(shape, name, dtype="float32"):
    return static.default_main_program().global_block().create_var(name=name, shape=shape, dtype=dtype)


def test_values_each_run(build):
    calls = []

    def func(a, b):
        calls.append(np.array(a).shape)
        return np.sort(np.array(a), axis=1) + b.numpy(), np.array(a).argmax(1)

    x, y = static.data("x", [4, 3], "float32"), static.data("y", [3], "float32")
    out = [variable([4, 3], "s"), variable([4], "i", "int64")]
    assert static.py_func(func, [x * 2, y], out) is out
    total = out[0].sum()
    for k in (1.0, -1.0):
        s, i, t = build.run({"x": k * X, "y": np.ones(3, "f4")}, [*out, total])
        np.testing.assert_allclose(s, np.sort(2 * k * X, 1) + 1, rtol=1e-6)
        np.testing.assert_array_equal(i, (k * X).argmax(1))
        np.testing.assert_allclose(t, s.sum(), rtol=1e-5)
    assert calls == [(4, 3)] * 2


def test_open_sizes_and_no_result(build):
    seen = []
    x = static.data("x", [None, 3], "float32")
    out = variable([None, 3], "o")
    static.py_func(lambda a: a.numpy() ** 2, x, out)
    static.py_func(lambda a: seen.append(a.shape), out, None)
    for n in (2, 4):
        (o,) = build.run({"x": X[:n]}, [out + 1])
        np.testing.assert_allclose(o, X[:n] ** 2 + 1, rtol=1e-6)
    assert seen == [[2, 3], [4, 3]]


def test_gradients(build):
    given = []

    def backward(a, o, g):
        given.append(np.array(o))
        return np.array(g) * (1 - np.array(o) ** 2) * 10  # ten times the true one

    x = static.data("x", [4, 3], "float32")
    x.stop_gradient = False
    out = variable([4, 3], "t")
    static.py_func(lambda a: np.tanh(np.array(a)), x * 1.0, out, backward)
    (g,) = static.gradients([(out * out).sum()], [x])
    (d,) = build.run({"x": X}, [g])
    t = np.tanh(X)
    np.testing.assert_allclose(d, 2 * t * (1 - t**2) * 10, rtol=1e-4)
    np.testing.assert_allclose(given[-1], t, rtol=1e-6)


def test_a_program_that_trains(build):
    x = static.data("x", [4, 3], "float32")
    w = static.create_parameter([3, 1], "float32", name="w_py")
    h = paddle.matmul(x, w)
    out = variable([4, 1], "h")
    static.py_func(lambda a: np.array(a) * 3, h, out, lambda o, g: np.array(g) * 3, skip_vars_in_backward_input=[h])
    loss = out.mean()
    paddle.optimizer.SGD(0.5).minimize(loss)
    build.start()
    (before,) = build.run({"x": X}, [w])
    (after,) = build.run({"x": X}, [w])
    np.testing.assert_allclose(
        np.asarray(before) - np.asarray(after), 0.5 * 3 * X.mean(0)[:, None], rtol=1e-3, atol=1e-5
    )


def test_errors(build):
    x = static.data("x", [4, 3], "float32")
    out = variable([4, 3], "o")
    with pytest.raises(TypeError, match="func to be callable"):
        static.py_func(3, x, out)
    with pytest.raises(TypeError, match="x to hold variables, got int"):
        static.py_func(abs, 3, out)
    with pytest.raises(ValueError, match="neither in x nor in out"):
        static.py_func(abs, x, out, abs, skip_vars_in_backward_input=[x * 1])
    static.py_func(lambda a: a.numpy().astype("float64"), x, out)
    with pytest.raises(ValueError, match="py_func.*float32, got.*float64"):
        build.run({"x": X}, [out])


def test_an_error_in_the_function_is_the_users(build):
    def func(a):
        raise KeyError("mine")

    x = static.data("x", [4, 3], "float32")
    out = variable([4, 3], "o")
    static.py_func(func, x, out)
    with pytest.raises(KeyError, match="mine"):
        build.run({"x": X}, [out])


def test_eager():
    with pytest.raises(ValueError, match="enable static mode"):
        static.py_func(abs, paddle.ones([1]), paddle.ones([1]))
