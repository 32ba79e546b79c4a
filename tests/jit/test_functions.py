"""What surrounds control flow: closures, classes, calls that are followed, calls that are left alone, errors and their lines."""

from __future__ import annotations

import functools
import traceback
import types

import fake_core as fc
import numpy as np
import pytest
from harness import arrays, check, f32, i64, tensors, trace
from paddle.jit.dy2static.convert import (
    NOT_TO_STATIC,
    convert_call,
    convert_function,
    ignore_module,
    transformed_source,
)

POS, NEG = f32(1, 2), f32(-1, -2)
OFFSET = 3
counter = 0


def halve_if_positive(x):
    if x.sum() > 0:
        return x / 2
    return x


def test_nothing_to_transform_returns_the_function_itself():
    def plain(x):
        return np.add(x, OFFSET)

    def generator(x):
        yield x

    assert convert_function(plain) is plain
    assert convert_function(generator) is generator
    assert convert_call(np.add) is np.add and convert_call(traceback.print_exc) is traceback.print_exc


def test_calls_are_followed():
    def f(x):
        return halve_if_positive(x) + functools.partial(halve_if_positive, x=x * 4)() + OFFSET

    check(f, (POS,), (NEG,))


def test_conversion_is_cached_per_code():
    assert convert_function(halve_if_positive) is convert_function(halve_if_positive)


def test_closure_cells_are_shared():
    total = [0]
    scale = 2.0

    def f(x):
        nonlocal scale
        total[0] += 1
        if x.sum() > 0:
            x = x * scale
        scale = scale + 1
        return x

    run, _ = trace(f, (POS,))
    assert scale == 3.0 and total == [1]
    np.testing.assert_allclose(arrays(run(POS)), POS * 2)


def test_globals_are_written():
    def f(x):
        global counter
        counter = counter + 1
        if x.sum() > 0:
            x = x + counter
        return x

    globals()["counter"] = 0
    run, _ = trace(f, (POS,))
    assert counter == 1
    np.testing.assert_allclose(arrays(run(NEG)), NEG)


def test_nested_functions_and_lambdas():
    def f(x, n):
        k = 1

        def inner(y, times=2):
            nonlocal k
            k = k + 1
            for _ in range(times):
                if y.sum() > n:
                    y = y - k
                else:
                    y = y + k
            return y

        pick = lambda a, b: a if a.sum() > b.sum() else b
        z = inner(x)
        z = pick(z, inner(x, times=3))
        return z, list(map(lambda v: v if v.sum() > 0 else -v, [x, z])), k

    check(f, (POS, 1.0), (NEG, 1.0))


def test_recursion_with_python_bound():
    def power(x, n):
        if n == 0:
            return x * 0 + 1
        if x.sum() > 100:
            return x
        return x * power(x, n - 1)

    check(power, (POS, 3), (NEG, 3))


def power_of(x, n):
    if n == 0:
        return x * 0 + 1
    if x.sum() > 100:
        return x
    return x * power_of(x, n - 1)


def test_recursion_of_a_global_function():
    check(power_of, (POS, 3), (NEG, 3))


def test_defaults_keywords_and_varargs():
    def f(x, *rest, scale=2, bias: float = 1.0, **more):
        if x.sum() > 0:
            return x * scale + bias + sum(rest) + more["k"]
        return x

    def g(x):
        return f(x, 1, 2, k=x, scale=5) + f(x, k=1)

    check(g, (POS,), (NEG,))


def deco(fn):
    @functools.wraps(fn)
    def wrapper(x, *args, **kwargs):
        if x.sum() > 1:
            return fn(x * 2, *args, **kwargs)
        return fn(x, *args, **kwargs)

    return wrapper


@deco
def decorated(x, y=1):
    if x.sum() > 5:
        return x + y
    return x - y


def test_decorated_functions():
    check(lambda x: decorated(x, y=3), (POS,), (NEG,), (f32(1, 0),))


