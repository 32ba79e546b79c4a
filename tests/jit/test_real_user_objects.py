"""Objects, callbacks and statements of the user's around tensors: captured whole, and with interruptions, as eager runs them."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any

import numpy as np
import paddle
import pytest
from paddle import nn
from real_core import argument, check, outcome, same, static

FOUR, THREE = (np.random.default_rng(k).uniform(-1, 1, (n, 6)).astype("float32") for k, n in ((0, 4), (1, 3)))
CALLS = ([FOUR], [THREE], [-FOUR])


def check_both(f):
    check(f, *CALLS)
    compiled = paddle.jit.to_static(f, full_graph=False)
    for _ in range(2):
        for args in CALLS:
            same(outcome(compiled, args), outcome(f, args))


@dataclasses.dataclass
class Output:
    y: Any
    aux: Any = None

    def total(self):
        return self.y.sum() + (self.aux if self.aux is not None else 0)


@dataclasses.dataclass(slots=True)
class Slotted:
    y: Any
    z: Any = None


class Mean:
    def __init__(self):
        self.total, self.count = None, 0

    def add(self, v):
        self.total = v if self.total is None else self.total + v
        self.count += 1

    def value(self):
        return self.total / self.count if self.total.sum() > 0 else self.total


def test_attributes_of_objects_that_the_function_makes():
    def f(x):
        out, slotted = Output(x * 2), Slotted(x)
        if x.sum() > 0:
            out.aux = x.sum()
            slotted.z = slotted.y * 2
        else:
            out.aux = x.min()
            slotted.z = slotted.y + 1
        slotted.y = slotted.z + x
        return out.total(), slotted.z * 1, slotted.y, dataclasses.replace(out, y=x).y

    check_both(f)


def test_attributes_that_loops_over_rows_write():
    def f(x):
        mean = Mean()
        for row in x:
            mean.add(row)
        return mean.value(), mean.count

    check_both(f)


def test_objects_are_results():
    def f(x):
        out = Output(x * 2)
        out.aux = x.sum() if x.sum() > 0 else x.min()
        return out, [Slotted(x, 3)]

    compiled = static(f)
    for args in (*CALLS, *CALLS):
        got, want = compiled(argument(args[0])), f(argument(args[0]))
        assert type(got[0]) is Output and type(got[1][0]) is Slotted and got[1][0].z == 3
        same([got[0].y.numpy(), got[0].aux.numpy()], [want[0].y.numpy(), want[0].aux.numpy()])
        same([got[1][0].y.numpy()], [want[1][0].y.numpy()])
    assert compiled(argument(FOUR))[0] is not compiled(argument(FOUR))[0]


def test_a_tensor_decides_which_object():
    def f(x):
        out = Output(x, x.sum())
        if x.mean() > 0:
            out = Output(x * 2, out.aux + 1)
        slot = Slotted(x) if x[0].sum() > 0 else Slotted(x - 1, 3.0)
        return out.y, out.aux, slot.y, [out.total()]

    check_both(f)


def test_each_round_makes_an_object():
    def f(x):
        state, others, i = Output(x, paddle.zeros([])), [Slotted(x[0], 1.0)], paddle.zeros([], "int64")
        while i < x.shape[0]:
            if state.y.sum() > 0:
                state = Output(state.y * 0.5, state.aux + 1)
            else:
                state = dataclasses.replace(state, y=state.y + 1)
            others[0] = Slotted(others[0].y + x[i], others[0].z)
            i = i + 1
        return state.y, state.aux, others[0].y

    check_both(f)


def test_guards_of_match_that_tensors_decide():
    def pick(spec, v):
        match spec:
            case {"op": op, "k": k} if (v * k).sum() > 1:
                return v * k + len(op)
            case {"op": "neg"} if v.max() > 0.9:
                return -v
            case {"op": op}:
                return v + len(op)
            case [a, b] if a.sum() > b.sum():
                return a
            case [a, b]:
                return b * 2
            case int(k) if k > 2:
                return v * k
        return v * 0

    def f(x):
        specs = ({"op": "neg", "k": 2}, {"op": "abc"}, [x, -x], 3, 1, {"op": "z", "k": -2})
        return [pick(s, x) for s in specs]

    check_both(f)


def test_callbacks_of_library_functions():
    def f(x):
        parts = [x, x * 2, x * 3]
        return (
            functools.reduce(lambda a, b: a + b if a.sum() > 0 else a - b, parts),
            list(itertools.accumulate(parts, lambda a, b: a * b if b.sum() > 0 else a + b)),
            list(itertools.starmap(lambda a, b: a if a.sum() > 0 else b, [(x, -x), (-x, x)])),
            list(map(lambda v: v * 2 if v.sum() > 0 else v, parts)),
        )

    check_both(f)


def test_hooks_of_library_layers():
    layer = nn.Linear(6, 6)
    layer.register_forward_pre_hook(lambda layer, given: (given[0] + 1 if given[0].sum() > 0 else given[0],))
    layer.register_forward_post_hook(lambda layer, given, out: out * 2 if out.sum() > 0 else out)

    def f(x):
        return layer(x)

    hooks = list(layer._forward_pre_hooks.values())
    check_both(f)
    assert list(layer._forward_pre_hooks.values()) == hooks


def test_what_needs_sizes_is_captured_for_each():
    def f(x):
        rows = {i: r * 2 if r.sum() > 0 else -r for i, r in enumerate(x)}
        sums = {k: v.sum() for k, v in rows.items()}
        return sum(sums.values()), sorted(rows), tuple(r for r in x)

    compiled = check(f, *CALLS)
    assert any("these sizes alone" in reason for event in compiled.report().events for reason in event.reasons)


@pytest.mark.parametrize("full_graph", [True, False])
def test_one_program_still_serves_all_sizes(full_graph):
    def f(x):
        return [r * 2 if r.sum() > 0 else -r for r in x][-1], x.sum(0)

    compiled = paddle.jit.to_static(f, full_graph=full_graph)
    for n in (4, 3, 5, 6, 7):
        x = np.random.default_rng(n).uniform(-1, 1, (n, 6)).astype("float32")
        same(outcome(compiled, [x]), outcome(f, [x]))
    assert compiled.get_traced_count() <= 2
