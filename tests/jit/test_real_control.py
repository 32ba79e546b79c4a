"""Control flow of model code, captured whole: as eager runs it, on inputs that take each of its ways."""

from __future__ import annotations

import contextlib

import numpy as np
import paddle
from real_core import I, I0, N, P, check


def test_if_elif_else():
    def f(x):
        s = x.sum()
        if s > 3:
            y = x * 2
        elif s > 0:
            y = x + 10
        elif s > -3:
            y = -x
        else:
            y = x * x
        return y

    check(f, [P], [P / 4], [N / 4], [N])


def test_returns_at_any_depth():
    def f(x):
        for k in range(4):
            if x.sum() > 5:
                if x[0] > 1:
                    return x * 100
                else:
                    return x * 10
            x = x + k
        return x - 1

    check(f, [P], [3 * P], [N], [10 * N])


def test_break_and_continue():
    def f(x, n):
        total = paddle.zeros([])
        i = paddle.zeros([], "int64")
        while i < n:
            i = i + 1
            if i % 2 == 0:
                continue
            if total > 4:
                break
            total = total + (x * i.astype("float32")).sum()
        return total, i

    check(f, [P, I], [N, I], [P, I0], [P / 8, np.array(9, "int64")])


def test_while_else_and_for_else():
    def f(x, n):
        i = paddle.zeros([], "int64")
        while i < n:
            if (x * i.astype("float32")).sum() > 10:
                break
            i = i + 1
        else:
            x = x * 2
        for row in x:
            if row > 100:
                break
        else:
            x = x + 1
        return x

    check(f, [P, I], [P, np.array(9, "int64")], [100 * P, I])


def test_for_over_everything():
    def f(x, n, m):
        out = []
        for i in range(n):
            x = x + i
        for row in m:
            out.append(row * x)
        for k, (a, b) in enumerate(zip(m, [1.0, 2.0])):
            out.append(a * b + k)
        for name, v in {"a": x, "b": x * 2}.items():
            out.append(v if name == "a" else v - 1)
        for v in (x, x + 1):
            out.append(v)
        for a in reversed([x, 2 * x]):
            out.append(a)
        return out

    m = np.arange(6, dtype="float32").reshape(2, 3)
    check(f, [P, I, m], [N, I0, m])


def test_booleans_comparisons_ternaries():
    def f(x, y):
        a = x.sum() > 0 and y.sum() > 0
        b = x.sum() > 0 or y.sum() > 0
        c = not (x.sum() > 0)
        d = 0 < x.sum() < 5
        e = x if x.sum() > y.sum() else y
        g = (x * 2 if a else x * 3) if b else x * 4
        return a, b, c, d, e, g

    check(f, [P, P], [P, N], [N, P], [N, N], [2 * P, N])


def test_and_or_stop_early():
    def f(x, items=None):
        if items is not None and len(items) > 2 and x.sum() > 0:
            return x * len(items)
        if items is None or x.sum() > 0:
            return x + 1
        return x - 1

    check(f, [P], [P, [1, 2, 3]], [N, [1, 2, 3]], [N])


def test_recursion_with_a_python_bound():
    def power(x, k):
        if k == 0:
            return paddle.ones_like(x)
        if k % 2 == 0:
            half = power(x, k // 2)
            return half * half
        y = power(x, k - 1)
        return y * x if x.sum() > 0 else -y * x

    def f(x, k=5):
        return power(x, k)

    check(f, [P], [N], [P, 6])


def test_static_control_flow_functions():
    def f(x, n):
        a = paddle.static.nn.cond(x.sum() > 0, lambda: x * 2, lambda: x - 1)
        i = paddle.zeros([], "int64")
        i, b = paddle.static.nn.while_loop(lambda i, b: i < n, lambda i, b: [i + 1, b * 1.5], [i, x])
        c = paddle.static.nn.case([(x.sum() > 3, lambda: x + 1), (x.sum() > 0, lambda: x + 2)], default=lambda: x + 3)
        d = paddle.static.nn.switch_case(n, {0: lambda: x, 3: lambda: x * 3}, default=lambda: x * 9)
        return a, b, c, d

    check(f, [P, I], [N, I], [P / 8, I0], [N, np.array(1, "int64")])


def test_match():
    def f(x, mode="a"):
        match mode:
            case "a":
                y = x * 2 if x.sum() > 0 else x
            case "b" | "c":
                y = x + 1
            case _:
                y = x - 1
        return y

    check(f, [P], [N], [P, "b"], [P, "z"])


def test_try_with_lambda_walrus():
    @contextlib.contextmanager
    def scope(log):
        log.append("in")
        yield
        log.append("out")

    def f(x, table=None):
        log = []
        with scope(log):
            if x.sum() > 0:
                x = x * 2
        with paddle.no_grad():
            k = x.sum()
        try:
            y = x + {"a": 1.0}["b"]
        except KeyError:
            y = x + 3
        finally:
            log.append("end")
        g = lambda v: v * 2 if v.sum() > 0 else v  # noqa: E731
        if (s := y.sum()) > 1:
            y = y + s
        return g(y), k, log

    check(f, [P], [N])


def test_a_return_in_the_else_of_a_loop():
    def f(x):
        for v in x:
            if v > 1.8:
                break
        else:
            return x * 2
        return x

    def g(x):
        for _ in range(2):
            for v in x:
                if v > 4:
                    break
            else:
                x = x * 2
                continue
            break
        else:
            return -x
        return x

    check(f, [P], [N], [P / 4])
    check(g, [P], [N], [3 * P])
