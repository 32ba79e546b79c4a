"""Branches and early exits against plain Python, on the reference interpreter."""

from __future__ import annotations

from harness import check, f32

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
