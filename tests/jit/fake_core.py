"""A reference interpreter that stands in for the core: it records operators on NumPy values into blocks and runs them.

Small and slow on purpose. Tensors are in fake_tensors.py, lists of traced length in fake_arrays.py.
"""

from __future__ import annotations

import numpy as np
from fake_arrays import *  # noqa: F403
from fake_arrays import Array
from fake_tensors import *  # noqa: F403
from fake_tensors import (
    Block,
    DType,
    SymInt,
    Tensor,
    Trace,
    Value,
    _append,
    current,
    get,
    op,
)


def begin_trace(name, specs):
    assert current.trace is None
    trace = current.trace = Trace()
    for i, s in enumerate(specs):
        hint = s.hint or tuple(3 if d is None else d for d in s.shape)
        t = Tensor(value=Value(np.ones(hint, dtype=str(s.dtype))))
        for axis, d in enumerate(s.shape):
            if d is None:
                t.symbolic[axis] = SymInt(hint[axis], lambda env, v=t.value, axis=axis: env[v].shape[axis])
        t.stop_gradient = s.stop_gradient
        trace.inputs.append(t)
    return trace, [alias_keeping(t) for t in trace.inputs]


def alias_keeping(t):
    a = Tensor(value=t.value)
    a.symbolic, a.stop_gradient = t.symbolic, t.stop_gradient
    return a


class Program:
    def __init__(self, trace, outputs):
        self.block, self.inputs, self.all_ops = trace.block, [t.value for t in trace.inputs], trace.all_ops
        self.outputs = [t.lift() for t in outputs]
        self.writes = [(h, h.value) for h, _ in trace.writes[0].values() if h.data is not None]

    def __str__(self):
        return "\n".join(self.all_ops)


def end_trace(trace, outputs, histories=True):
    program = Program(trace, outputs)
    current.trace = None
    for handle, _ in trace.writes[0].values():
        if handle.data is not None:
            handle.value = None
    return program


def abort_trace(trace):
    current.trace = None
    for handle, old in trace.writes[0].values():
        handle.value = old


class Runner:
    def __init__(self, program):
        self.program = program

    def __call__(self, *inputs):
        env = dict(zip(self.program.inputs, [t.data for t in inputs]))
        self.program.block.run(env)
        outs = [Tensor(get(env, v)) for v in self.program.outputs]
        for handle, value in self.program.writes:
            handle.data = get(env, value)
        return outs

    def accepts(self, shapes):
        return True


def compile(program, options):
    return Runner(program)


class Region:
    def __init__(self, inits=(), shapes=None, needs_grad=None):
        self.block = Block()
        self.inits = inits
        self.args = []
        for init in inits:
            if isinstance(init, Array):
                self.args.append(Array(init.dtype, value=Value(None), example=list(init.example)))
            else:
                self.args.append(Tensor(value=Value(np.ones_like(init.example))))
                self.args[-1].home = self.block
        self._writes = {}

    @property
    def writes(self):
        return [(h, v) for h, v in self._writes.values()]

    def __enter__(self):
        current.trace.blocks.append(self.block)
        current.trace.writes.append({})
        return self

    def __exit__(self, *exc):
        current.trace.blocks.pop()
        for handle, old in current.trace.writes.pop().values():
            if handle.home is self.block:
                continue
            self._writes[id(handle)] = (handle, Tensor(value=handle.value))
            handle.value = old


def build_if(pred, r_true, outs_true, r_false, outs_false):
    p = pred.lift()
    assert pred.example.shape == () and pred.example.dtype == bool
    sides = [[o.lift() for o in outs] for outs in (outs_true, outs_false)]
    results = [_result(o) for o in outs_true]

    def run(env):
        side = 0 if get(env, p) else 1
        (r_true, r_false)[side].block.run(env)
        for r, v in zip(results, sides[side]):
            env[r.value] = get(env, v)

    for a, b in zip(outs_true, outs_false):
        assert a.dtype == b.dtype, (a.dtype, b.dtype)
        assert isinstance(a, Array) or a.ndim == b.ndim
    _append(run, "if")
    return results


def build_while(cond, inits, region, next_cond, next_values):
    assert len(region.args) == len(inits) == len(next_values)
    for a, n in zip(region.args, next_values):
        assert a.dtype == n.dtype and (isinstance(a, Array) or a.ndim == n.ndim), (a.dtype, n.dtype)
    ins, c0 = [i.lift() for i in inits], cond.lift()
    c1, nexts = next_cond.lift(), [n.lift() for n in next_values]
    results = [_result(n) for n in next_values]

    def run(env):
        go, values = get(env, c0), [get(env, v) for v in ins]
        while go:
            inner = dict(env)
            inner.update(zip([a.value for a in region.args], values))
            region.block.run(inner)
            go, values = get(inner, c1), [get(inner, v) for v in nexts]
        for r, v in zip(results, values):
            env[r.value] = v

    _append(run, "while")
    return results


def _result(t):
    if isinstance(t, Array):
        return Array(t.dtype, value=Value(None), example=list(t.example))
    return Tensor(value=Value(t.example))


def logical_and(a, b):
    return op(np.logical_and, a, b)


def logical_or(a, b):
    return op(np.logical_or, a, b)


def logical_not(a):
    return op(np.logical_not, a)


def _text(env, parts):
    values = [p if isinstance(p, str) else (get(env, p[0]), *p[1:]) for p in parts]
    if len(values) == 1 and type(values[0]) is tuple and values[0][2] is None:
        return values[0][0]
    return "".join([v if isinstance(v, str) else format(v[0], v[2] or "") for v in values])


def _lifted(parts):
    return [p if isinstance(p, str) else (p[0].lift(), *p[1:]) for p in parts]


def assert_(cond, parts):
    v, parts = cond.lift(), _lifted(parts)

    def run(env):
        if not get(env, v).all():
            raise AssertionError(_text(env, parts))

    _append(run, "assert")


printed = []


def print_(args, options):
    args = [_lifted(a) for a in args]
    _append(lambda env: printed.append([_text(env, a) for a in args]), "print")


mode = ["train"]


def state_key():
    return mode[0]


def get_default_dtype():
    return "float32"


def to_tensor(array):
    return Tensor(array)


def as_dtype(d):
    return DType(np.dtype(d if isinstance(d, str) else str(d)).name)


while_traced = None  # as nn.Layer has it


class Layer:
    """As much of nn.Layer as the tests need."""

    def __init__(self):
        self.training = True
        self._hooks = []

    def __call__(self, *args, **kwargs):
        return self._call_untraced(args, kwargs) if while_traced is None else while_traced(self, args, kwargs)

    def _call_untraced(self, args, kwargs):
        out = self.forward(*args, **kwargs)
        for hook in self._hooks:
            out = hook(self, args, out)
        return out

    def train(self):
        self._mode(True)

    def eval(self):
        self._mode(False)

    def _mode(self, on):
        self.training = on
        for v in list(self.__dict__.values()):
            for c in v if isinstance(v, list) else [v]:
                if isinstance(c, Layer):
                    c._mode(on)

    def add_parameter(self, name, p):
        setattr(self, name, p)

    register_buffer = add_parameter