class Base:
    def __init__(self):
        self.w = 2.0
        self.__secret = 10.0

    def forward(self, x):
        if x.sum() > 0:
            return x * self.w
        return x + self.__secret

    @classmethod
    def named(cls, x):
        if x.sum() > 0:
            x = x + len(cls.__name__)
        return x

    @staticmethod
    def still(x):
        return x if x.sum() > 0 else x * 3

    @property
    def prop(self):
        return self.w


class Child(Base):
    def forward(self, x):
        for k in range(2):
            if x.max() > k:
                x = super().forward(x) + self.prop
            else:
                x = super().forward(x - 1)
        return self.named(x) + self.still(x) + self.__private(x)

    def __private(self, x):
        __local = x
        if __local.sum() > 3:
            __local = __local * 2
        return __local

    def __call__(self, x):
        y = self.forward(x)
        if y.sum() > 0:
            return [super(Child, self).forward(y) for _ in range(2)]
        return [y, y]


def test_methods_super_and_private_names():
    model = Child()
    check(lambda x: model(x), (POS,), (NEG,), (f32(0.5, -1),))
    check(model.forward, (POS,), (NEG,))


def test_not_to_static_and_ignore_module():
    def quiet(x):
        return x + 1 if isinstance(x, fc.Tensor) else x

    setattr(quiet, NOT_TO_STATIC, True)
    assert convert_call(quiet) is quiet
    module = types.ModuleType("some_module")
    from paddle.jit.dy2static import convert

    ignore_module([module])
    try:

        def f(x):
            if x:
                return 1

        f.__module__ = "some_module.part"
        assert convert_call(f) is f
    finally:
        convert._ignored_modules.discard("some_module")
        convert.forget()


def test_exec_without_source_runs_as_is():
    space = {}
    exec("def f(x):\n    if x is None:\n        return 1\n    return 2", space)
    assert convert_call(space["f"]) is space["f"]


def test_traceback_names_the_original_line():
    def f(x):
        if x.sum() > 0:
            y = x + 1
            y = y + missing_name  # noqa: F821
        else:
            y = x
        return y

    with pytest.raises(NameError) as error:
        trace(f, (POS,))
    frames = traceback.extract_tb(error.value.__traceback__)
    assert (
        frames[-1].filename == __file__
        and frames[-1].line.startswith("y = y + missing_name")
        and frames[-1].name == "f"
    )

    from paddle.jit.dy2static.errors import trim_traceback

    names = [fr.filename.rsplit("/", 1)[-1] for fr in traceback.extract_tb(trim_traceback(error.value).__traceback__)]
    assert set(names) == {"test_functions.py", "harness.py"}


def test_undefined_in_one_branch():
    def f(x):
        if x.sum() > 0:
            y = x + 1
        return y + 1

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(
        UnboundLocalError, match=rf"'y' is only given a value when the condition is true.*test_functions.py:{line}\)"
    ):
        trace(f, (POS,))


@pytest.mark.parametrize(
    "body,text",
    [
        (lambda x: (None if x.sum() > 0 else x) + 1, "None .*and a Tensor of shape"),
        (lambda x: x if x.sum() > 0 else x.sum(), r"shape \[2\] if the condition holds and \[\]"),
        (lambda x: 1 if x > 0 else 2, "one with a single element is expected"),
    ],
)
def test_branches_that_do_not_match(body, text):
    with pytest.raises((TypeError, ValueError), match=text):
        trace(body, (POS,))


def test_loop_variable_that_changes_kind():
    def f(x, n):
        s = "a"
        i = 0
        while i < n:
            s = s + "b"
            i += 1
        return x * len(s)

    with pytest.raises(TypeError, match=r"variable 's' is 'a' \(str\) before and 'ab' \(str\) after a round"):
        trace(f, (POS, i64(3)))


def test_source_of_the_transformed_function():
    text = transformed_source(halve_if_positive)
    assert text.startswith("def halve_if_positive(x):") and "_jst.if_(" in text


def test_wraps_does_not_leak_conversion():
    inner = convert_function(halve_if_positive)

    @functools.wraps(halve_if_positive)
    def other(x):
        return x + 100 if x.sum() > 0 else x

    assert convert_function(other) is not inner
    check(other, (POS,), (NEG,))
    assert tensors(POS) is not None
