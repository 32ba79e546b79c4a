"""What variables mean after a loop that a tensor breaks off, or a round that it cuts short."""

from __future__ import annotations

import paddle
import pytest
from paddle.jit.dy2static.errors import Dy2StaticTypeError
from real_core import N, P, argument, check, outcome, same, static

CALLS = ([P], [N], [0.3 * P], [P * 0])


def test_a_value_given_before_break_or_in_else():
    def short(x):
        for i in range(1, 4):
            if (x * i).sum() > 2:
                r, k = x * i, i
                break
        else:
            r, k = x - 1, -1
        return r, k

    def long(x):
        for i in range(1, 64):
            if (x * i).sum() > 2:
                r, k = x * i, i
                break
        else:
            r, k = x - 1, -1
        return r, k

    def by_test(x):
        i = 0
        while i < 5:
            if (x * i).sum() > 3:
                r = x * i
                break
            i += 1
        else:
            r = x
        return r, i

    for f in (short, long, by_test):
        check(f, *CALLS)


def test_a_value_that_differs_in_rounds():
    def f(x):
        out = x
        for i in range(1, 4):
            if (x * i).sum() > 2:
                y = x * i
                break
            y = x - i
            out = out + y
        return out + y

    def g(x):
        t = x * 0
        for i in range(4):
            if x.sum() > i:
                v = x * i
            else:
                continue
            t = t + v
        return t

    for fn in (f, g):
        check(fn, *CALLS)


def none_or_tensor(x):
    r = None
    for i in range(1, 4):
        if (x * i).sum() > 2:
            r = x * i
            break
    return r if r is not None else x - 1


def number_or_text(x):
    y = 3
    for i in range(1, 4):
        if (x * i).sum() > 2:
            y = "s"
            break
    return x * 2 if y == 3 else x * 3


@pytest.mark.parametrize("f", [none_or_tensor, number_or_text])
def test_kinds_that_no_program_holds_are_errors_and_never_the_other_one(f):
    with pytest.raises(Dy2StaticTypeError, match="both must agree.*test_real_exits.py"):
        static(f)(argument(P))


@pytest.mark.parametrize("f", [none_or_tensor, number_or_text])
def test_python_decides_where_the_capture_may_be_interrupted(f):
    compiled = paddle.jit.to_static(f, full_graph=False)
    for _ in range(2):
        for (v,) in CALLS:
            same(outcome(compiled, [v]), outcome(f, [v]))
