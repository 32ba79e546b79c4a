"""Sizes that change between calls: how often a function is traced, why, and that results are eager's."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

import paddle.nn.functional as F
from paddle import nn


RANDOM = np.random.RandomState(2)


class RMSNorm(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.weight = self.create_parameter([width], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x):
        return x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Block(nn.Layer):
    """One block of Llama: rotary embedding, grouped heads, causal attention, SwiGLU."""

    def __init__(self, width=16, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q = nn.Linear(width, width, bias_attr=False)
        self.kv = nn.Linear(width, 2 * groups * self.size, bias_attr=False)
        self.o = nn.Linear(width, width, bias_attr=False)
        self.up = nn.Linear(width, 4 * width, bias_attr=False)
        self.down = nn.Linear(2 * width, width, bias_attr=False)
        self.before, self.after = RMSNorm(width), RMSNorm(width)

    def rotate(self, x, length):
        half = self.size // 2
        rate = 10000.0 ** (-paddle.arange(half, dtype="float32") / half)
        angle = paddle.arange(length, dtype="float32").unsqueeze(-1) * rate
        cos, sin = paddle.cos(angle).unsqueeze(1), paddle.sin(angle).unsqueeze(1)
        a, b = x[..., :half], x[..., half:]
        return paddle.concat([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def forward(self, x):
        batch, length, width = x.shape
        h = self.before(x)
        q = self.q(h).reshape([batch, length, self.heads, self.size])
        k, v = self.kv(h).reshape([batch, length, 2 * self.groups, self.size]).chunk(2, axis=2)
        q, k = self.rotate(q, length), self.rotate(k, length)
        k, v = (t.repeat_interleave(self.heads // self.groups, axis=2) for t in (k, v))
        q, k, v = (t.transpose([0, 2, 1, 3]) for t in (q, k, v))
        scores = paddle.matmul(q, k, transpose_y=True) / self.size**0.5
        mask = paddle.triu(paddle.full([length, length], -1e9), diagonal=1)
        y = paddle.matmul(F.softmax(scores + mask, axis=-1), v)
        x = x + self.o(y.transpose([0, 2, 1, 3]).reshape([batch, length, width]))
        gate, up = self.up(self.after(x)).chunk(2, axis=-1)
        return x + self.down(F.silu(gate)[..., : 2 * width] * up)


def compare(block, compiled, batch, length, grad):
    x = RANDOM.randn(batch, length, 16).astype("float32")
    got = []
    for run in (compiled, block):
        t = paddle.to_tensor(x)
        t.stop_gradient = not grad
        if grad:
            y = run(t)
            (y * y).sum().backward()
            got.append((y.numpy(), t.grad.numpy()))
        else:
            with paddle.no_grad():
                got.append((run(t).numpy(),))
    for a, b in zip(*got):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def blocks():
    block, twin = Block(), Block()
    twin.set_state_dict(block.state_dict())
    return twin, paddle.jit.to_static(block, full_graph=True)


def pairs(count, least):
    """Different (batch, length)."""
    every = [(b, n) for b in range(least, 14) for n in range(least, 14)]
    RANDOM.shuffle(every)
    return every[:count]


def test_a_hundred_sizes_through_one_block():
    eager, compiled = blocks()
    for batch, length in pairs(100, 2):
        compare(eager, compiled, batch, length, grad=False)
    assert compiled.forward.get_traced_count() <= 3, compiled.forward.report()


def test_a_hundred_sizes_with_ones():
    eager, compiled = blocks()
    chosen = pairs(96, 1)
    for batch, length in [*chosen, (1, 1), (1, 5), (7, 1), (5, 5)]:
        compare(eager, compiled, batch, length, grad=False)
    assert compiled.forward.get_traced_count() <= 6, compiled.forward.report()


def test_sizes_with_gradients():
    eager, compiled = blocks()
    for batch, length in pairs(12, 2):
        compare(eager, compiled, batch, length, grad=True)
    assert compiled.forward.get_traced_count() <= 3, compiled.forward.report()


def test_report_says_why_it_was_traced_again():
    scale = [2.0]

    @paddle.jit.to_static
    def f(x, mode="a"):
        return x * scale[0] if mode == "a" else x

    def reasons():
        return " ".join(f.report().events[-1].reasons)

    x = paddle.ones([3, 4])
    f(x)
    f(paddle.ones([5, 4]))
    assert "size 0 of x was 3, now 5" in reasons()
    f(paddle.ones([5, 4], "float64"))
    assert "dtype of x" in reasons()
    f(x, "b")
    assert "mode" in reasons() and "'b'" in reasons()
    count = f.get_traced_count()
    with paddle.no_grad():
        f(x)
    assert f.get_traced_count() == count + 1
    f(paddle.ones([7, 4]))
    assert f.get_traced_count() == count + 1


def test_declared_sizes_are_symbolic_from_the_first_call():
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]

    @lambda g: paddle.jit.to_static(g, input_spec=spec)
    def f(x):
        return x.reshape([-1]).sum() + x.shape[0]

    for n in (1, 2, 3, 0):
        assert float(f(paddle.ones([n, 4]))) == 5 * n
    assert f.get_traced_count() <= 2


def test_sizes_that_must_agree():
    """x[b, s] + y[c, s] needs b == c: the guard fails for other sizes and the function is traced again."""

    @paddle.jit.to_static
    def f(x, y):
        return x + y

    def run(b, c):
        return f(paddle.ones([b, 3]), paddle.ones([c, 3])).shape

    assert run(2, 2) == [2, 3]
    assert run(4, 4) == [4, 3]
    assert run(6, 6) == [6, 3]
    traced = f.get_traced_count()
    assert traced <= 2
    assert run(5, 1) == [5, 3]
    with pytest.raises(ValueError):
        run(4, 5)
    assert run(7, 7) == [7, 3]


def test_python_decides_on_a_size():
    @paddle.jit.to_static
    def f(x):
        if x.shape[0] > 4:
            return x * 2
        return x

    for n in (2, 3, 5, 6, 4, 9):
        np.testing.assert_array_equal(f(paddle.ones([n])).numpy(), np.ones(n) * (2 if n > 4 else 1))
    assert f.get_traced_count() <= 4


def test_size_of_data():
    @paddle.jit.to_static
    def f(x):
        found = paddle.nonzero(x > 0)
        if found.shape[0] > 0:
            return x[found[:, 0]].sum()
        return x.sum() * 0

    for _ in range(5):
        x = RANDOM.randn(6).astype("float32")
        np.testing.assert_allclose(f(paddle.to_tensor(x)).numpy(), x[x > 0].sum(), rtol=1e-5)
