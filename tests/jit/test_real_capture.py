"""to_static on the real core: programs against NumPy, and against derivatives by hand."""

from __future__ import annotations

import os

import numpy as np
import paddle
import pytest

from paddle import nn


def static(fn):
    return paddle.jit.to_static(fn, full_graph=True)


def tensor(values, grad=False):
    t = paddle.to_tensor(np.asarray(values, dtype="float32"))
    t.stop_gradient = not grad
    return t


def close(t, expected, rtol=1e-5):
    np.testing.assert_allclose(t.numpy(), expected, rtol=rtol, atol=1e-6)


RANDOM = np.random.RandomState(0)


def test_mlp_trains_like_numpy():
    x, w, b = RANDOM.randn(16, 3), RANDOM.randn(3, 2), RANDOM.randn(2)
    layer = nn.Linear(3, 2)
    layer.weight.set_value(w.astype("float32"))
    layer.bias.set_value(b.astype("float32"))
    sgd = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    step = paddle.jit.to_static(layer)
    for _ in range(4):
        y = x @ w + b
        loss = (step(tensor(x)) ** 2).mean()
        close(loss, (y**2).mean())
        loss.backward()
        g = 2 * y / y.size
        close(layer.weight.grad, x.T @ g, rtol=1e-4)
        w, b = w - 0.1 * x.T @ g, b - 0.1 * g.sum(0)
        sgd.step()
        sgd.clear_grad()
    close(layer.weight, w, rtol=1e-4)


def test_branches():
    @static
    def f(x):
        if x.sum() > 0:
            y = x * x
        else:
            y = x * 3
        return y.sum()

    for v, slope in ((2.0, 4.0), (-1.0, 3.0)):
        x = tensor([v, v], grad=True)
        f(x).backward()
        close(x.grad, [slope, slope])


def test_second_order_through_while():
    @static
    def f(x):
        i = paddle.zeros([], "int64")
        while i < 3:
            x = x * x
            i = i + 1
        return x.sum()

    x = tensor([1.1, 0.9], grad=True)
    (g,) = paddle.grad(f(x), x, create_graph=True)
    close(g, 8 * x.numpy() ** 7)
    (h,) = paddle.grad(g.sum(), x)
    close(h, 56 * x.numpy() ** 6)


def test_write_through_a_view():
    @static
    def f(x):
        y = x * 1
        y[1].add_(paddle.ones([3]))
        flat = y.reshape([6])
        y.add_(paddle.ones([2, 3]))
        return y, flat

    x = RANDOM.randn(2, 3).astype("float32")
    expected = x + np.array([[1], [2]])
    y, flat = f(tensor(x))
    close(y, expected)
    close(flat, expected.reshape(6))


def test_setitem_and_its_gradient():
    @static
    def f(x):
        y = x * 2
        y[0] = x[1] * 3
        return (y * y).sum()

    x = tensor([[1.0, 2.0], [3.0, 4.0]], grad=True)
    out = f(x)
    close(out, (9 * (9 + 16)) + 4 * (9 + 16))
    out.backward()
    close(x.grad, [[0, 0], [2 * (9 + 4) * 3, 2 * (9 + 4) * 4]])


def test_batch_norm_statistics_are_written_back():
    layer = nn.BatchNorm1D(3, momentum=0.9)
    f = paddle.jit.to_static(layer)
    x = RANDOM.randn(8, 3).astype("float32")
    mean, var = np.zeros(3), np.ones(3)
    for _ in range(2):
        out = f(tensor(x))
        mean, var = 0.9 * mean + 0.1 * x.mean(0), 0.9 * var + 0.1 * x.var(0)
        close(layer._mean, mean)
        close(out, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), rtol=1e-4)
    layer.eval()
    close(f(tensor(x)), (x - mean) / np.sqrt(layer._variance.numpy() + 1e-5), rtol=1e-4)


def test_captured_and_given_tensors_are_written():
    total = paddle.zeros([2])

    @static
    def f(x):
        total.add_(x)
        x.scale_(2.0)
        return total * 2

    x = tensor([1.0, 2.0])
    close(f(x), [2.0, 4.0])
    close(x, [2.0, 4.0])
    close(f(x), [6.0, 12.0])
    close(total, [3.0, 6.0])


