"""StaticFunction: binding, the program cache, guards, state, structures, fall-back and the report."""

from __future__ import annotations

import copy
import gc
import weakref
from collections import namedtuple

import fake_core as fc
import numpy as np
import pytest
from paddle import jit
from paddle.jit.static_function import StaticFunction

GLOBAL_SCALE = 2


def t(*values, dtype="float32"):
    return fc.Tensor(np.asarray(values, dtype=dtype))


def value(x):
    return x.data.tolist()


def traces(fn):
    return [e.kind for e in fn.report().events]


def test_decorator_forms_and_caching():
    calls = []

    @jit.to_static
    def f(x, k=1):
        calls.append(k)
        if x.sum() > 0:
            return x * k
        return x

    g = jit.to_static(lambda x: x + 1, full_graph=True)
    assert value(f(t(1, 2))) == [1, 2] and value(f(t(-1, 3), k=1)) == [-1, 3] and value(f(x=t(-3, 1))) == [-3, 1]
    assert calls == [1]
    assert value(f(t(1, 2), 5)) == [5, 10] and calls == [1, 5]
    assert value(g(t(1.0))) == [2.0] and isinstance(g, StaticFunction) and f.__name__ == "f"
    assert f.report().events[1].reasons == ["argument k was 1, now 5"]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        f()


def test_sizes_become_symbolic_for_good():
    @jit.to_static
    def f(x):
        return x * 2

    for n in (4, 4, 7, 9, 5, 4, 100):
        assert value(f(fc.Tensor(np.ones((n, 3), "float32")))) == np.full((n, 3), 2.0).tolist()
    assert traces(f) == ["traced", "retraced"]
    assert f.report().events[1].reasons == ["size 0 of x was 4, now 7: symbolic from now on"]
    for n in (1, 0, 1, 0, 12):
        f(fc.Tensor(np.ones((n, 3), "float32")))
    assert len(traces(f)) == 4
    f(fc.Tensor(np.ones((5, 3), "float64")))
    assert "dtype of x was float32, now float64" in f.report().events[-1].reasons
    assert "symbolic from now on" in str(f.report())


def test_input_spec_is_symbolic_at_once():
    from paddle.static.input_spec import InputSpec

    @jit.to_static(input_spec=[InputSpec([None, 2], "float32", name="x")])
    def f(x):
        s = x[0] * 0
        for row in x:
            s = s + row
        return s

    for n in (3, 5, 1):
        assert value(f(fc.Tensor(np.ones((n, 2), "float32")))) == [n, n]
    assert traces(f) == ["traced"]
    entry = f.concrete_program
    assert entry.specs[0].shape == (None, 2) and "while" in entry.main_program.all_ops


def test_structures_in_and_out():
    Pair = namedtuple("Pair", "a b")

    @jit.to_static
    def f(batch, pair, *rest, **more):
        return (
            {"s": batch["x"] + pair.a, "n": None, "k": (batch["k"], [pair.b * 2])},
            Pair(rest[0], more["z"]),
            batch["x"].shape[0],
        )

    for _ in range(2):
        out, pair, n = f({"x": t(1, 2), "k": 3}, Pair(t(1, 1), t(5)), t(7), z=t(8))
        assert value(out["s"]) == [2, 3] and out["n"] is None and out["k"][0] == 3 and value(out["k"][1][0]) == [10]
        assert type(pair) is Pair and value(pair.a) == [7] and value(pair.b) == [8] and n == 2
    assert traces(f) == ["traced"]
    f({"x": t(1, 2), "k": 4}, Pair(t(1, 1), t(5)), t(7), z=t(8))
    assert f.report().events[-1].reasons == ["argument batch['k'] was 3, now 4"]


def test_numpy_arguments_are_inputs():
    f = jit.to_static(lambda x: x + 1)
    assert value(f(np.ones(2, "float32"))) == [2, 2] and value(f(np.zeros(2, "float32"))) == [1, 1]
    assert traces(f) == ["traced"]


def test_guards_on_python_values(monkeypatch):
    scale = 3

    class Config:
        bias = None

        def __init__(self):
            self.bias = 1

    class Model:
        def __init__(self):
            self.cfg = Config()
            self.flag = True

        @jit.to_static
        def run(self, x):
            y = x * GLOBAL_SCALE * scale + self.cfg.bias
            if self.flag:
                y = y + 100
            return y

    m = Model()
    assert value(m.run(t(1))) == [107] and value(m.run(t(2))) == [113]
    m.flag = False
    assert value(m.run(t(1))) == [7]
    m.cfg.bias = 5
    assert value(m.run(t(1))) == [11]
    monkeypatch.setitem(globals(), "GLOBAL_SCALE", 1)
    assert value(m.run(t(1))) == [8]
    scale = 10
    assert value(m.run(t(1))) == [15]
    reasons = [r for e in m.run.report().events for r in e.reasons]
    assert "self.flag was True, now False" in reasons and "self.cfg.bias was 1, now 5" in reasons
    assert "global GLOBAL_SCALE was 2, now 1" in reasons
    m.flag = True
    monkeypatch.undo()
    m.cfg.bias, scale = 1, 3
    count = len(m.run.report().events)
    assert value(m.run(t(1))) == [107] and len(m.run.report().events) == count


