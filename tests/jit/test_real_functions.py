"""Closures, decorators, classes and what is left out of a capture: as eager runs them."""

from __future__ import annotations

import functools

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from real_core import N, P, check, outcome, same


FACTOR = nn.Linear(3, 3)
SCALE = 2.0


def test_closures_and_globals():
    weight = paddle.to_tensor(P)
    weight.stop_gradient = False
    count = 3

    def make(k):
        def inner(v):
            return v * weight * k if v.sum() > 0 else v * count

        return inner

    def f(x):
        return make(2)(x) + make(3)(FACTOR(x)) * SCALE

    check(f, [P], [N])


def doubled(g):
    @functools.wraps(g)
    def wrapper(*args, **kwargs):
        y = g(*args, **kwargs)
        if y.sum() > 0:
            y = y * 2
        return y

    return wrapper


def test_decorators():
    @doubled
    @doubled
    def f(x):
        return x + 1 if x.max() > 1 else x - 1

    check(f, [P], [N])


class Base(nn.Layer):
    factor = 2.0

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("count", paddle.zeros([1]))

    def forward(self, x):
        if x.sum() > 0:
            return self.fc(x)
        return x

    @classmethod
    def twice(cls, x):
        return x * cls.factor if x.sum() > 0 else x / cls.factor

    @staticmethod
    def shift(x):
        return x + 1 if x.sum() > 0 else x - 1

    @property
    def size(self):
        return self.fc.weight.shape[0]


class Derived(Base):
    def __init__(self, n=3):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(3, 3) for _ in range(n)])
        self.extra = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.__private = 1.5

    def forward(self, x):
        y = super().forward(x)
        y = super(Derived, self).shift(y)  # noqa: UP008
        for k, block in enumerate(self.blocks):
            y = block(y) if k % 2 == 0 else F.relu(block(y))
            if y.sum() > 50:
                break
        y = self.twice(y) * self.size * self.__private
        self.count.add_(paddle.ones([1]))
        return self.extra(y) + self.count


def test_classes():
    net, twin = Derived(), Derived()
    twin.set_state_dict(net.state_dict())
    compiled = paddle.jit.to_static(net, full_graph=True)
    for x in (P, N, 30 * P):
        same(outcome(compiled, [x], {}), outcome(twin, [x], {}))
    np.testing.assert_array_equal(net.count.numpy(), twin.count.numpy())


def test_forward_hooks():
    net, twin = nn.Linear(3, 3), nn.Linear(3, 3)
    twin.set_state_dict(net.state_dict())
    for n in (net, twin):
        n.register_forward_pre_hook(lambda layer, args: (args[0] * 2,))
        n.register_forward_post_hook(lambda layer, args, out: out + args[0] if out.sum() > 0 else out - 1)
    plain = nn.Linear(3, 3)
    plain.set_state_dict(net.state_dict())
    compiled = paddle.jit.to_static(net, full_graph=True)
    branches = set()
    for x in (P, N, 10 * N):
        want = outcome(twin, [x], {})
        same(outcome(compiled, [x], {}), want)
        hooked = plain(paddle.to_tensor(2 * x)).numpy()
        branches.add(bool(hooked.sum() > 0))
        np.testing.assert_allclose(want[0], hooked + 2 * x if hooked.sum() > 0 else hooked - 1, rtol=2e-5, atol=1e-6)
    assert branches == {True, False}


def test_not_to_static_and_ignored_modules():
    @paddle.jit.not_to_static
    def plain(x):
        return x * 2 if isinstance(x, paddle.Tensor) else None

    def f(x):
        return plain(x) + 1 if x.sum() > 0 else plain(x)

    check(f, [P], [N])


def test_enable_to_static():
    seen = []

    @paddle.jit.to_static
    def f(x):
        seen.append(paddle._core.trace.tracing())
        return x + 1

    paddle.jit.enable_to_static(False)
    try:
        f(paddle.to_tensor(P))
    finally:
        paddle.jit.enable_to_static(True)
    f(paddle.to_tensor(P))
    assert seen == [False, True]


def test_local_functions_with_nonlocal():
    def f(x):
        total = x * 0

        def add(v):
            nonlocal total
            if v.sum() > 0:
                total = total + v
            else:
                total = total - v

        for k in range(3):
            add(x * (k - 1))
        return total

    check(f, [P], [N])
