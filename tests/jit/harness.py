"""Trace a function once, run the program on several inputs, compare with plain Python."""

from __future__ import annotations

import fake_core as fc
import numpy as np
from paddle.jit import _trace_api as api
from paddle.jit._state import state
from paddle.jit.dy2static.convert import convert_call
from paddle.jit.structure import flatten, map_leaves, unflatten


def tensors(args):
    return map_leaves(lambda v: fc.Tensor(v) if isinstance(v, (np.ndarray, np.generic)) else v, args)


def trace(fn, args, symbolic=()):
    """A callable of the same arguments that runs the program traced from ``fn``, and the program."""
    leaves = []
    structure = flatten(tensors(args), leaves)
    where = [i for i, v in enumerate(leaves) if isinstance(v, fc.Tensor)]
    specs = []
    for i in where:
        shape = tuple(None if (i, a) in symbolic else n for a, n in enumerate(leaves[i].data.shape))
        specs.append(api.TensorMeta(shape, leaves[i].dtype, True, None, leaves[i].data.shape))
    state.loop_plans.clear()
    handle, inputs = fc.begin_trace(getattr(fn, "__name__", "f"), specs)
    try:
        full = list(leaves)
        for i, t in zip(where, inputs):
            full[i] = t
        result = convert_call(fn)(*unflatten(structure, full))
        outs = []
        out_structure = flatten(result, outs)
        outs = [o.arrays[0] if type(o).__name__ == "TracedList" else o for o in outs]
        traced = [i for i, o in enumerate(outs) if isinstance(o, (fc.Tensor, fc.Array))]
        program = fc.end_trace(handle, [outs[i] for i in traced])
    except BaseException:
        if fc.tracing():
            fc.abort_trace(handle)
        raise
    runner = fc.Runner(program)

    def run(*args):
        values = []
        flatten(tensors(args), values)
        got = runner(*[v for v in values if isinstance(v, fc.Tensor)])
        final = list(outs)
        for i, g in zip(traced, got):
            final[i] = g
        return unflatten(out_structure, final)

    return run, program


def arrays(result):
    return map_leaves(lambda v: np.asarray(v.data) if isinstance(v, fc.Tensor) else v, result)


def same(a, b):
    la, lb = [], []
    assert flatten(a, la) == flatten(b, lb)
    for x, y in zip(la, lb):
        if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5, atol=1e-6)
        else:
            assert x == y


def check(fn, *inputs, symbolic=(), contains=(), without=()):
    """``fn`` traced with the first inputs equals plain Python on each of ``inputs`` (tuples of arguments)."""
    run, program = trace(fn, inputs[0], symbolic)
    for kind in contains:
        assert kind in program.all_ops, program.all_ops
    for kind in without:
        assert kind not in program.all_ops, program.all_ops
    for args in inputs:
        same(arrays(run(*args)), arrays(fn(*tensors(args))))
    return program


def f32(*values):
    return np.asarray(values if len(values) != 1 else values[0], dtype="float32")


def i64(value):
    return np.asarray(value, dtype="int64")
