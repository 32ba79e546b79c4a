"""PyLayer in captured programs: values and gradients against NumPy, against finite differences, and as eager runs it."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.autograd import PyLayer
from real_core import I0, Cube, I, N, P, check, close, static, tensor


def test_the_written_gradient_is_used():
    f = static(lambda x: Cube.apply(x))
    x = tensor(P, True)
    y = f(x)
    close(y, P**3)
    y.sum().backward()
    close(x.grad, 6 * P**2)


def test_attributes_and_keyword_arguments():
    f = static(lambda x: Cube.apply(x, scale=5.0) + Cube.apply(x * 2))
    x = tensor(P, True)
    f(x).sum().backward()
    close(x.grad, 15 * P**2 + 2 * 6 * (2 * P) ** 2)


class Two(PyLayer):
    @staticmethod
    def forward(ctx, x, y, n):
        ctx.n = n
        ctx.save_for_backward(x, y)
        return x * y, {"k": [n, x + y]}

    @staticmethod
    def backward(ctx, a, b):
        x, y = ctx.saved_tensor()
        return a * y * 10 + b * ctx.n, a * x + b


def test_several_results_in_a_nest():
    def f(x, y):
        a, rest = Two.apply(x, y, 7)
        return a * 2 + rest["k"][1] * rest["k"][0]

    x, y = tensor(P, True), tensor(N + 1, True)
    out = static(f)(x, y)
    close(out, P * (N + 1) * 2 + 7 * (P + N + 1))
    out.sum().backward()
    close(x.grad, 20 * (N + 1) + 49)
    close(y.grad, 2 * P + 7)


def test_results_that_receive_no_gradient_get_zeros():
    x, y = tensor(P, True), tensor(N, True)
    static(lambda x, y: Two.apply(x, y, 7)[0])(x, y).sum().backward()
    close(x.grad, 10 * N)
    close(y.grad, P)


class Optional(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        out = 0
        out = out + (100 if a is None else a)
        return out + (1000 if b is None else b)


@pytest.mark.parametrize("which, expected", [((0,), 1001.0), ((1,), 101.0), ((0, 1), 2.0)])
def test_gradients_that_are_not_materialised(which, expected):
    def f(x):
        outs = Optional.apply(x)
        return sum(outs[i].sum() for i in which)

    x = tensor(P, True)
    static(f)(x).backward()
    close(x.grad, np.full(3, expected))


class SecondOnly(PyLayer):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, g):
        return None, g * 4


def test_no_gradient_for_an_input():
    x, y = tensor(P, True), tensor(N, True)
    static(lambda x, y: SecondOnly.apply(x, y) + 0 * x)(x, y).sum().backward()
    close(x.grad, np.zeros(3))
    close(y.grad, np.full(3, 4.0))


class Marked(PyLayer):
    @staticmethod
    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b

    @staticmethod
    def backward(ctx, a, b):
        return a * 5 + b


def test_results_that_are_not_differentiable():
    def f(x):
        a, b = Marked.apply(x)
        assert b.stop_gradient and not a.stop_gradient
        return a + b

    x = tensor(P, True)
    static(f)(x).sum().backward()
    close(x.grad, np.full(3, 5.0))


class Same(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_not_inplace(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return -g


def test_an_input_that_comes_back():
    def f(x):
        y = Same.apply(x)
        return y * 3 + x  # x itself keeps its history

    x = tensor(P, True)
    out = static(f)(x)
    close(out, 4 * P)
    out.sum().backward()
    close(x.grad, np.full(3, -2.0))


class InPlace(PyLayer):
    @staticmethod
    def forward(ctx, x):
        x.scale_(2.0)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 7


def test_an_input_that_is_written():
    def f(x):
        y = x * 1
        z = InPlace.apply(y)
        return y + z

    x = tensor(P, True)
    out = static(f)(x)
    close(out, 4 * P)
    out.sum().backward()
    close(x.grad, np.full(3, 14.0))


class Branching(PyLayer):
    """Control flow on tensors in both directions."""

    @staticmethod
    def forward(ctx, x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        if x.sum() > 0:
            g = g * 20
        return g


def test_control_flow_inside():
    for v, value, slope in ((P, 2 * P, 20.0), (N, N - 1, 1.0)):
        x = tensor(v, True)
        out = static(lambda x: Branching.apply(x))(x)
        close(out, value)
        out.sum().backward()
        close(x.grad, np.full(3, slope))


def test_in_branches_and_loops():
    def f(x, n):
        y = x
        i = paddle.zeros([], "int64")
        while i < n:
            if y.sum() > 3:
                y = Cube.apply(y * 0.5)
            else:
                y = Cube.apply(y + 0.25) * x
            i = i + 1
        return y

    check(f, [P, I], [N, I], [P, I0], [0.1 * P, np.array(4, "int64")])


def test_grad_inside_of_the_function():
    def f(x):
        y = Cube.apply(x)
        (g,) = paddle.grad(y.sum(), x)
        return g + y

    x = tensor(P, True)
    close(static(f)(x), 6 * P**2 + P**3)


def test_second_order():
    def f(x):
        y = Cube.apply(x)
        (g,) = paddle.grad(y.sum(), x, create_graph=True)  # 6 x ** 2
        (h,) = paddle.grad(g.sum(), x, create_graph=True)  # 12 x
        (k,) = paddle.grad(h.sum(), x, create_graph=True)
        return g, h, k

    x = tensor(P, True)
    g, h, k = static(f)(x)
    close(g, 6 * P**2)
    close(h, 12 * P)
    close(k, np.full(3, 12.0))
    (g * P).sum().backward()
    close(x.grad, 12 * P**2)


def test_second_order_through_the_eager_graph():
    f = static(lambda x: Cube.apply(x))
    x = tensor(P, True)
    (g,) = paddle.grad(f(x).sum(), x, create_graph=True)
    close(g, 6 * P**2)
    (h,) = paddle.grad(g.sum(), x, create_graph=True)
    close(h, 12 * P)


class Blocked(PyLayer):
    """Backward may not be differentiated."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @paddle.autograd.py_layer.once_differentiable
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensor()[0]


