"""Lists, tuples, dicts, arguments, sizes and slices, captured whole: as eager runs them."""

from __future__ import annotations

import numpy as np
import paddle
from real_core import I, I0, N, P, check, outcome, same


def test_lists_that_grow():
    def f(x, n):
        items = []
        i = paddle.zeros([], "int64")
        while i < n:
            items.append(x * i.astype("float32"))
            i = i + 1
        return paddle.stack(items).sum(0), paddle.concat(items), len(items)

    compiled = paddle.jit.to_static(f, full_graph=True)
    for n in (1, 3):
        a = outcome(compiled, [P, np.array(n, "int64")], {})
        b = outcome(f, [P, np.array(n, "int64")], {})
        assert int(a[3]) == b[3]
        same(a[:3] + a[4:], b[:3] + b[4:])


def test_containers_across_iterations():
    def f(x, n):
        state = {"h": x, "c": [x * 0, x + 1]}
        pair = (x, x * 2)
        i = paddle.zeros([], "int64")
        while i < n:
            state["h"] = state["h"] * 0.5 + state["c"][1]
            state["c"][0] = state["c"][0] + state["h"]
            pair = (pair[1], pair[0] + 1)
            i = i + 1
        return state, pair

    check(f, [P, I], [P, I0])


def test_tuple_and_dict_outputs_with_plain_values():
    def f(x, flag=True, name="n"):
        return {"x": x * 2, "more": (x, [name, 3, None]), "flag": flag}

    check(f, [P], [P, False], [P, False, "other"])


def test_keyword_arguments():
    def f(x, *rest, scale=1.0, **more):
        y = x * scale
        for r in rest:
            y = y + r
        for k in sorted(more):
            y = y * more[k]
        return y

    check(f, [P], [P, P], [P, P, N])
    check(f, [P, N], scale=2.0, b=P, a=3)


def test_comprehensions():
    def f(x, n=3):
        a = [x * i for i in range(n) if i != 1]
        b = {str(i): v + 1 for i, v in enumerate(a)}
        c = sum(v.sum() for v in a)
        d = [[v * w for v in a] for w in (1.0, 2.0)]
        return a, b, c, d[1][0] if c > 0 else d[0][0]

    check(f, [P], [N], [P, 4])


def test_shape_arithmetic():
    def f(x):
        b, s = x.shape
        n = paddle.shape(x)[0]
        half = s // 2
        y = x[:, :half].reshape([b * half, -1])
        z = paddle.zeros([b, s + 1]) + len(x)
        k = paddle.arange(s) * b
        w = x.reshape([-1]) if b > 2 else x.reshape([1, -1])
        return y, z, k, w, n.astype("float32") * x

    for shape in ((2, 4), (3, 4), (4, 6), (5, 8)):
        check(f, [np.random.RandomState(0).randn(*shape).astype("float32")])
    check(f, *[[np.random.RandomState(0).randn(b, 4).astype("float32")] for b in (2, 3, 5, 7, 1)])


def test_augmented_assignments_and_slices():
    def f(x, n):
        y = paddle.zeros([4, 3])
        i = paddle.zeros([], "int64")
        while i < n:
            y[i] = x * i.astype("float32")
            x += 1
            i += 1
        y[1:3] *= 2
        y[:, 0] = y[:, 1] + y[:, 2]
        if y.sum() > 0:
            y[0] += x
        return y

    check(f, [P, I], [N, I], [P, I0])


def test_min_max_any_all_len_sum_sorted():
    def f(x, y):
        a = max(x.sum(), y.sum())
        b = min(x.max(), y.max())
        c = any([x.sum() > 0, y.sum() > 0])
        d = all([x.sum() > 0, y.sum() > 0])
        e = sum([x, y, x])
        g = abs(x) + pow(y, 2) + (x // 1) + (x % 2) + divmod(7, 2)[0]
        return a, b, c, d, e, g, len(x), sorted([3, 1, 2])[0]

    check(f, [P, N], [N, P], [P, P], [N, N])


def test_namedtuple_and_starred():
    import collections

    Point = collections.namedtuple("Point", "a b")

    def f(x, *args):
        first, *rest = [x, x + 1, x + 2]
        p = Point(first, rest[-1])
        if x.sum() > 0:
            p = Point(p.b, p.a)
        a, b = p
        return [a, b, *rest, *args]

    check(f, [P], [N, P])


def test_comprehensions_that_choose_by_a_tensor():
    def f(x):
        return paddle.stack([x[0]] + [v * 2 for v in x if v > 0 if v < 1.8]).sum()

    def g(x, n):
        i = paddle.zeros([], "int64")
        total = paddle.zeros([])
        while i < n:
            total = total + paddle.stack([v for v in x if v > -9]).sum() + len([v for v in x if v > i])
            i = i + 1
        return total

    check(f, [P], [N], [np.array([0.5, 1, 1.5, 3, -2], "float32")])
    check(g, [P, I], [N, I])
