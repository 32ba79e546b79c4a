"""Tensor hooks in captured programs: what they do to gradients, by hand."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn
from real_core import I0, I, N, P, check, close, static, tensor


def test_on_a_tensor_made_inside():
    def f(x):
        y = x * 2
        y.register_hook(lambda g: g * 10)
        return (y * y).sum()

    x = tensor(P, True)
    static(f)(x).backward()
    close(x.grad, 10 * 8 * P)


def test_all_uses_count_also_earlier_ones():
    def f(x):
        y = x * 2
        a = y * 3
        y.register_hook(lambda g: paddle.clip(g, max=4.0))
        return (a + y * 2).sum()

    x = tensor(P, True)
    static(f)(x).backward()
    close(x.grad, np.full(3, 8.0))  # min(3 + 2, 4) * 2


def test_several_hooks_in_order_and_one_that_gives_nothing():
    def f(x):
        y = x * 1
        y.register_hook(lambda g: g + 1)
        y.register_hook(lambda g: None)
        y.register_hook(lambda g: g * 3)
        return y.sum()

    x = tensor(P, True)
    static(f)(x).backward()
    close(x.grad, np.full(3, 6.0))


def test_on_inputs_and_parameters():
    layer = nn.Linear(3, 1, bias_attr=False)
    layer.weight.set_value(np.ones((3, 1), "float32"))

    def f(x):
        x.register_hook(lambda g: g * 2)
        layer.weight.register_hook(lambda g: g * 3)
        return layer(x).sum()

    compiled = static(f)
    for _ in range(2):  # a hook of a program holds in that program only: it isn't registered again by each call
        x = tensor([P], True)
        compiled(x).backward()
        close(x.grad, [[2.0] * 3])
        close(layer.weight.grad, 3 * P[:, None])
        layer.clear_gradients()


def test_removed_hooks():
    def f(x):
        y = x * 1
        first = y.register_hook(lambda g: g * 2)
        second = y.register_hook(lambda g: g * 5)
        assert first.remove()
        assert not first.remove()
        out = y.sum()
        f.kept = second
        return out

    x = tensor(P, True)
    static(f)(x).backward()
    close(x.grad, np.full(3, 5.0))
    with pytest.raises(RuntimeError, match="part of a captured program"):
        f.kept.remove()


def test_in_branches_and_loops():
    def f(x, n):
        y = x
        i = paddle.zeros([], "int64")
        while i < n:
            y = y * 1.5
            y.register_hook(lambda g: g * 0.5 if g.sum() > 0 else g * 2)
            if y.sum() > 2:
                z = y * y
                z.register_hook(lambda g: g * 0.25)
                y = z + x
            i = i + 1
        return y

    check(f, [0.3 * P, I], [N, I], [P, I0])


def test_a_hook_reads_values_of_the_function():
    def f(x):
        y = x * 2
        z = paddle.exp(x)
        y.register_hook(lambda g: g * z)
        return y.sum()

    x = tensor(P, True)
    static(f)(x).backward()
    close(x.grad, 2 * np.exp(P))


def test_grad_and_second_order_inside():
    def f(x):
        y = x * x
        y.register_hook(lambda g: g * x)
        (g,) = paddle.grad(y.sum(), x, create_graph=True)  # x * 2 x
        (h,) = paddle.grad(g.sum(), x, create_graph=True)
        return g, h

    x = tensor(P, True)
    g, h = static(f)(x)
    close(g, 2 * P * P)
    close(h, 4 * P)


def test_second_order_through_the_eager_graph():
    def f(x):
        x.register_hook(lambda g: g * 3)
        y = x * x
        y.register_hook(lambda g: g * x)
        return y

    x = tensor(P, True)
    (g,) = paddle.grad(static(f)(x).sum(), x, create_graph=True)
    close(g, 6 * P * P)
    (h,) = paddle.grad(g.sum(), x)
    assert np.isfinite(h.numpy()).all()


def test_backward_inside():
    layer = nn.Linear(3, 3)
    opt = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
    w = layer.weight.numpy().copy()

    def step(x):
        h = layer(x)
        h.register_hook(lambda g: g * 4)
        h.sum().backward()
        opt.step()
        opt.clear_grad()

    static(step)(tensor([P]))
    close(layer.weight, w - 0.5 * 4 * np.tile(P[:, None], (1, 3)), rtol=1e-4)


def test_printing_hook(capsys):
    def f(x):
        y = x * 2
        y.register_hook(lambda g: print("gradient", g))
        return (y * 3).sum()

    compiled = static(f)
    for _ in range(2):
        x = tensor(P, True)
        compiled(x).backward()
        assert "gradient" in capsys.readouterr().out
        close(x.grad, np.full(3, 6.0))


def test_a_hook_that_keeps_gradients_runs_in_python():
    kept = []

    def f(x):
        y = x * 2
        y.register_hook(lambda g: kept.append(g * 1))
        return (y * y).sum()

    compiled = paddle.jit.to_static(f)
    for k in (1, 2):
        x = tensor(P, True)
        compiled(x).backward()
        close(x.grad, 8 * P)
        assert len(kept) == k
        close(kept[-1], 4 * P)


def test_segments():
    """Hooks on inputs hold beyond the place where the capture was interrupted."""

    def f(x):
        x.register_hook(lambda g: paddle.clip(g, max=3.5))
        y = x * 2
        y.register_hook(lambda g: g * 1)
        if float(y.sum()) > 0:
            return (y + x * 2).sum()
        return y.sum()

    compiled = paddle.jit.to_static(f)
    for v, expected in ((P, 3.5), (N, 2.0)):
        x = tensor(v, True)
        compiled(x).backward()
        close(x.grad, np.full(3, expected))


def test_errors():
    with pytest.raises(RuntimeError, match="stop gradient"):
        static(lambda x: x.register_hook(lambda g: g))(tensor(P))

    def f(x):
        y = x * 2
        y.register_hook(lambda g: g.sum())
        return y

    with pytest.raises(ValueError, match="register_hook.*shape"):
        static(f)(tensor(P, True))

    def h(x):
        y = x * 2
        if x.sum() > 0:
            y.register_hook(lambda g: g * 2)
        return y

    with pytest.raises(NotImplementedError, match="hook on a tensor from outside of a branch"):
        static(h)(tensor(P, True))
