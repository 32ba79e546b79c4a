"""Items that a tensor chooses, lists of traced length in displays, comprehensions with conditions: as eager runs them."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle.jit.dy2static.errors import Dy2StaticTypeError
from real_core import I0, I, N, P, argument, check, static

ONE, TWO, LAST = np.array(1), np.array(2), np.array(-1)
ROUNDS = ([P, I], [N, I], [P, I0])


def test_a_tensor_indexes_lists_and_tuples():
    def f(x, n):
        alike, pairs, unlike = [x, x * 2, x * x], ((x, 1), (x * 2, 2), (x * x, 3)), [x, x.sum(), x * 3]
        a, b = pairs[n]
        return alike[n] * 2 + alike[-1], a * b, x * [1.0, 2.5, 7.0][n], x * unlike[0]

    check(f, [P, ONE], [P, TWO], [N, LAST])


def test_a_tensor_indexes_lists_in_loops():
    def f(x, n):
        items, total = [x, x * 2, x * x], x * 0
        i = paddle.zeros([], "int64")
        while i < n:
            total = total + items[i] * items[i + 1]
            i = i + 1
        return total

    check(f, [P, ONE], [P, TWO])


def test_items_that_a_tensor_chooses_are_assigned():
    def f(x, n):
        items, more = [x, x * 2, x * x], [x, x + 1, x + 2]
        items[n] = x * 10
        items[n - 1] += x
        i = paddle.zeros([], "int64")
        while i < n:
            more[i] = more[i] * 3 + x
            i = i + 1
        return items, more

    check(f, [P, ONE], [P, TWO])


def test_an_index_beyond_the_list_is_an_error_of_the_run():
    def f(x, n):
        return [x, x * 2][n]

    compiled = static(f)
    compiled(argument(P), argument(ONE))
    with pytest.raises(Exception, match="IndexError: list index out of range.*test_real_items.py"):
        compiled(argument(P), argument(TWO)).numpy()


def test_an_item_that_a_tensor_chooses_is_not_changed_in_place():
    def f(x, n):
        items = [x * 1, x * 2, x * x]
        items[n][0] = 5.0
        return items

    def g(x, n):
        items = [x * 1, x * 2, x * x]
        items[n].add_(x)
        return items

    for fn in (f, g):
        with pytest.raises(Dy2StaticTypeError, match="changed in place.*test_real_items.py"):
            static(fn)(argument(P), argument(ONE))


def test_tensors_indexed_by_variables_stay_views():
    def f(x, n):
        y, k = x * 1, 1
        y[k] = 5.0
        y[k:][0] += 2.0
        d = {"a": y}
        key = "a"
        d[key][0] = 3.0
        return y, d[key]

    check(f, [P, ONE])


def test_lists_of_traced_length_in_displays():
    def f(x, n):
        ys = []
        i = paddle.zeros([], "int64")
        while i < n:
            ys.append(x * i)
            i = i + 1
        longer, total = [x, *ys, x * 5], x * 0
        for z in longer:
            total = total + z * z
        return total, longer, paddle.concat([*ys, *ys, x]), [*(x, x), 1], (*[x], 2)

    check(f, *ROUNDS)


def test_generator_expressions_with_conditions():
    def f(x, n):
        xs = [x, -x, x * 2, x - 3]
        total = x * 0
        for w in (v * v for v in xs if v.sum() > 0):
            total = total + w
        return (
            total,
            sum(v * v for v in xs if v.sum() > 0),
            list(v * 3 for v in xs if v.sum() > 0),
            x + 1 if any(v.sum() > 3 for v in xs if v.max() > 1) else x - 1,
            x + 1 if all(v.sum() > 3 for v in xs if v.max() > 1) else x - 1,
            max(v.sum() for v in xs if v.sum() > -100),
            list(filter(lambda v: v.sum() > 0, xs)),
            paddle.stack([v for v in xs if v.sum() > -50]),
        )

    check(f, *ROUNDS)


def test_comprehensions_of_several_loops_with_conditions():
    def f(x, n):
        xs = [x, -x]
        return (
            [a * b for a in xs for b in xs if (a * b).sum() > 0],
            [a * b for a in xs if a.sum() > 0 for b in xs],
            [(i, v) for i, v in enumerate(xs) if v.sum() > 0],
            [x * i for i in range(n) if i % 2 == 0],
            [a + k for a in xs if k_is_odd(len(xs)) or a.sum() > 0 for k in range(3) if k != 1],
        )

    def k_is_odd(k):
        return k % 2 == 1

    check(f, *ROUNDS)


def test_python_conditions_stay_lazy():
    def f(x, n):
        seen = []

        def keep(k):
            seen.append(k)
            return k > 1

        first = next(k for k in range(10) if keep(k))
        return x * first, seen, any(keep(k) for k in range(4) if k > 2), seen

    check(f, [P, I])


def test_membership_alone_is_captured():
    def f(x, n):
        return n in [1, 3, 5]

    check(f, [P, I], [P, TWO])
