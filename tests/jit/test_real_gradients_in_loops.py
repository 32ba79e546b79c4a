"""Gradients asked for inside a loop of tensor-dependent length, with respect to what its variables were made from: through all rounds
that have run, and on to what stands before the loop."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from real_core import I0, N, P, I, check, close, static, tensor

TWO, ONE = np.array(2, "int64"), np.array(1, "int64")


def grad(y, x, **options):
    return paddle.grad(y, x, retain_graph=True, **options)[0]


def test_made_before_the_loop():
    def f(x, n):
        h = x * 2
        total = paddle.zeros_like(x)
        i = paddle.zeros([], "int64")
        while i < n:
            total = total + grad((h * h).sum(), x)
            h = h * 0.5
            i = i + 1
        return total.detach()

    # Round k: h = 2x / 2**k, so the gradient is 8x / 4**k.
    for n in range(4):
        got = static(f)(tensor(P, grad=True), paddle.to_tensor(n))
        close(got, sum((8 * P / 4**k for k in range(n)), 0 * P))
    check(f, [P, I], [N, I0])


def test_a_step_along_the_gradient():
    def f(x, n):
        h = x * x
        i = paddle.zeros([], "int64")
        while i < n:
            g = grad(paddle.sin(h).sum(), x)
            h = h - 0.1 * g * paddle.cos(h)
            i = i + 1
        return h

    check(f, [P, I], [N, ONE], [P, I0], [P, np.array(5, "int64")])


def test_values_from_outside_that_each_round_uses():
    weight = tensor(P * 0.3, grad=True)

    def f(x, n):
        w = x * weight
        h = x + 1
        i = paddle.zeros([], "int64")
        total = paddle.zeros([])
        while i < n:
            h = paddle.tanh(h * w)
            gx, gw = paddle.grad((h * x).sum(), [x, weight], retain_graph=True)
            total = total + (gx * gw).sum()
            h = h + w
            i = i + 1
        return total, h

    check(f, [P, I], [N, ONE], [P, I0])


def test_a_variable_that_starts_without_a_gradient():
    def f(x, n):
        h = paddle.zeros_like(x)
        i = paddle.zeros([], "int64")
        total = paddle.zeros_like(x)
        while i < n:
            h = paddle.tanh(h * x + x)
            total = total + grad(h.sum(), x)
            i = i + 1
        return total.detach()

    check(f, [P, I], [N, ONE], [P, np.array(6, "int64")])


def test_more_than_one_gradient_in_a_round():
    def f(x, n):
        h = x * 3
        i = paddle.zeros([], "int64")
        while i < n:
            a = grad((h**3).sum(), x)
            h = h * 0.5 + 0.01 * a
            b = grad(paddle.exp(h * 0.1).sum(), x)
            h = h - b
            i = i + 1
        return h

    check(f, [P, I], [N, ONE], [P, TWO])


def test_second_order_inside():
    def f(x, n):
        h = x * 2
        i = paddle.zeros([], "int64")
        total = paddle.zeros([])
        while i < n:
            first = grad((h**3).sum(), x, create_graph=True)
            total = total + grad((first * x).sum(), x).sum()
            h = h * 0.9 + paddle.sin(x)
            i = i + 1
        return total.detach()

    check(f, [P, I], [N, ONE])


def test_the_gradient_is_differentiated_after_the_loop():
    def f(x, n):
        h = x * 2
        i = paddle.zeros([], "int64")
        total = paddle.zeros([])
        while i < n:
            g = grad((h * h * h).sum(), x, create_graph=True)
            total = total + (g * g).sum()
            h = paddle.sin(h) + 0.5 * x
            i = i + 1
        return total

    check(f, [P, I], [N, ONE], [P, I0])

    def slope(x, n):
        return grad(f(x, n), x, create_graph=True)

    check(slope, [P, TWO])


def test_in_a_branch_and_of_a_branch():
    def f(x, n):
        h = x * 2
        i = paddle.zeros([], "int64")
        total = paddle.zeros_like(x)
        while i < n:
            if i % 2 == 0:
                total = total + grad((h**2).sum(), x)
            if h.sum() > 1:
                h = h * 0.7
            else:
                h = paddle.exp(h * 0.1) * x
            i = i + 1
        return total.detach()

    check(f, [P, np.array(5, "int64")], [N, I], [P, I0])


def test_nested_loops():
    def f(x, n):
        h = x * 2
        i = paddle.zeros([], "int64")
        total = paddle.zeros_like(x)
        while i < n:
            j = paddle.zeros([], "int64")
            k = h * 0.5
            while j <= i:
                k = paddle.sin(k) + h
                total = total + grad((k * k).sum(), x)
                j = j + 1
            h = h * 0.8 + 0.1 * k
            i = i + 1
        return total.detach()

    check(f, [P, I], [N, ONE], [P, I0])


def test_a_loop_before_the_loop():
    def f(x, n):
        h = x
        i = paddle.zeros([], "int64")
        while i < n:
            h = paddle.sin(h) * 1.5
            i = i + 1
        total = paddle.zeros_like(x)
        while i > 0:
            total = total + grad((h * h).sum(), x)
            h = h * 0.5 + h * h * 0.1
            i = i - 1
        return total.detach()

    check(f, [P, I], [N, ONE])


def test_newton():
    def f(x, n):
        y = x**3 - 2
        i = paddle.zeros([], "int64")
        while i < n:
            x = (x - y / grad(y.sum(), x)).detach()
            x.stop_gradient = False
            y = x**3 - 2
            i = i + 1
        return x

    for n in (0, 1, 6):
        got = static(f)(tensor([1.0, 2.0, 3.0], grad=True), paddle.to_tensor(n))
        want = np.array([1.0, 2.0, 3.0])
        for _ in range(n):
            want = want - (want**3 - 2) / (3 * want**2)
        close(got, want)


def test_sizes_that_change_from_round_to_round():
    def f(x, n):
        h = x * 2
        i = paddle.zeros([], "int64")
        total = paddle.zeros_like(x)
        while i < n:
            h = paddle.concat([h * 0.5, x])
            total = total + grad((h * h).sum(), x)
            i = i + 1
        return total.detach()

    check(f, [P, I], [N, ONE])


def test_random_numbers_are_those_of_the_round():
    def f(x, n):
        h = x * 2
        i = paddle.zeros([], "int64")
        total = paddle.zeros_like(x)
        scale = paddle.ones_like(x)
        while i < n:
            noise = paddle.rand([3])
            h = h * noise
            scale = scale * noise
            total = total + grad(h.sum(), x) - 2 * scale
            i = i + 1
        return total

    close(static(f)(tensor(P, grad=True), paddle.to_tensor(4)), 0 * P)


def test_a_detached_tensor_that_is_made_to_need_a_gradient_has_no_history():
    def f(x):
        y = (x * 2).detach()
        y.stop_gradient = False
        return paddle.grad((y * x).sum(), [x, y])

    gx, gy = static(f)(tensor(P, grad=True))
    close(gx, 2 * P)
    close(gy, P)

    def g(x):
        y = x.detach()
        y.stop_gradient = False
        return (y * x).sum()

    x = tensor(P, grad=True)
    static(g)(x).backward()
    close(x.grad, P)


def raises(f, text):
    with pytest.raises(NotImplementedError, match=text) as caught:
        static(f)(tensor(P, grad=True), paddle.to_tensor(2))
    assert "test_real_gradients_in_loops.py" in str(caught.value)


def test_what_has_no_program_says_so():
    def grows(x, n):
        h = x * x
        i = paddle.zeros([], "int64")
        while i < n:
            h = h + grad((h * h).sum(), x, create_graph=True)
            i = i + 1
        return h

    raises(grows, "order of derivative grows")

    def first_only(x, n):
        h = x * x
        i = paddle.zeros([], "int64")
        while i < n:
            h = (h + grad((h * h).sum(), x)).detach()
            h.stop_gradient = False
            i = i + 1
        return h

    raises(first_only, "only the first round")


def test_what_has_no_program_is_left_to_python_where_that_may_be():
    def f(x, n):
        h = x * x
        i = paddle.zeros([], "int64")
        while i < n:
            h = h + grad((h * h).sum(), x, create_graph=True)
            i = i + 1
        return h

    want = f(tensor(P, grad=True), paddle.to_tensor(2))
    close(paddle.jit.to_static(f)(tensor(P, grad=True), paddle.to_tensor(2)), want.numpy())