def test_once_differentiable():
    def f(x):
        (g,) = paddle.grad(Blocked.apply(x).sum(), x, create_graph=True)
        return g * x

    x = tensor(P, True)
    out = static(f)(x)
    close(out, 2 * P * P)
    out.sum().backward()
    close(x.grad, 2 * P)  # g counts as a constant


class Straight(PyLayer):
    """Rounding whose gradient passes as it is, with a parameter's gradient beside it."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return paddle.round(x * w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensor()
        return g * w, (g * x).sum(0)


class Quantised(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.scale = self.create_parameter([3], default_initializer=nn.initializer.Constant(1.5))

    def forward(self, x):
        return Straight.apply(self.fc(x), self.scale)


def test_in_a_layer_that_trains():
    paddle.seed(3)
    net, twin = Quantised(), Quantised()
    twin.set_state_dict(net.state_dict())
    compiled = static(net)
    for n in (compiled, twin):
        opt = paddle.optimizer.SGD(0.1, parameters=n.parameters())
        for k in range(3):
            loss = (n(tensor(np.arange(6).reshape(2, 3) * 0.1 * (k + 1))) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
    for a, b in zip(net.parameters(), twin.parameters()):
        close(a, b.numpy())


def test_a_whole_step_with_backward_inside():
    paddle.seed(3)
    net, twin = Quantised(), Quantised()
    twin.set_state_dict(net.state_dict())

    def step(n, opt, x):
        loss = (n(x) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    for n, wrap in ((net, static), (twin, lambda f: f)):
        opt = paddle.optimizer.Adam(0.1, parameters=n.parameters())
        run = wrap(lambda x, n=n, opt=opt: step(n, opt, x))
        for k in range(3):
            run(tensor(np.arange(6).reshape(2, 3) * 0.1 * (k + 1)))
    for a, b in zip(net.parameters(), twin.parameters()):
        close(a, b.numpy())
