"""PyLayer in captured programs: values and gradients against NumPy, against finite differences, and as eager runs it."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.autograd import PyLayer
from real_core import I0, I, N, P, check, close, outcome, same, static, tensor


class Cube(PyLayer):
    """x ** 3 with a gradient of its own (twice the true one), so that a derived gradient would be seen."""

    @staticmethod
    def forward(ctx, x, scale=2.0):
        ctx.scale = scale
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * 3 * x * x * ctx.scale


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


def test_sizes_that_are_open():
    f = paddle.jit.to_static(
        lambda x: Cube.apply(x), input_spec=[paddle.static.InputSpec([None, 3], "float32", stop_gradient=False)]
    )
    for n in (2, 5, 1):
        v = np.random.RandomState(n).randn(n, 3).astype("float32")
        x = tensor(v, True)
        f(x).sum().backward()
        close(x.grad, 6 * v**2, rtol=1e-4)


def test_saved_program_needs_only_the_forward(tmp_path):
    class Net(nn.Layer):
        def forward(self, x):
            return Cube.apply(x) + 1

    path = str(tmp_path / "net")
    paddle.jit.save(Net(), path, input_spec=[paddle.static.InputSpec([None, 3], "float32", stop_gradient=False)])
    loaded = paddle.jit.load(path)
    close(loaded(tensor([P])), [P**3 + 1])
    text = (tmp_path / "net.json").read_text()
    assert "custom_grad" not in text


def test_under_autocast_and_recompute():
    def f(x, w):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            y = paddle.matmul(x, w)
        return Cube.apply(y.astype("float32"))

    args = [np.eye(3, dtype="float32") * 2, np.eye(3, dtype="float32")]
    same(outcome(static(f), args), outcome(f, args))

    def g(x):
        return paddle.distributed.fleet.utils.recompute(lambda v: Cube.apply(v * 2) * v, x)

    check(g, [P], [N])


class Peeks(PyLayer):
    """Its backward can't be captured: it reads a value."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * float(ctx.saved_tensor()[0].numpy().sum())


def test_what_cannot_be_captured():
    f = paddle.jit.to_static(lambda x: Peeks.apply(x * 1) * 3)
    for k in (1.0, 2.0):
        x = tensor(k * P, True)
        out = f(x)
        close(out, 6 * k * P)
        out.sum().backward()
        close(x.grad, np.full(3, 3 * 4 * k))
    with pytest.raises(paddle._core.trace.GraphBreak, match="test_real_pylayer.py"):
        static(lambda x: Peeks.apply(x * 1) * 3)(tensor(P, True))


class Wrong(PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x.sum()

    @staticmethod
    def backward(ctx, g):
        return g


def test_bad_gradients():
    with pytest.raises(ValueError, match=r"Wrong.*shape \[3\].*got \[\]"):
        static(lambda x: Wrong.apply(x))(tensor(P, True))

    class Text(Wrong):
        @staticmethod
        def backward(ctx, g):
            return "no gradient"

    with pytest.raises(TypeError, match="expected backward to return Tensors or None, got str"):
        static(lambda x: Text.apply(x))(tensor(P, True))

    class Many(Wrong):
        @staticmethod
        def backward(ctx, g):
            return g, g

    with pytest.raises(ValueError, match="returned 2 gradients, expected 1"):
        static(lambda x: Many.apply(x))(tensor(P, True))


def test_without_gradients_nothing_is_left_of_it():
    f = static(lambda x: Cube.apply(x))
    close(f(tensor(P)), P**3)
    assert "custom_grad" not in str(f.concrete_program.main_program)
    g = static(lambda x: Cube.apply(x))
    g(tensor(P, True))
    assert "custom_grad" in str(g.concrete_program.main_program)
    assert "custom_grad" not in g.concrete_program.main_program.compiled()


def test_a_function_of_a_program_of_its_own():
    """static_pylayer, in eager, captured, and in a branch."""

    def f(x):
        return paddle.static.nn.static_pylayer(lambda v: v * v, [x], lambda g: g * 9)

    for wrap in (static, lambda f: f):
        x = tensor(P, True)
        out = wrap(f)(x)
        close(out, P * P)
        out.sum().backward()
        close(x.grad, np.full(3, 9.0))