class Net(fc.Layer):
    def __init__(self):
        super().__init__()
        self.drop = Drop()
        self.w = t(2.0)
        self.blocks = Chain([Block(), Block()])

    def forward(self, x):
        x = self.blocks(self.drop(x) * self.w)
        if x.sum() > 0:
            x = x + 1
        return x


class Drop(fc.Layer):
    def forward(self, x):
        return x * 10 if self.training else x


class Block(fc.Layer):
    def forward(self, x):
        if x.sum() > 5:
            return x - 1
        return x


class Chain(fc.Layer):
    """Its module says that it belongs to the library, like nn.Sequential: the call of its parts isn't transformed."""

    def __init__(self, parts):
        super().__init__()
        self.parts = parts

    def forward(self, x):
        for p in self.parts:
            x = p(x)
        return x


Chain.__module__ = Chain.forward.__module__ = "paddle.nn.layer.container"


def test_layers_modes_and_untransformed_containers():
    net = Net()
    eager = lambda x: value(Net.forward(net, x))
    want = {(mode, v): None for mode in (True, False) for v in (1.0, -1.0, 0.1)}
    for mode, v in want:
        net._mode(mode)
        want[mode, v] = eager(t(v))
    static = jit.to_static(net)
    assert static is net and isinstance(net.forward, StaticFunction)
    for (mode, v), expected in want.items():
        net._mode(mode)
        assert value(net(t(v))) == expected
    assert traces(net.forward) == ["traced", "retraced"]
    assert "Net.training was True, now False" in net.forward.report().events[1].reasons
    net.drop.training = True
    assert value(net(t(1.0))) == want[True, 1.0] and len(traces(net.forward)) == 3
    net.forward.rollback()
    assert not isinstance(net.forward, StaticFunction) and value(net(t(1.0))) == want[True, 1.0]


def test_each_instance_has_its_programs():
    class M(fc.Layer):
        def __init__(self, k):
            super().__init__()
            self.k = k

        @jit.to_static
        def forward(self, x):
            return x * self.k

        @jit.to_static(property=True)
        def double(self):
            return t(2.0) * self.k

    a, b = M(2), M(3)
    assert value(a(t(1))) == [2] and value(b(t(1))) == [3] and value(a(t(1))) == [2]
    assert a.forward is a.forward and a.forward is not b.forward and traces(a.forward) == ["traced"]
    assert value(a.double) == [4.0]
    c = copy.deepcopy(a)
    c.k = 7
    assert value(c(t(1))) == [7]
    ref = weakref.ref(a)
    del a, c
    gc.collect()
    assert ref() is None


