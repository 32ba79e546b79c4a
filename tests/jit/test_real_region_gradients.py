"""Gradients through branches and loops inside programs: against finite differences, in every order."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from paddle import nn


RANDOM = np.random.RandomState(3)


def tensor(values, grad=False):
    t = paddle.to_tensor(np.asarray(values, dtype="float64"))
    t.stop_gradient = not grad
    return t


def slope(value, x, direction, h=1e-5):
    """The derivative of ``value`` (array -> array) at ``x`` along ``direction``."""
    return (value(x + h * direction) - value(x - h * direction)) / (2 * h)


def check_orders(f, x, *rest, orders=3, rtol=2e-4):
    """Each order of f's derivative along a fixed direction, taken inside one program, is the slope of the order before."""
    direction = RANDOM.randn(*np.shape(x))
    along = tensor(direction)

    def derivative(order):
        def g(x, *rest):
            y = f(x, *rest)
            for k in range(order):
                (d,) = paddle.grad(y, x, create_graph=True, allow_unused=True)
                y = (d * along).sum() if d is not None else paddle.zeros([], "float64")
            return y

        # full_graph: what can't be differentiated inside the program would be an error.
        compiled = paddle.jit.to_static(g, full_graph=True)
        return lambda v: compiled(tensor(v, grad=True), *rest).numpy()

    x = np.asarray(x, dtype="float64")
    values = [derivative(k) for k in range(orders + 1)]
    plain = f(tensor(x), *rest).numpy()
    np.testing.assert_allclose(values[0](x), plain, rtol=1e-9)
    for lower, upper in zip(values, values[1:]):
        np.testing.assert_allclose(upper(x), slope(lower, x, direction), rtol=rtol, atol=1e-6)
    # The last order once more, by a gradient that passes from the eager graph through the program.
    t = tensor(x, grad=True)
    compiled = paddle.jit.to_static(lambda x, *rest: f(x, *rest), full_graph=True)
    y = compiled(t, *rest)
    (d,) = paddle.grad(y, t, create_graph=True)
    np.testing.assert_allclose((d * along).sum().numpy(), values[1](x), rtol=1e-7)
    if orders > 1:
        (d2,) = paddle.grad((d * along).sum(), t)
        np.testing.assert_allclose((d2 * along).sum().numpy(), values[2](x), rtol=1e-7)


def test_branch():
    def f(x):
        if x.sum() > 0:
            y = paddle.tanh(x) * x * x
        else:
            y = paddle.exp(x) * 2
        return (y * x).sum()

    check_orders(f, [0.5, 0.8])
    check_orders(f, [-0.5, -0.8])


def test_branch_with_results_on_one_side_only():
    def f(x):
        y = x * x
        if x[0] > 0:
            z = paddle.sin(y) * x
            y = z * z
        return y.sum()

    check_orders(f, [0.5, 0.8])
    check_orders(f, [-0.5, 0.8])


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_loop_of_dynamic_length(rounds):
    def f(x, n):
        i = paddle.zeros([], "int64")
        s = x * 1
        while i < n:
            s = paddle.sin(s * x) + s * 0.5
            i = i + 1
        return (s * s).sum()

    check_orders(f, [0.4, -0.9, 1.3], paddle.to_tensor(rounds))


def test_variable_that_starts_without_a_gradient():
    def f(x, n):
        s = paddle.ones([2], "float64")
        t = paddle.zeros([], "float64")
        i = paddle.zeros([], "int64")
        while i < n:
            double = s * 2
            s = paddle.tanh(double * x)
            t = t + s.sum()
            i = i + 1
        return t * t

    check_orders(f, [0.4, -0.9], paddle.to_tensor(3))


def test_nested_loops_and_branches():
    def f(x, n):
        i = paddle.zeros([], "int64")
        s = x * 1
        while i < n:
            j = paddle.zeros([], "int64")
            while j < i + 1:
                if s.sum() > 0.5:
                    s = s * paddle.cos(x)
                else:
                    s = s + x * x
                j = j + 1
            if i % 2 == 0:
                s = s * 0.9
            i = i + 1
        return (s * x).sum()

    check_orders(f, [0.4, 0.3], paddle.to_tensor(3), orders=2)


def test_loop_that_is_left_early():
    def f(x):
        s = x * 1
        for k in range(50):
            s = s * 1.1 + paddle.sin(x)
            if s.sum() > 4:
                break
            if s.sum() < -4:
                return (s * s * s).sum()
        return (s * s).sum()

    check_orders(f, [0.4, 0.3], orders=2)
    check_orders(f, [-0.9, -0.3], orders=2)


def test_list_that_grows_in_a_loop():
    def f(x, n):
        out = []
        s = x * 1
        i = paddle.zeros([], "int64")
        while i < n:
            s = paddle.sin(s) * x
            out.append(s * s)
            i = i + 1
        every = paddle.stack(out)
        joined = paddle.concat(out)
        return (every * every).sum() + joined.prod()

    check_orders(f, [0.9, 1.3], paddle.to_tensor(3), orders=2)


