"""Captured functions whose tensors share memory in ways that only a call, a branch or a loop decides: what eager does."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from real_core import close, static, tensor

X = np.arange(12, dtype="float32").reshape(4, 3) / 5 + 0.5


def write_first(x, y):
    x[1] = y[2] * 2
    x.add_(y)
    return x * 1, y * 3


LAYOUTS = {
    "apart": lambda z: (z * 1, z * 2),
    "one tensor": lambda z: (z, z),
    "detached": lambda z: (z, z.detach()),
    "detached the other way": lambda z: (z.detach(), z),
    "whole view": lambda z: (z, z[:]),
    "view first": lambda z: (z[:], z),
    "reversed": lambda z: (z, z[::-1]),
    "transposed": lambda z: (z.reshape([3, 4]).T, z),
    "two views of one": lambda z: (z[:], z[:]),
}


def after(f, layout, grad):
    """Results and arguments after two calls, and the gradient of all of them."""
    root = tensor(X, grad)
    args = LAYOUTS[layout](root * 1.0)
    out = []
    for _ in range(2):
        out += f(*args)
    out += args
    ends = [t for t in out if not t.stop_gradient]
    if grad:
        sum((t * t).sum() for t in ends).backward()
    return [t.numpy() for t in out] + ([root.grad.numpy()] if grad else [])


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
def test_arguments_that_share_memory(layout, grad, whole):
    captured = paddle.jit.to_static(write_first, full_graph=whole)
    for name in (layout, "apart", layout):  # one program for each way to lie
        for got, want in zip(after(captured, name, grad), after(write_first, name, grad), strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-5, err_msg=name)


def test_as_numpy_says():
    z = X.copy()
    z[1] = z[2] * 2
    z += z
    captured = static(write_first)
    t = tensor(X)
    first, second = captured(t, t)
    close(t, z)
    close(first, z)
    close(second, 3 * z)


def test_arguments_that_overlap_in_part():
    def f(x, y):
        x.scale_(2.0)
        return y * 1

    with pytest.raises(NotImplementedError, match="memory is partly another"):
        z = tensor(X)
        static(f)(z[:3], z[1:])
    z, want = tensor(X), tensor(X)
    got = paddle.jit.to_static(f, full_graph=False)(z[:3], z[1:])
    close(got, f(want[:3], want[1:]).numpy())
    close(z, want.numpy())


class Kept(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", tensor(X))

    def forward(self, x):
        self.kept[0] = x[1] * 2
        x[3] = 7.0
        return self.kept.sum(), x * 1


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
@pytest.mark.parametrize("layout", ["itself", "detached", "view", "apart"])
def test_an_argument_that_is_a_buffer(layout, whole):
    ways = {
        "itself": lambda m: m.kept,
        "detached": lambda m: m.kept.detach(),
        "view": lambda m: m.kept[:],
        "apart": lambda m: m.kept * 1,
    }
    eager, layer = Kept(), Kept()
    captured = paddle.jit.to_static(layer.forward, full_graph=whole)
    for _ in range(3):
        for got, want in zip(captured(ways[layout](layer)), eager(ways[layout](eager))):
            close(got, want.numpy())
        close(layer.kept, eager.kept.numpy())


def one_sided(x, c):
    b = x * 1.0
    y = b[1:] if c > 0 else b[1:] * 2
    y[0] = 5.0
    z = y * 1
    b.add_(paddle.ones_like(b))
    return b * 1, y * 1, z


def either(x, c):
    a, b = x * 1.0, x * 2.0
    if c > 0:
        y = a
    else:
        y = b.T.reshape([3, 4]).T
        b = b * 1
    y.scale_(1.5)
    a[0] = 0.0
    return a * 1, b * 1, y * 1


def nested(x, c):
    b = x * 1.0
    y = b
    if c > 0:
        y = b[0:2]
        y = y[0]
    else:
        y = b[1].detach()
    y[1] = 3.0
    if c > 1:
        y.scale_(2.0)
    return b * 1, y * 1


def first_round(x, n):
    b = x * 1.0
    v, k = b, paddle.zeros([], "int64")
    while k < n:
        v.add_(paddle.ones_like(v))
        v = v * 2
        k = k + 1
    return b * 1, v * 1


def view_in_first_round(x, n):
    b = x * 1.0
    r, k = b[1], paddle.zeros([], "int64")
    while k < n:
        b.scale_(2.0)
        r = r + 1
        k = k + 1
    return b * 1, r * 1


def no_round(x, n):
    b = x * 1.0
    v, k = b, paddle.zeros([], "int64")
    while k < n:
        v = v * 2
        k = k + 1
    v[0] = 9.0
    return b * 1, v * 1


def alone(x, n):
    h, k = x * 1.0, paddle.zeros([], "int64")
    while k < n:
        h[1] = h[0] * 2
        if k > 0:
            h = h * 0.5
        k = k + 1
    return h


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
@pytest.mark.parametrize(
    "f", [one_sided, either, nested, first_round, view_in_first_round, no_round, alone], ids=lambda f: f.__name__
)
def test_memory_that_a_branch_or_loop_decides(f, whole):
    captured = paddle.jit.to_static(f, full_graph=whole)
    for number in (2, 0, 1, 3, -1):
        results = []
        for g in (captured, f):
            x = tensor(X, grad=True)
            out = g(x, paddle.to_tensor(number))
            out = list(out) if isinstance(out, tuple) else [out]
            sum((t * t).sum() for t in out if not t.stop_gradient).backward()
            results.append([*(t.numpy() for t in out), x.grad.numpy()])
        for got, want in zip(*results, strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5, err_msg=str(number))


def test_a_write_that_no_program_can_say_is_an_error():
    def f(x, n):
        b = x * 1.0
        v, w, k = b, b * 2, paddle.zeros([], "int64")
        while k < n:
            v.add_(paddle.ones_like(v))
            v, w = w, v
            k = k + 1
        return b * 1, v * 1, w * 1

    def of_itself(x, n):
        b = x * 1.0
        y, k = b, paddle.zeros([], "int64")
        while k < n:
            y = y.reshape([3, 4]).reshape([4, 3])
            k = k + 1
        y[1] = 0.5
        return b * 1, y * 1

    n = paddle.to_tensor(3)
    for refused in (f, of_itself):
        with pytest.raises((TypeError, RuntimeError), match="write to a copy"):
            static(refused)(tensor(X), n)
    for got, want in zip(paddle.jit.to_static(f, full_graph=False)(tensor(X), n), f(tensor(X), n)):
        close(got, want.numpy())


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
def test_what_is_written_goes_on_with_the_history(whole):
    class M(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", tensor(X))

        def forward(self, x, y):
            y[1] = x[0] * 2
            self.kept[2] = x[1] * 3
            return x.sum()

    grads = []
    for m in (M(), M()):
        f = paddle.jit.to_static(m.forward, full_graph=whole) if grads else m.forward
        root, other = tensor(X, grad=True), tensor(X, grad=True)
        y = other * 2
        s = f(root, y)
        (s + (y * y).sum() + (m.kept * m.kept).sum()).backward()
        grads.append((root.grad.numpy(), other.grad.numpy()))
    for want, got in zip(*grads):
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
def test_a_weight_that_is_thawed_learns(whole):
    layer = paddle.nn.Linear(3, 2)
    f = paddle.jit.to_static(lambda x: layer(x), full_graph=whole)
    for frozen in (True, False, True, False):
        layer.weight.clear_grad()
        layer.weight.stop_gradient = frozen
        f(tensor(X)).sum().backward()
        assert (layer.weight.grad is None or not layer.weight.grad.numpy().any()) == frozen


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "segments"])
def test_results_that_are_copies_have_memory_of_their_own(whole):
    layer = paddle.nn.Linear(3, 3)
    w = layer.weight.numpy()

    def f(x):
        y = x * 2
        return x.clone(), y, x * 2, y.clone(), layer.weight.detach().clone(), y[1:], x, x[:2]

    captured = paddle.jit.to_static(f, full_graph=whole)
    for g in (captured, captured, f):
        x = tensor(X)
        out = g(x)
        for t in out[:5]:
            t.zero_()
        close(x, X)
        np.testing.assert_array_equal(layer.weight.numpy(), w)
        close(out[5], 0 * X[1:])  # a view of y
        out[6][0] = 5.0
        close(x[0], [5, 5, 5])
        close(out[7][0], [5, 5, 5])