def test_dropout_draws_as_eager_does_and_replays_for_its_gradient():
    def f(x):
        return nn.functional.dropout(x, 0.5)

    g = static(f)
    x = tensor(np.ones(1000), grad=True)
    paddle.seed(7)
    first, second = f(x).numpy(), f(x).numpy()
    paddle.seed(7)
    y = g(x)
    np.testing.assert_array_equal(y.numpy(), first)
    np.testing.assert_array_equal(g(x).numpy(), second)
    y.sum().backward()
    close(x.grad, first)


def test_batch_size_that_changes():
    @static
    def f(x):
        return (x.reshape([x.shape[0], -1]) * 2).sum(1), x.reshape([-1, 2])

    for n in (3, 5, 7):
        x = RANDOM.randn(n, 2, 2).astype("float32")
        a, b = f(tensor(x))
        close(a, 2 * x.reshape(n, 4).sum(1))
        close(b, x.reshape(-1, 2))
    assert f.get_traced_count() == 2


def test_sizes_that_are_data():
    @static
    def f(x):
        return paddle.nonzero(x > 0), paddle.masked_select(x, x > 0) * 2

    for _ in range(3):
        x = RANDOM.randn(10).astype("float32")
        where, picked = f(tensor(x))
        close(where, np.argwhere(x > 0))
        close(picked, 2 * x[x > 0])


def test_gradient_inside_a_program():
    @static
    def f(x):
        (g,) = paddle.grad((x**3).sum(), x, create_graph=True)
        return (g * g).sum()

    x = tensor([1.0, -2.0, 0.5], grad=True)
    out = f(x)
    close(out, (9 * x.numpy() ** 4).sum())
    out.backward()
    close(x.grad, 36 * x.numpy() ** 3)


def test_value_needed_in_python():
    def f(x):
        return x * x.numpy().sum()

    x = tensor([1.0, 2.0])
    close(paddle.jit.to_static(f)(x), [3.0, 6.0])
    with pytest.raises(paddle._core.trace.GraphBreak, match="test_real_capture.py"):
        static(f)(x)


def test_two_forwards_one_backward():
    layer = nn.Linear(2, 2)
    f = paddle.jit.to_static(layer)
    x = RANDOM.randn(3, 2).astype("float32")
    (f(tensor(x)) + f(tensor(2 * x))).sum().backward()
    close(layer.weight.grad, 3 * x.sum(0)[:, None] @ np.ones((1, 2)), rtol=1e-4)


def test_gradients_stop():
    @static
    def f(x):
        with paddle.no_grad():
            y = x * 2
        return (x * y + x * x.detach()).sum()

    x = tensor([1.0, 3.0], grad=True)
    f(x).backward()
    close(x.grad, 3 * x.numpy())


def test_saved_program_is_the_same_function(tmp_path):
    layer = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    spec = [paddle.static.InputSpec([None, 4], "float32")]
    path = str(tmp_path / "net")
    paddle.jit.save(layer, path, input_spec=spec)
    loaded = paddle.jit.load(path)
    w1, b1, w2, b2 = (p.numpy() for p in layer.parameters())
    for n in (2, 5):
        x = RANDOM.randn(n, 4).astype("float32")
        close(loaded(tensor(x)), np.tanh(x @ w1 + b1) @ w2 + b2, rtol=1e-4)


@pytest.mark.parametrize("name", ["mlp", "conv"])
def test_program_of_the_official_release(name):
    fixtures = os.path.join(os.path.dirname(__file__), "..", "fixtures")
    loaded = paddle.jit.load(os.path.join(fixtures, f"program_{name}"))
    x, expected = (np.load(os.path.join(fixtures, f"program_{name}_{part}.npy")) for part in ("in", "out"))
    close(loaded(paddle.to_tensor(x)), expected, rtol=1e-4)


def test_loaded_program_is_trained_further(tmp_path):
    layer = nn.Linear(3, 1)
    path = str(tmp_path / "linear")
    paddle.jit.save(layer, path, input_spec=[paddle.static.InputSpec([None, 3], "float32")])
    loaded = paddle.jit.load(path)
    loaded.train()
    x = RANDOM.randn(4, 3).astype("float32")
    loaded(tensor(x)).sum().backward()
    (weight,) = (p for p in loaded.parameters() if p.ndim == 2)
    close(weight.grad, x.sum(0)[:, None], rtol=1e-4)
