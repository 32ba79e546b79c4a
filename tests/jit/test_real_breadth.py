"""What model code does in Python, captured whole: each function as eager runs it, on inputs that take each of its ways."""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")
pytest.importorskip("paddle._core")
if not hasattr(getattr(paddle, "_core", None), "trace"):
    pytest.skip("the extension module is not built", allow_module_level=True)

import paddle.nn.functional as F  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.jit import _trace_api  # noqa: E402


@pytest.fixture(autouse=True)
def reference_core():
    previous = _trace_api.install(paddle._core.trace)
    yield
    _trace_api.install(previous)


def tensor(v, grad=True):
    if not isinstance(v, np.ndarray):
        return v
    t = paddle.to_tensor(v)
    t.stop_gradient = not (grad and v.dtype.kind == "f")
    return t


def leaves(value):
    if isinstance(value, dict):
        return [x for k in value for x in [k, *leaves(value[k])]]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(x for v in value for x in leaves(v))]
    return [value]


def outcome(f, args, kwargs):
    args = [tensor(a) for a in args]
    kwargs = {k: tensor(v) for k, v in kwargs.items()}
    result = f(*args, **kwargs)
    out = leaves(result)
    roots = [v for v in out if isinstance(v, paddle.Tensor) and not v.stop_gradient]
    if roots:
        sum((v * v).sum() for v in roots).backward()
    grads = [a.grad for a in args if isinstance(a, paddle.Tensor)]
    return [v.numpy() if isinstance(v, paddle.Tensor) else v for v in [*out, *grads]]


def same(a, b):
    assert len(a) == len(b), (a, b)
    for x, y in zip(a, b):
        if isinstance(y, np.ndarray):
            assert x is not None and x.dtype == y.dtype, (x, y)
            np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)
        elif isinstance(x, np.ndarray) and y is None:
            assert not x.any()  # a gradient that nothing reaches: none, or zeros
        else:
            assert x == y or x is y, (x, y)


def check(f, *calls, **kwargs):
    compiled = paddle.jit.to_static(f, full_graph=True)
    for _ in range(2):
        for args in calls:
            same(outcome(compiled, args, kwargs), outcome(f, args, kwargs))
    return compiled


P = np.array([0.5, 1.5, 2.0], "float32")
N = -P
I = np.array(3, "int64")  # noqa: E741
I0 = np.array(0, "int64")


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


FACTOR = nn.Linear(3, 3)
SCALE = 2.0


def test_closures_and_globals():
    weight = paddle.to_tensor(P)
    weight.stop_gradient = False
    count = 3

    def make(k):
        def inner(v):
            return v * weight * k if v.sum() > 0 else v * count

        return inner

    def f(x):
        return make(2)(x) + make(3)(FACTOR(x)) * SCALE

    check(f, [P], [N])


def doubled(g):
    @functools.wraps(g)
    def wrapper(*args, **kwargs):
        y = g(*args, **kwargs)
        if y.sum() > 0:
            y = y * 2
        return y

    return wrapper


def test_decorators():
    @doubled
    @doubled
    def f(x):
        return x + 1 if x.max() > 1 else x - 1

    check(f, [P], [N])


class Base(nn.Layer):
    factor = 2.0

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("count", paddle.zeros([1]))

    def forward(self, x):
        if x.sum() > 0:
            return self.fc(x)
        return x

    @classmethod
    def twice(cls, x):
        return x * cls.factor if x.sum() > 0 else x / cls.factor

    @staticmethod
    def shift(x):
        return x + 1 if x.sum() > 0 else x - 1

    @property
    def size(self):
        return self.fc.weight.shape[0]


class Derived(Base):
    def __init__(self, n=3):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(3, 3) for _ in range(n)])
        self.extra = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.__private = 1.5

    def forward(self, x):
        y = super().forward(x)
        y = super(Derived, self).shift(y)  # noqa: UP008
        for k, block in enumerate(self.blocks):
            y = block(y) if k % 2 == 0 else F.relu(block(y))
            if y.sum() > 50:
                break
        y = self.twice(y) * self.size * self.__private
        self.count.add_(paddle.ones([1]))
        return self.extra(y) + self.count


def test_classes():
    net, twin = Derived(), Derived()
    twin.set_state_dict(net.state_dict())
    compiled = paddle.jit.to_static(net, full_graph=True)
    for x in (P, N, 30 * P):
        same(outcome(compiled, [x], {}), outcome(twin, [x], {}))
    np.testing.assert_array_equal(net.count.numpy(), twin.count.numpy())


def test_forward_hooks():
    net, twin = nn.Linear(3, 3), nn.Linear(3, 3)
    twin.set_state_dict(net.state_dict())
    for n in (net, twin):
        n.register_forward_pre_hook(lambda layer, args: (args[0] * 2,))
        n.register_forward_post_hook(lambda layer, args, out: out + args[0] if out.sum() > 0 else out - 1)
    plain = nn.Linear(3, 3)
    plain.set_state_dict(net.state_dict())
    compiled = paddle.jit.to_static(net, full_graph=True)
    branches = set()
    for x in (P, N, 10 * N):
        want = outcome(twin, [x], {})
        same(outcome(compiled, [x], {}), want)
        hooked = plain(paddle.to_tensor(2 * x)).numpy()
        branches.add(bool(hooked.sum() > 0))
        np.testing.assert_allclose(want[0], hooked + 2 * x if hooked.sum() > 0 else hooked - 1, rtol=2e-5, atol=1e-6)
    assert branches == {True, False}


def test_comprehensions():
    def f(x, n=3):
        a = [x * i for i in range(n) if i != 1]
        b = {str(i): v + 1 for i, v in enumerate(a)}
        c = sum(v.sum() for v in a)
        d = [[v * w for v in a] for w in (1.0, 2.0)]
        return a, b, c, d[1][0] if c > 0 else d[0][0]

    check(f, [P], [N], [P, 4])


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
    with pytest.raises(AssertionError, match=r"must be positive.*test_real_breadth.py"):
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


def test_not_to_static_and_ignored_modules():
    @paddle.jit.not_to_static
    def plain(x):
        return x * 2 if isinstance(x, paddle.Tensor) else None

    def f(x):
        return plain(x) + 1 if x.sum() > 0 else plain(x)

    check(f, [P], [N])


def test_enable_to_static():
    seen = []

    @paddle.jit.to_static
    def f(x):
        seen.append(paddle._core.trace.tracing())
        return x + 1

    paddle.jit.enable_to_static(False)
    try:
        f(paddle.to_tensor(P))
    finally:
        paddle.jit.enable_to_static(True)
    f(paddle.to_tensor(P))
    assert seen == [False, True]


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


def test_local_functions_with_nonlocal():
    def f(x):
        total = x * 0

        def add(v):
            nonlocal total
            if v.sum() > 0:
                total = total + v
            else:
                total = total - v

        for k in range(3):
            add(x * (k - 1))
        return total

    check(f, [P], [N])


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


def test_errors_name_the_original_line():
    def f(x):
        if x.sum() > 0:
            y = x
        else:
            y = [x]
        return y[0] + 1

    with pytest.raises(Exception, match=r"test_real_breadth.py:\d+") as found:
        paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor(P))
    line = f.__code__.co_firstlineno
    assert any(f"test_real_breadth.py:{line + k}" in str(found.value) for k in range(1, 7))
