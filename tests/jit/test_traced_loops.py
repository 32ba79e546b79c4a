"""Loops against plain Python, on the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from harness import arrays, check, f32, i64, trace

POS, NEG, ZERO = f32(1, 2), f32(-1, -2), f32(0, 0)


def test_while():
    def f(x, n):
        i = 0
        while i < n:
            x = x * 2
            i += 1
        return x, i

    check(f, (POS, i64(3)), (POS, i64(0)), (NEG, i64(7)), contains=["while"])


def test_while_promotes_numbers():
    def f(x, n):
        s = 0
        k = 1
        while k < n:
            s = s + x
            k = k + 1
        return s + x * 0

    check(f, (POS, i64(3)), (POS, i64(0)))


def test_while_local_temporaries():
    def f(x, n):
        i = i0 = 0
        while i < n:
            name = "t" if i0 == 0 else "u"
            t = x * len(name)
            x = t + 1
            i = i + 1
        return x

    check(f, (POS, i64(3)), (POS, i64(1)))


def test_nested_while_with_break_and_continue():
    def f(x, n):
        i = 0
        total = x * 0
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            j = 0
            while True:
                if j >= i:
                    break
                total = total + j
                j += 1
            if total.sum() > 40:
                break
            total = total + 1
        return total, i

    check(f, (ZERO, i64(3)), (ZERO, i64(0)), (ZERO, i64(20)), (POS, i64(6)))


def test_while_with_return_inside():
    def f(x, n):
        i = 0
        while i < n:
            x = x * 2
            if x.sum() > 20:
                return x - 1
            i += 1
        return x

    check(f, (POS, i64(2)), (POS, i64(9)), (NEG, i64(3)), (POS, i64(0)))


def test_for_over_python_iterables_unrolls():
    def f(x, xs):
        out = x * 0
        for i, (a, b) in enumerate(zip(xs, [1, 2, 3])):
            out = out + a * b + i
        for k in {"p": 1, "q": 2}:
            out = out + len(k)
        for k, v in {"p": x, "q": x * 2}.items():
            out = out + v
        return out

    check(f, (POS, [POS, NEG, ZERO]), without=["while", "if"])


def test_for_range_tensor():
    def f(x, n):
        for i in range(n):
            x = x + i
        for i in range(1, n, 2):
            x = x * i
        return x

    check(f, (POS, i64(3)), (POS, i64(0)), (POS, i64(6)), contains=["while"])


def test_for_target_after_loop():
    def f(x, n):
        for i in range(n):
            last = x * i
        return last + i

    run, _ = trace(f, (POS, i64(3)))
    np.testing.assert_allclose(arrays(run(POS, i64(4))), POS * 3 + 3)
    with pytest.raises(
        AssertionError, match="'i', 'last' is used after a loop that ran no round.*test_traced_loops.py"
    ):
        run(POS, i64(0))


def test_for_over_symbolic_rows():
    def f(x):
        s = x[0] * 0
        for row in x:
            s = s + row * row
        for i, row in enumerate(x):
            s = s + row * i
        for i in range(x.shape[0]):
            s = s + x[i]
        for i in range(len(x)):
            if s.sum() > 1000:
                break
            s = s * 2
        return s

    a = np.arange(6, dtype="float32").reshape(3, 2)
    b = np.arange(14, dtype="float32").reshape(7, 2)
    check(f, (a,), (b,), symbolic=[(0, 0)], contains=["while"])


def test_break_on_tensor_unrolls_short_loops():
    def f(x, layers):
        used = 0
        for layer in layers:
            x = layer(x)
            used += 1
            if x.sum() > 10:
                break
        else:
            x = x - 1
        return x, used

    layers = [lambda t: t * 2, lambda t: t + 3, lambda t: t * t]
    check(f, (POS, layers), (f32(9, 0), layers), (NEG, layers), without=["while"])


def test_break_on_tensor_in_long_range():
    def f(x):
        for i in range(500):
            x = x + i
            if x.sum() > 100:
                break
        return x, i

    program = check(f, (POS,), (f32(99, 2),), (f32(-1e3, 0),))
    assert "while" in program.all_ops and len(program.all_ops) < 100


def test_for_with_return_and_else():
    def f(x):
        for i in range(3):
            if x[i] > 1:
                return x * i
        x = x + 10
        return x

    check(f, (f32(0, 0, 2),), (f32(0, 0, 0),), (f32(2, 0, 0),))


def test_list_read_and_popped_in_traced_loop():
    def f(x, n):
        stack = [x]
        i = 0
        while i < n:
            stack.append(stack[-1] * 2)
            i += 1
        top = stack.pop()
        s = top * 0
        for v in stack:
            s = s + v
        return top, s, stack[0], len(stack) + 0 * x

    check(f, (POS, i64(3)), (POS, i64(1)))


def test_loop_over_tensors_of_changing_size_in_python_bound():
    def f(x):
        xs = [x]
        for i in range(3):
            xs = xs + [xs[-1] * 2]
            if i == 1:
                continue
            xs.append(x)
        return xs

    check(f, (POS,))


def test_returns_in_loops_that_stay_native():
    def f(x, items):
        for k in items:
            try:
                if k == 4:
                    break
            except ZeroDivisionError:
                break
            if k == 1:
                continue
            if k == 3:
                return x * 3
            x = x + k
            try:
                if k == 5:
                    continue
            finally:
                x = x + 1
        if x.sum() > 0:
            x = x * 2
        return x

    for items in ([1, 2], [0, 3, 5], [5, 1, 4, 3]):
        check(f, (POS, items), (NEG, items))


def test_while_over_a_symbolic_size():
    def f(x):
        i = 0
        s = x[0] * 0
        while i < x.shape[0]:
            s = s + x[i] * i
            i += 1
        return s

    a = np.arange(6, dtype="float32").reshape(3, 2)
    check(f, (a,), (np.concatenate([a, a]),), symbolic=[(0, 0)], contains=["while"])
