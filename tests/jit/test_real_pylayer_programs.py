"""Programs with PyLayers in them: saved, with open sizes, interrupted, and what can't be captured."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.autograd import PyLayer
from real_core import Cube, N, P, check, close, outcome, same, static, tensor


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
    with pytest.raises(paddle._core.trace.GraphBreak, match="test_real_pylayer_programs.py"):
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