def test_list_read_and_written_in_a_loop():
    def f(x, n):
        items = [x * 1, x * 2]
        i = paddle.zeros([], "int64")
        while i < n:
            items.append(items[-1] * x)
            items[i] = items[i] * x + items[-1]
            i = i + 1
        last = items.pop()
        return (paddle.stack(items) ** 2).sum() + (last * x).sum()

    check_orders(f, [0.9, 1.1], paddle.to_tensor(3), orders=2)


def test_sizes_that_differ_between_rounds():
    def f(x, n):
        s = x * 1
        i = paddle.zeros([], "int64")
        while i < n:
            s = paddle.concat([s, s[:1] * x[:1]])
            s = s.reshape([-1]) * 1.1
            i = i + 1
        return (s * s).sum()

    check_orders(f, [0.9, 1.1], paddle.to_tensor(3), orders=2)


def test_in_place_writes_in_a_loop():
    def f(x, n):
        s = x * 1
        i = paddle.zeros([], "int64")
        while i < n:
            s[0] = s[1] * s[0]
            s.multiply_(x)
            i = i + 1
        return (s * s).sum()

    check_orders(f, [0.9, 1.1, 0.7], paddle.to_tensor(2), orders=2)


def test_gradient_taken_inside_a_loop():
    """Newton's method, its derivative taken in each round."""

    @lambda f: paddle.jit.to_static(f, full_graph=True)
    def root(a, n):
        x = paddle.ones([], "float64")
        i = paddle.zeros([], "int64")
        while i < n:
            x = x.detach()
            x.stop_gradient = False
            y = x * x - a
            (slope,) = paddle.grad(y, x)
            x = x - y / slope
            i = i + 1
        return x

    np.testing.assert_allclose(root(tensor(2.0), paddle.to_tensor(6)).numpy(), np.sqrt(2), rtol=1e-12)


def test_parameters_of_a_layer_in_a_loop():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTMCell(3, 4)

        def forward(self, x, length):
            h = paddle.zeros([2, 4])
            c = paddle.zeros([2, 4])
            t = paddle.zeros([], "int64")
            while t < length:
                _, (h, c) = self.cell(x[t], (h, c))
                t = t + 1
            return (h * h).sum()

    x = RANDOM.randn(5, 2, 3).astype("float32")
    net = Net()
    compiled = paddle.jit.to_static(lambda x, n: net.forward(x, n), full_graph=True)
    for length in (1, 3, 5):
        grads = []
        for run in (compiled, net.forward):
            net.clear_gradients()
            t = paddle.to_tensor(x)
            t.stop_gradient = False
            loss = run(t, paddle.to_tensor(length))
            loss.backward()
            grads.append([t.grad.numpy(), *(p.grad.numpy() for p in net.parameters())])
        for a, b in zip(*grads):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_backward_inside_the_program_through_a_loop():
    w = tensor([0.3, 0.5], grad=True)

    @lambda f: paddle.jit.to_static(f, full_graph=True)
    def step(x, n):
        s = x * 1
        i = paddle.zeros([], "int64")
        while i < n:
            s = paddle.tanh(s * w) + x
            i = i + 1
        loss = (s * s).sum()
        loss.backward()
        return loss

    x = np.array([0.7, -0.4])

    def value(v):
        s = x
        for _ in range(3):
            s = np.tanh(s * v) + x
        return (s * s).sum()

    step(tensor(x), paddle.to_tensor(3))
    expected = [slope(value, w.numpy(), d) for d in np.eye(2)]
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-6)


def test_dropout_in_a_loop_replays():
    @lambda f: paddle.jit.to_static(f, full_graph=True)
    def f(x, n):
        i = paddle.zeros([], "int64")
        s = x * 1
        while i < n:
            s = nn.functional.dropout(s, 0.5)
            i = i + 1
        return s

    x = tensor(np.ones(2000), grad=True)
    y = f(x, paddle.to_tensor(2))
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.numpy())
    assert set(np.unique(y.numpy())) == {0.0, 4.0}


def test_kept_values_survive_a_second_backward():
    @lambda f: paddle.jit.to_static(f, full_graph=True)
    def f(x, n):
        i = paddle.zeros([], "int64")
        while i < n:
            x = x * x
            i = i + 1
        return x.sum()

    x = tensor([1.1, 0.9], grad=True)
    y = f(x, paddle.to_tensor(2))
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * 4 * x.numpy() ** 3, rtol=1e-12)


def test_unread_gradients_leave_no_stacks_behind():
    def f(x, n):
        i = paddle.zeros([], "int64")
        s = x * 1
        while i < n:
            s = paddle.sin(s) * x
            i = i + 1
        paddle.grad(s.sum(), x, create_graph=True)
        return s

    compiled = paddle.jit.to_static(f, full_graph=True)
    x = tensor([0.3], grad=True)
    compiled(x, paddle.to_tensor(2))
    assert "cf.tuple_push" in str(compiled.main_program)
    assert "cf.tuple_push" not in compiled.main_program.compiled()


def test_capture_given_up_inside_a_region():
    def f(x):
        while x.sum() < 3:
            if x.sum() > 1:
                x = x * float(x[0].numpy())
            x = x + 1
        return x

    with pytest.raises(paddle._core.trace.GraphBreak, match="test_real_region_gradients.py"):
        paddle.jit.to_static(f, full_graph=True)(tensor([0.5]))
