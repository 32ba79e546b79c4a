"""Branches, loops and early exits on tensors equal plain Python for every path."""

from __future__ import annotations

import itertools

import fake_core as fc
import numpy as np
import pytest
from harness import arrays, check, f32, i64, tensors, trace

POS, NEG, ZERO = f32(1, 2), f32(-1, -2), f32(0, 0)


def test_if_else():
    def f(x):
        if x.sum() > 0:
            y = x + 1
        else:
            y = x - 1
        return y * 2

    check(f, (POS,), (NEG,), contains=["if"])


def test_elif_chain_and_reassignment():
    def f(x):
        y = x
        if x.sum() > 2:
            y = y + 1
        elif x.sum() > 0:
            y += 2
        elif x.sum() < -5:
            z = y * 3
            y = z
        else:
            pass
        return y

    check(f, (POS,), (f32(1, 0),), (f32(-3, -3),), (ZERO,))


def test_python_condition_keeps_python_semantics():
    calls = []

    def f(x, flag):
        if flag:
            calls.append("then")
            return x + 1
        else:
            calls.append("else")
            undefined_name  # noqa: B018, F821
        return x

    check(f, (POS, True), without=["if"])
    assert calls == ["then", "then"]


def test_temporaries_of_different_kind_are_not_carried():
    def f(x):
        if x.sum() > 0:
            t = "text"
            y = x + len(t)
        else:
            t = x * 2
            y = t
        t = 3
        return y + t

    check(f, (POS,), (NEG,))


def test_number_against_tensor_and_equal_numbers():
    def f(x):
        k = 3
        if x.sum() > 0:
            s = 0
            n = 2
            k = 3
        else:
            s = x.sum()
            n = 5
        assert isinstance(k, int)
        return s * x, n * x, k

    check(f, (POS,), (NEG,))


def test_structures_merge_leaf_by_leaf():
    def f(x):
        d = {"a": x, "b": (x, None)}
        if x.sum() > 0:
            d = {"a": x + 1, "b": (x * 2, None)}
            out = [x, 1]
        else:
            out = [x - 1, 1]
            d["a"] = x * 5
        return d, out

    check(f, (POS,), (NEG,))


def test_early_return():
    def f(x):
        if x.sum() > 10:
            return x * 10
        x = x + 1
        if x.sum() > 0:
            if x.max() > 2:
                return x * 3
            x = x * 2
        else:
            return x - 7
        return x + 0.5

    check(f, (POS,), (NEG,), (f32(20, 0),), (f32(0, 1),), (f32(1, 1.5),))


def test_return_in_nested_branch_without_else():
    def f(x):
        if x.sum() > 0:
            y = x * 2
            if y.max() > 3:
                return y
            x = y - 1
        x = x + 100
        return x

    check(f, (POS,), (NEG,), (f32(0.5, 0.5),))


def test_return_of_structures():
    def f(x):
        if x.sum() > 0:
            return x, {"k": x * 2}
        return x - 1, {"k": x}

    check(f, (POS,), (NEG,))


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
        AssertionError, match="'i', 'last' is used after a loop that ran no round.*test_control_flow.py"
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


def test_exits_under_with_and_try():
    class Manager:
        def __enter__(self):
            return 5

        def __exit__(self, *exc):
            return False

    def f(x, n):
        with Manager() as k:
            if x.sum() > 0:
                return x * k
            y = x - k
        try:
            z = y + 1
        except ValueError:
            z = x
        finally:
            z = z * 2
        for i in range(2):
            try:
                if n == i:
                    break
            finally:
                z = z + 1
        if z.sum() < -100:
            return z * 0
        return z

    check(f, (POS, 0), (NEG, 0), (f32(-200, 0), 0))


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
    with pytest.raises(AssertionError, match=r"sum of 1-D x \(.*test_control_flow.py:\d+\)"):
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


def test_match_statement_is_left_alone():
    def f(x, mode):
        match mode:
            case "a":
                if x.sum() > 0:
                    y = x
                else:
                    y = -x
            case _:
                return x * 3
        return y + 1

    check(f, (NEG, "a"), (POS, "a"))
    check(f, (NEG, "b"))


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
