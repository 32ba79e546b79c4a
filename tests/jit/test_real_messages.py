"""What captured functions print, assert and raise."""

from __future__ import annotations

import functools

import numpy as np
import paddle
import pytest
from real_core import I, N, P, check, static


def test_isinstance_strings_and_asserts():
    def f(x, mode="a"):
        assert isinstance(x, paddle.Tensor), f"got {type(x)}"
        assert x.shape[0] == 3, f"{x.shape}"
        key = f"{mode}-{x.shape[0]}-{x.ndim}-{str(x.dtype)}"
        y = {"a-3-1-paddle.float32": x * 2}.get(key, x)
        return y, key

    check(f, [P], [P, "b"])


def test_assert_on_a_tensor():
    @functools.partial(paddle.jit.to_static, full_graph=True)
    def f(x):
        assert (x > 0).all(), "must be positive"
        return x + 1

    np.testing.assert_allclose(f(paddle.to_tensor(P)).numpy(), P + 1)
    with pytest.raises(AssertionError, match=r"must be positive.*test_real_messages.py"):
        f(paddle.to_tensor(N))


def test_print_of_tensors(capsys):
    @functools.partial(paddle.jit.to_static, full_graph=True)
    def f(x):
        print("sum", x.sum())
        return x + 1

    for k in (1.0, 2.0):
        f(paddle.to_tensor(k * P))
        out = capsys.readouterr().out
        assert "sum" in out and f"{4.0 * k:.0f}." in out


def test_errors_name_the_original_line():
    def f(x):
        if x.sum() > 0:
            y = x
        else:
            y = [x]
        return y[0] + 1

    with pytest.raises(Exception, match=r"test_real_messages.py:\d+") as found:
        paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor(P))
    line = f.__code__.co_firstlineno
    assert any(f"test_real_messages.py:{line + k}" in str(found.value) for k in range(1, 7))


def printed(f, *args):
    import contextlib
    import io

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        f(*args)
    return out.getvalue(), err.getvalue()


def test_print_keeps_its_options():
    import sys

    def f(x):
        print("a", x, sep="|", end="!\n")
        print(x.sum(), "b", file=sys.stderr, flush=True)
        print(f"mean {x.mean():.3f} of {x.shape[0]}", f"<{x.sum()!s:>60}>", end="")
        return x + 1

    compiled = static(f)
    for v in (P, N):
        assert printed(compiled, paddle.to_tensor(v)) == printed(f, paddle.to_tensor(v))


def test_formats_of_tensors_in_branches_and_loops():
    def f(x, n):
        i = paddle.zeros([], "int64")
        while i < n:
            if x.sum() > 0:
                print(f"round {i}: {x.max():+.2e}")
            x = x * 2
            i = i + 1
        return x

    compiled = static(f)
    for v in (P, N):
        args = paddle.to_tensor(v), paddle.to_tensor(I)
        assert printed(compiled, *args) == printed(f, *args)


def test_messages_of_assertions_have_values():
    def f(x):
        assert (x > 0).all(), f"smallest is {x.min():.2f}"
        if x.max() > 100:
            raise ValueError(f"largest is {x.max():.1f}")
        return x

    compiled = static(f)
    compiled(paddle.to_tensor(P))
    with pytest.raises(AssertionError, match=r"smallest is -2.00 \(.*test_real_messages.py:\d+\)"):
        compiled(paddle.to_tensor(N))
    with pytest.raises(AssertionError, match=r"ValueError: largest is 200.0"):
        compiled(paddle.to_tensor(100 * P))


def test_texts_with_values_have_no_other_use():
    def f(x):
        table = {f"{x.sum():.1f}": 1}
        return x + len(table)

    with pytest.raises(TypeError, match=r"can be printed or be an assertion's message.*test_real_messages.py:\d+"):
        static(f)(paddle.to_tensor(P))
    np.testing.assert_allclose(paddle.jit.to_static(f)(paddle.to_tensor(P)).numpy(), P + 1)
