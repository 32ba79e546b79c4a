"""Expressions, containers, state, assertions and prints in traced code, on the reference interpreter."""

from __future__ import annotations

import itertools

import fake_core as fc
import numpy as np
import pytest
from harness import arrays, check, f32, i64, tensors, trace

POS, NEG = f32(1, 2), f32(-1, -2)


@pytest.mark.parametrize("a,b,c", list(itertools.product([-1.0, 1.0], repeat=3)))
def test_boolean_operators(a, b, c):
    def f(x, y, z):
        out = x * 0
        if x > 0 and y > 0:
            out = out + 1
        if x > 0 or (y > 0 and not z > 0):
            out = out + 10
        if not (x > 0) and (y > z or z > y):
            out = out + 100
        if -2 < x < y + z <= 5:
            out = out + 1000
        p = x > 0 and y > 0
        q = y if (z > 0 or x > 0) else z
        return out, p, q

    run, _ = trace(f, (f32(1.0), f32(1.0), f32(1.0)))
    args = (f32(a), f32(b), f32(c))
    want = arrays(f(*tensors(args)))
    for g, w in zip(arrays(run(*args)), want):
        np.testing.assert_allclose(g, w)


def test_short_circuit_guards_indexing():
    def f(x, i):
        if i < 3 and x[i] > 0:
            return x * 2
        return x

    check(f, (f32(1, 2, 3), i64(1)), (f32(1, 2, 3), i64(5)), (f32(1, -2, 3), i64(1)), contains=["if"])


def test_python_short_circuit():
    def f(x, m):
        if m is not None and m.sum() > 0:
            x = x + m
        y = m or x
        z = None and m
        return x, y, z, (m is None or 1) and x

    check(f, (POS, None))


def test_list_appended_in_traced_loop():
    def f(x, n):
        out = []
        for i in range(n):
            out.append(x * i)
        return stack(out)

    def stack(items, axis=0):
        if isinstance(items, list):
            return fc.Tensor(np.stack([i.data for i in items], axis))
        return items.stack(axis)

    check(f, (POS, i64(3)), (POS, i64(5)))


def test_list_appended_in_branch():
    def f(x):
        out = [x, x * 2]
        if x.sum() > 0:
            out.append(x * 3)
        s = x * 0
        for v in out:
            s = s + v
        return s

    check(f, (POS,), (NEG,))


def test_list_appended_alike_in_both_branches_stays_python():
    def f(x):
        out = []
        for k in range(2):
            if x.sum() > k:
                out.append(x + k)
            else:
                out.append(x - k)
        assert len(out) == 2
        return out

    check(f, (POS,), (NEG,), (f32(0.5, 0),))


def test_dict_and_list_items_assigned_in_traced_code():
    def f(x, n):
        d = {"h": x, "c": x * 0}
        hs = [x, x]
        i = 0
        while i < n:
            d["h"] = d["h"] + 1
            hs[0] = hs[1] * 2
            if hs[0].sum() > 3:
                d["c"] = hs[0]
            hs[1] = d["h"]
            i = i + 1
        return d, hs

    check(f, (POS, i64(2)), (POS, i64(5)), (NEG, i64(0)))


def test_inplace_writes_in_branch_and_loop():
    def f(x, n):
        y = x * 1
        z = y
        if x.sum() > 0:
            y[0] = 7.0
            z.add_(1.0)
        i = 0
        while i < n:
            y[1] = y[1] + i
            i = i + 1
        return y, z

    check(f, (POS, i64(3)), (NEG, i64(3)), (NEG, i64(0)))


def test_attribute_state():
    class State:
        pass

    def f(x, n):
        s = State()
        s.h = x
        s.count = 0
        i = 0
        while i < n:
            s.h = s.h * 2
            if s.h.sum() > 5:
                s.count = s.count + 1
            i = i + 1
        return s.h, s.count + 0 * x

    check(f, (POS, i64(3)), (NEG, i64(2)), (POS, i64(0)))


def test_conditional_expression_and_walrus():
    def f(x, n):
        y = x if x.sum() > 0 else -x
        if (m := x.max()) > 1 and (k := m * 2) > 3:
            y = y + m + k
        while (r := y.sum()) < n:
            y = y + 1
        return y, r, m

    check(f, (POS, i64(30)), (NEG, i64(0)), (f32(1.2, 0), i64(9)))


def test_comprehensions():
    def f(x, k):
        def g(v):
            if v.sum() > 0:
                return v
            return v * 2

        a = [g(x + i) for i in range(3) if i != 1]
        b = {i: g(x - i) for i in (1, 2)}
        c = sum(g(x * i) for i in [1, 2])
        return a, b, c, [v if v.sum() > k else v - 1 for v in a]

    check(f, (POS, 3), (NEG, 3))


def test_assert_and_raise():
    def f(x):
        assert x.sum() > 0, f"sum of {x.ndim}-D x"
        if x.max() > 10:
            raise ValueError("too large")
        return x

    run, _ = trace(f, (POS,))
    np.testing.assert_allclose(arrays(run(POS)), POS)
    with pytest.raises(AssertionError, match=r"sum of 1-D x \(.*test_traced_values.py:\d+\)"):
        run(NEG)
    with pytest.raises(AssertionError, match="ValueError: too large"):
        run(f32(11, 0))


def test_print_of_tensors():
    def f(x):
        if x.sum() > 0:
            print("positive", x)
        print("python only")
        return x

    run, _ = trace(f, (POS,))
    fc.printed.clear()
    run(NEG)
    assert fc.printed == []
    run(POS)
    assert fc.printed[0][0] == "positive"
    np.testing.assert_allclose(fc.printed[0][1], POS)


def test_max_min_all_any_int_float_len():
    from paddle.jit._state import state

    def f(x, n):
        state.full_graph = True
        a = max(x[0], x[1])
        b = min(x[0], 0.5)
        c = all([x[0] > 0, x[1] > 0]) or any((x[0] > 5, x[1] < -5))
        return a + 0, b + 0 * x[0], x if c else x * 2, int(n) * x, float(n) * x

    run, _ = trace(f, (POS, i64(2)))
    try:
        for args in ((POS, i64(2)), (NEG, i64(3)), (f32(-9, -9), i64(1))):
            for g, w in zip(arrays(run(*args)), arrays(f(*tensors(args)))):
                np.testing.assert_allclose(g, w)
    finally:
        state.full_graph = False


def test_dropped_variable():
    def f(x):
        y = x * 2
        if x.sum() > 0:
            z = y + 1
            del y
        else:
            z = y
            del y
        y = z
        return y

    check(f, (POS,), (NEG,))


def test_annotated_names_and_exits_in_else_clauses():
    def f(x, items):
        y: object
        if x.sum() > 0:
            y: object = x
            z: int = 1
        else:
            y = -x
            z = 2
        for k in items:
            try:
                for j in (1, 2):
                    if k == j:
                        break
                else:
                    continue
                y = y + k * z
            except ZeroDivisionError:
                return y
        return y

    check(f, (POS, [1, 5, 2]), (NEG, [1, 5, 2]))
