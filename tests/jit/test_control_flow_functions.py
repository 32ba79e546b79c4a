"""paddle.static.nn's control flow and InputSpec."""

from __future__ import annotations

import fake_core as fc
import numpy as np
import pytest
from harness import check, f32, i64
from paddle.static.input_spec import InputSpec
from paddle.static.nn.control_flow import case, cond, switch_case, while_loop

POS, NEG = f32(1, 2), f32(-1, -2)


def test_cond():
    def f(x):
        y = cond(x.sum() > 0, lambda: (x * 2, {"a": [x, None]}), lambda: (x, {"a": [x - 1, None]}))
        z = cond(x.max() > 1, lambda: x, lambda: cond(x.sum() < -2, lambda: x * 5, lambda: x * 7))
        assert cond(x.sum() > 0, None, None) is None
        return y, z

    check(f, (POS,), (NEG,), (f32(-1, 0),), contains=["if"])


def test_functions_given_to_cond_are_transformed():
    def branch(x):
        for i in range(5):
            if x.sum() > 6:
                break
            x = x + i
        return x

    check(lambda x: cond(x.sum() > 0, lambda: branch(x), lambda: branch(-x)), (POS,), (NEG,))


def test_cond_errors():
    with pytest.raises(TypeError, match="true_fn in cond must be callable"):
        cond(fc.Tensor(True), 3, None)
    with pytest.raises(ValueError, match="must have one structure"):
        check(lambda x: cond(x.sum() > 0, lambda: x, lambda: None), (POS,))
    with pytest.raises(ValueError, match="must have one structure"):
        check(lambda x: cond(x.sum() > 0, lambda: (x, x), lambda: (x, x, x)), (POS,))


def test_branches_that_differ_as_official_paddle_says():
    """Errors that official Paddle 3.3.1 raises in static mode: their classes."""
    n = i64(1)
    for build in (
        lambda a, b, c: lambda x, n: cond(n == 0, lambda: a(x), lambda: b(x)),
        lambda a, b, c: lambda x, n: case([(n == 0, lambda: a(x)), (n == 1, lambda: b(x))], lambda: c(x)),
        lambda a, b, c: lambda x, n: switch_case(n, {0: lambda: a(x), 1: lambda: b(x)}, lambda: c(x)),
    ):
        twice = lambda x: x * 2  # noqa: E731
        with pytest.raises(RuntimeError, match="ranks must agree"):
            check(build(twice, lambda x: x.reshape([2, 1]), twice), (POS, n))
        with pytest.raises(RuntimeError, match="dtype float32 where .* int64|dtype int64 where .* float32"):
            check(build(twice, lambda x: x.astype("int64"), twice), (POS, n))
        with pytest.raises(ValueError, match="one structure"):
            check(build(twice, lambda x: (x, x), twice), (POS, n))
        mixed = build(lambda x: [x, x], lambda x: (x, x + 1), lambda x: [x, x])
        check(lambda x, n, f=mixed: list(f(x, n)), (POS, n))
    with pytest.raises(TypeError, match="'pred' in case must be bool, but received float32"):
        check(lambda x: case([(x, lambda: x)]), (POS,))
    with pytest.raises(TypeError, match="'branch_index' in switch_case must be uint8"):
        check(lambda x: switch_case(x, {0: lambda: x}), (POS,))


def test_while_loop():
    def f(x, n):
        i, (y, d) = while_loop(
            lambda i, s: i < n, lambda i, s: [i + 1, (s[0] * 2, {"k": s[1]["k"] + i})], [0, (x, {"k": 0})]
        )
        (j,) = while_loop(lambda j: j < n, lambda j: j + 2, (i,))
        return i + 0 * n, y, d, j

    check(f, (POS, i64(3)), (POS, i64(0)), contains=["while"])


def test_while_loop_errors():
    x = fc.Tensor(np.asarray(1.0))
    for args, error in [
        ((3, 3, [x]), TypeError),
        ((len, 3, [x]), TypeError),
        ((len, len, x), TypeError),
        ((len, len, []), ValueError),
    ]:
        with pytest.raises(error, match="while_loop"):
            while_loop(*args)
    with pytest.raises(ValueError, match="should return 2 loop variables, but returned 1"):
        while_loop(lambda a, b: a < 5, lambda a, b: a, [x, x])


def test_case_and_switch_case():
    def f(x, i):
        a = case([(x.sum() > 2, lambda: x), (x.sum() > 0, lambda: x * 2)], lambda: x * 3)
        b = case([(x.sum() > 2, lambda: x), (x.sum() > 0, lambda: x * 2)])
        c = switch_case(i, [lambda: x, lambda: x + 1, lambda: x + 2])
        d = switch_case(i, {7: lambda: x * 7, 1: lambda: x}, lambda: x * 0)
        return a, b, c, d

    check(f, (POS, i64(0)), (NEG, i64(1)), (f32(1, 0), i64(7)), (POS, i64(-3)))


@pytest.mark.parametrize(
    "call,error,text",
    [
        (lambda t: case([3]), TypeError, "must be <class 'tuple'>"),
        (lambda t: case([(t, 4, 5)]), TypeError, "3-tuple"),
        (lambda t: case([(t, 3)]), TypeError, "must be callable"),
        (lambda t: switch_case(t, [(1, abs), (1, abs)]), ValueError, "'1' appears more than once"),
        (lambda t: switch_case(t, [(1.5, abs)]), TypeError, "must be <class 'int'>"),
        (lambda t: switch_case(t, [(1, 3)]), TypeError, "for key 1"),
    ],
)
def test_case_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(fc.Tensor(np.asarray(1)))


def test_input_spec():
    s = InputSpec([None, 784], "float32", "x")
    assert repr(s) == "InputSpec(shape=(-1, 784), dtype=float32, name=x, stop_gradient=False)"
    assert s.batch(4).shape == (4, -1, 784) and s.unbatch().shape == (-1, 784)
    assert InputSpec.from_numpy(np.ones([2, 3])) == InputSpec((2, 3), "float64")
    assert InputSpec.from_tensor(fc.Tensor(np.ones(2, "int64")), "q").name == "q"
    assert hash(InputSpec([3])) == hash(InputSpec((3,))) and InputSpec([3]) != InputSpec([4])
    for call, error in [
        (lambda: InputSpec(3), TypeError),
        (lambda: InputSpec([1.5]), ValueError),
        (lambda: InputSpec([]).unbatch(), ValueError),
        (lambda: InputSpec([2]).batch("a"), TypeError),
        (lambda: InputSpec([2]).batch([1, 2]), ValueError),
        (lambda: InputSpec.from_tensor(3), ValueError),
    ]:
        with pytest.raises(error):
            call()
