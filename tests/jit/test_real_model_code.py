"""More of what model code does in Python, captured whole: as eager runs it."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np
import paddle
import pytest
from paddle import nn
from real_core import I0, I, N, P, argument, check, close, outcome, same, static, tensor


def test_generators():
    def parts(v, k):
        for i in range(k):
            w = v * i
            if w.sum() > 1:
                w = w + 1
            yield w
        yield from (v, -v)

    def f(x, n):
        total = x * 0
        for g in parts(x, 3):
            total = total + g if g.sum() > 0 else total - g
        return total, sum(parts(x, 2)), list(parts(x, 1)), any(v.sum() > 3 for v in parts(x, 2))

    check(f, [P, I], [N, I])


def test_exits_from_try_with_and_match():
    def f(x, n, mode="a"):
        log = []
        try:
            if x.sum() > 3:
                return x * 2, log
            y = x * 3
        except ValueError:
            y = x
        else:
            if x.sum() > 2:
                return y, log
        finally:
            log.append("finally")
        with paddle.no_grad():
            if x.sum() > 1:
                return y - 1, log
        match mode:
            case "a":
                if x.sum() > -2:
                    return y + 5, log
                y = y - 5
            case _:
                return y * 7, log
        return y, log

    check(f, [P, I], [0.7 * P, I], [0.4 * P, I], [P * 0, I], [N, I], [N, I, "b"])


def test_exits_from_try_in_loops():
    def f(x, n):
        i = paddle.zeros([], "int64")
        t = x * 0
        while i < n:
            try:
                i = i + 1
                if i == 2:
                    continue
                if t.sum() > 5:
                    break
                t = t + x
            finally:
                t = t * 2
        for k in range(4):
            try:
                t = t.reshape([3])
                if t.sum() > 100:
                    break
            except ValueError:
                continue
            t = t + k
        return t, i

    check(f, [P, I], [N, I], [P, I0], [P, np.array(6, "int64")])


def test_attributes_and_variables_written_by_calls_in_loops():
    class State:
        def __init__(self, v):
            self.h, self.count = v, 0

        def step(self, v):
            self.h = self.h * 0.5 + v
            if self.h.sum() > 2:
                self.count = self.count + 1

    def f(x, n):
        state, total = State(x), x * 0

        def add(v):
            nonlocal total
            total = total + v
            return State(v)  # an object of each round's own

        i = paddle.zeros([], "int64")
        while i < n:
            state.step(x)
            own = add(state.h)
            own.step(x)
            total = total + own.h
            i = i + 1
        if total.sum() > 0:
            state.step(total)
        return state.h, state.count, total

    check(f, [P, I], [N, I], [P, I0])


def test_a_tensor_that_leaves_a_loop_unseen_is_an_error():
    class Box:
        kept = None

    def keep(box, v):
        setattr(box, "kept", v * 2)  # noqa: B010

    def f(x, n):
        box = Box()
        i = paddle.zeros([], "int64")
        while i < n:
            keep(box, x)
            i = i + 1
        return box.kept + 1

    with pytest.raises(paddle._core.trace.GraphBreak, match=r"used outside of it.*test_real_model_code.py"):
        static(f)(argument(P), argument(I))


def test_numbers_from_tensors_carry_no_gradient():
    def f(x, n):
        y = x * float(x.sum()) + x.sum().item() * x + int(n)
        k = int(n) * 2
        for i in range(int(n)):
            y = y + i
        return y + k if bool(x.sum() > 0) else y - n.item()

    check(f, [P, I], [N, I0 + 1])


def test_membership():
    def f(x, n):
        y = x if n in [1, 3] else x * 2
        z = y if n not in (1, 2) else y - 1
        if n in {5, 6} or x.sum() in [4.0]:
            z = z * 10
        if "k" in {"k": x}:
            z = z + 1
        return z

    check(f, [P, I], [N, np.array(1, "int64")], [N, np.array(5, "int64")])


def test_functions_of_the_standard_library():
    def f(x, n):
        a = list(map(lambda v: v * 2 if v.sum() > 0 else v, [x, -x]))
        b = functools.reduce(lambda p, q: p + q, a)
        c = [u * v for u, v in itertools.product([1, 2], [3, 4])]
        d = functools.partial(lambda s, v: v * s, 2.0)(x)
        e = [v for v in filter(lambda v: v is not None, [x, None])]
        return a, b, c, d, e

    check(f, [P, I], [N, I])


def test_dataclasses_and_callables():
    @dataclasses.dataclass
    class Pair:
        h: paddle.Tensor
        c: paddle.Tensor

    class Scale:
        def __init__(self, w):
            self.w = w

        @property
        def twice(self):
            return self.w * 2

        def __call__(self, v):
            return v * self.twice if v.sum() > 0 else v

    def f(x, n):
        s = Pair(x, x * 0)
        for _ in range(3):
            if s.h.sum() > 3:
                s.c = s.c + 1
            s.h = s.h + s.c
        i = paddle.zeros([], "int64")
        while i < n:
            s.h = s.h + 1
            s.c = s.c + s.h
            i = i + 1
        return Scale(2.0)(s.h), s.c

    check(f, [P, I], [N, I], [P, I0])


def test_dicts_and_deletion():
    def f(x, n):
        d = {"a": x}
        d.update(b=x * 2)
        if x.sum() > 0:
            d["a"] = d["a"] + 1
        for k in list(d):
            d[k] = d[k] * 2
        y = d.pop("a")
        if x.sum() > 0:
            z = y + 1
            del y
            y = z
        return {k: v for k, v in d.items()}, y, "zz" in d

    check(f, [P, I], [N, I])


def test_loops_in_loops():
    def f(x, n):
        done, t = False, x * 0
        for i in range(4):
            for j in range(4):
                t = t + x * (i + j)
                if t.sum() > 20:
                    done = True
                    break
            if done:
                break
        for i in range(n):
            if i % 2 == 0:
                continue
            for j in range(n):
                if j == i:
                    continue
                t = t + x * j
        k = 0
        while True:
            t = t + x
            if t.sum() > 10 or k > 5:
                break
            k = k + 1
        return t, k

    check(f, [P, I], [N, I], [P, I0])


def test_layers_called_in_a_loop_with_buffers():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(3, 3)
            self.norm = nn.BatchNorm1D(3)
            self.register_buffer("seen", paddle.zeros([], "int64"))

        def forward(self, x, n):
            h = paddle.zeros_like(x)
            for _ in range(n):
                h, _ = self.cell(x, h)
                h = self.norm(h)
            self.seen += n
            return h

    paddle.seed(1)
    net, twin = Net(), Net()
    twin.set_state_dict(net.state_dict())
    compiled = static(net)
    x = np.random.RandomState(0).randn(4, 3).astype("float32")
    for n in (I, I0 + 1):
        same(outcome(compiled, [x, n]), outcome(twin, [x, n]), rtol=2e-4)
    for name, value in net.state_dict().items():
        close(value, twin.state_dict()[name].numpy(), rtol=1e-4)


def test_texts_by_format_and_percent(capsys):
    def f(x):
        if x.sum() > 0:
            print("a {:.3f} {name}".format(x.sum(), name="k"))
            print("b %.2f|%6.1f|%-8d|%s|%d%%" % (x.sum(), x.max(), x.numel(), "s", 3))
        return x

    static(f)(tensor(P))
    captured = capsys.readouterr().out
    f(tensor(P))
    assert captured == capsys.readouterr().out


def test_a_value_for_a_name_in_one_branch_only():
    def f(x, n):
        mode, y = "a", None
        if n == 3:
            y = x * 2
        else:
            y = x * 3
        if x.sum() > 0:
            mode = "a"
        return y if mode == "a" else x

    check(f, [P, I], [N, I0])


def test_errors_in_called_functions_name_their_line():
    def helper(v):
        return v.reshape([7])

    def f(x):
        if x.sum() > 0:
            return helper(x)
        return x

    with pytest.raises(ValueError) as found:
        static(f)(tensor(P))
    frames = [(t.name, t.lineno) for t in found.traceback if str(t.path).endswith("test_real_model_code.py")]
    assert ("helper", helper.__code__.co_firstlineno) in frames
