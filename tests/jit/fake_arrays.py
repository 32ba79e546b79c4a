"""Lists of traced length on the reference interpreter (see fake_core.py)."""

from __future__ import annotations

import numpy as np
from fake_tensors import Tensor, Value, _append, constant, get


class Array:
    """A list of tensors as a value. ``example`` holds what is known to be inside at trace time."""

    def __init__(self, dtype, value, example):
        self.dtype, self.value, self.example = dtype, value, example
        self.shape = ()

    def lift(self):
        return self.value


def _array_op(compute, ins, dtype, example, kind):
    out = Value(None)
    vs = [i.lift() for i in ins]
    _append(lambda env: env.__setitem__(out, compute(*[get(env, v) for v in vs])), kind)
    return Array(dtype, out, example)


def array_create(dtype, items, shape=None):
    return _array_op(
        lambda *xs: list(xs), items, dtype, [i.example for i in items] or [np.ones((), str(dtype))], "array_create"
    )


def _t(i):
    return i if isinstance(i, Tensor) else constant(i)


def array_write(a, i, v):
    def run(xs, k, x):
        xs = list(xs)
        k = int(k)
        xs[k : k + 1] = [x]
        return xs

    return _array_op(run, [a, _t(i), v], a.dtype, [v.example], "array_write")


def _array_to_tensor(compute, ins, example, kind):
    out = Value(np.asarray(example))
    vs = [i.lift() for i in ins]
    _append(lambda env: env.__setitem__(out, np.asarray(compute(*[get(env, v) for v in vs]))), kind)
    return Tensor(value=out)


def array_read(a, i):
    return _array_to_tensor(lambda xs, k: xs[int(k)], [a, _t(i)], a.example[-1], "array_read")


def array_length(a):
    return _array_to_tensor(lambda xs: len(xs), [a], np.asarray(1), "array_length")


def array_pop(a, i):
    def run(xs, k):
        xs = list(xs)
        xs.pop(int(k))
        return xs

    i = _t(i)
    return _array_op(run, [a, i], a.dtype, a.example, "array_pop"), array_read(a, i)


def array_stack(a, axis):
    return _array_to_tensor(lambda xs: np.stack(xs, axis), [a], np.stack([a.example[-1]], axis), "stack")


def array_rows(a):
    last = np.zeros_like(a.example[-1])
    return _array_to_tensor(lambda xs: np.stack([*xs, last]), [a], np.stack([last]), "stack")


def array_concat(a, axis):
    return _array_to_tensor(lambda xs: np.concatenate(xs, axis), [a], a.example[-1], "concat")