def test_static_functions_inside_static_functions_are_one_program():
    @jit.to_static
    def inner(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    @jit.to_static(full_graph=True)
    def outer(x):
        return inner(x) * 2

    assert value(outer(t(1))) == [4] and value(outer(t(-1))) == [-4]
    assert traces(inner) == [] and "if" in outer.concrete_program.main_program.all_ops


def test_attributes_assigned_in_the_function_are_results_and_inputs():
    class Rnn:
        def __init__(self):
            self.h = None
            self.aux = None

        @jit.to_static
        def step(self, x):
            if self.h is None:
                self.h = x * 0
            self.h = self.h + x
            self.aux = x * 10
            return self.h * 2

    r = Rnn()
    for k in range(1, 5):
        assert value(r.step(t(1.0))) == [2.0 * k]
        assert value(r.h) == [k] and r.h.value is None and value(r.aux) == [10.0]
    assert len(r.step._cache.entries()) == 2


def test_inplace_state_is_written_back():
    stat = t(0.0, 0.0)

    @jit.to_static
    def f(x):
        stat.add_(x)
        if x.sum() > 0:
            stat[0] = 9.0
        return stat + 0

    assert value(f(t(1, 2))) == [9, 2] and value(f(t(-1, -2))) == [8, 0] and value(stat) == [8, 0]


def test_break_without_full_graph_runs_eagerly():
    @jit.to_static
    def f(x):
        if x.sum() > 0:
            y = x + 1
        else:
            y = x
        return y * float(y.sum())

    line = f._function.__code__.co_firstlineno + 6
    assert value(f(t(1, 2))) == [10, 15] and value(f(t(-1, 0))) == [1, 0]
    event = f.report().events[0]
    assert (
        event.kind == "eager" and f"test_static_function.py:{line}" in event.reasons[-1] and len(f.report().events) == 1
    )


def test_break_with_full_graph_is_an_error_at_the_users_line():
    @jit.to_static(full_graph=True)
    def f(x):
        y = x + 1
        return y.numpy()

    with pytest.raises(fc.GraphBreak) as error:
        f(t(1.0))
    assert f"test_static_function.py:{f._function.__code__.co_firstlineno + 3}" in error.value.__notes__[0]
    assert not fc.tracing()


def test_errors_of_the_function_pass_and_leave_nothing_behind():
    @jit.to_static
    def f(x, bad):
        self_dict["k"] = 1
        if bad:
            raise KeyError("mine")
        return x

    self_dict = {}
    with pytest.raises(KeyError, match="mine"):
        f(t(1.0), True)
    assert not fc.tracing() and value(f(t(1.0), False)) == [1.0]


def test_switches():
    @jit.to_static
    def f(x):
        return x + 1 if isinstance(x.data, np.ndarray) else x

    jit.enable_to_static(False)
    try:
        assert value(f(t(1.0))) == [2.0] and traces(f) == []
    finally:
        jit.enable_to_static(True)

    @jit.not_to_static
    def raw(x):
        seen.append(raw.__code__.co_name)
        return x

    seen = []
    jit.to_static(lambda x: raw(x) if x.sum() > 0 else x)(t(1.0))
    assert seen == ["raw"]


def test_code_and_errors_of_to_static():
    def f(x):
        while x.sum() > 0:
            x = x - 1
        return x

    assert "_jst.while_" in jit.to_static(f).code
    with pytest.raises(TypeError, match="should be one of"):
        jit.to_static(f, input_spec=3)
    with pytest.raises(TypeError):
        jit.to_static(3)
    with pytest.raises(ValueError, match="backend"):
        jit.to_static(f, backend="tvm")
    with pytest.raises(ValueError, match="call it once"):
        jit.to_static(f).concrete_program  # noqa: B018


def test_list_of_traced_length_is_returned_as_a_list():
    @jit.to_static
    def f(x, n):
        out = []
        for i in range(n):
            out.append((x * i, i))
        return out

    got = f(t(1.0, 2.0), t(*[], dtype="int64").reshape([0]).sum() + 3)
    assert isinstance(got, list) and len(got) == 3 and np.asarray(got[2][0]).tolist() == [2, 4]


def test_concrete_program_from_specs():
    from paddle.static.input_spec import InputSpec

    f = jit.to_static(lambda x, k: x * k, input_spec=[InputSpec([None, 3], "float32"), 4])
    entry = f.concrete_program
    assert entry.specs[0].name == "x" and value(entry.run([t([1, 2, 3])])) == [[4, 8, 12]]


def test_replaced_parameters_are_noticed():
    class M(fc.Layer):
        def __init__(self):
            super().__init__()
            self._parameters = {"w": t(2.0)}

        def forward(self, x):
            return x * self._parameters["w"]

    m = jit.to_static(M())
    assert value(m(t(1.0))) == [2.0] and value(m(t(2.0))) == [4.0] and len(traces(m.forward)) == 1
    m._parameters["w"] = t(5.0)
    assert value(m(t(1.0))) == [5.0]
    assert m.forward.report().events[-1].reasons == ["parameters of M were replaced"]


def test_programs_for_saving_leave_attributes_alone():
    from paddle.static.input_spec import InputSpec

    class M:
        h = None

        def run(self, x):
            if self.h is None:
                self.h = x
            self.h = self.h + x
            return self.h

    m = M()
    f = jit.to_static(m.run, input_spec=[InputSpec([2])])
    assert value(f.concrete_program.run([t(1, 2)])) == [2, 4] and m.h is None


def test_old_switch():
    from paddle.jit.dy2static.program_translator import ProgramTranslator

    f = jit.to_static(lambda x: x * 2)
    ProgramTranslator.get_instance().enable(False)
    try:
        f(t(1.0))
        assert traces(f) == []
    finally:
        ProgramTranslator().enable(True)


def test_layer_of_library_code_is_followed_by_forward_only():
    chain = Chain([Block()])
    static = jit.to_static(chain)
    assert value(static(t(7.0))) == [6.0] and value(static(t(1.0))) == [1.0]
