"""Tensors of the reference interpreter (see fake_core.py): operators on NumPy values, recorded into the current block where a
trace is active. Shapes and dtypes at trace time come from running every operator on example values.
"""

from __future__ import annotations

import operator

import numpy as np


class GraphBreak(RuntimeError):
    pass


class Value:
    def __init__(self, example):
        self.example = example


class Captured(Value):
    """A tensor from outside the trace: read when the program runs."""

    def __init__(self, tensor):
        super().__init__(tensor.data)
        self.tensor = tensor


class Block:
    def __init__(self):
        self.ops = []  # (run(env), kind)

    def append(self, run, kind):
        self.ops.append((run, kind))

    def run(self, env):
        for run, _ in self.ops:
            run(env)


class Trace:
    def __init__(self):
        self.block = Block()
        self.blocks = [self.block]
        self.writes = [{}]
        self.inputs = []
        self.all_ops = []


class _Current:
    trace: Trace | None = None


current = _Current()


def tracing():
    return current.trace is not None


def get(env, v):
    if isinstance(v, Captured):
        return v.tensor.data
    return env[v]


class SymInt:
    """A size that only running tells: the ``axis`` of an input, plus arithmetic."""

    def __init__(self, example, compute):
        self.example, self.compute = example, compute

    @property
    def __class__(self):
        return int

    def __index__(self):
        raise GraphBreak("symbolic size needed as a number")

    def __bool__(self):
        raise GraphBreak("symbolic size needed as a number")

    def _op(self, other, fn):
        if isinstance(other, (Tensor, np.ndarray)):
            return NotImplemented
        ce = other.example if type(other) is SymInt else other
        cc = other.compute if type(other) is SymInt else (lambda env: other)
        return SymInt(fn(self.example, ce), lambda env: fn(self.compute(env), cc(env)))

    def __add__(self, o):
        return self._op(o, operator.add)

    def __sub__(self, o):
        return self._op(o, operator.sub)

    def __mul__(self, o):
        return self._op(o, operator.mul)

    def __floordiv__(self, o):
        return self._op(o, operator.floordiv)

    def __gt__(self, o):
        return self._op(o, operator.gt)

    def __lt__(self, o):
        return self._op(o, operator.lt)


def is_symint(x):
    return type(x) is SymInt


def same_size(a, b):
    return a is b or (not is_symint(a) and not is_symint(b) and a == b)


class DType(str):
    @property
    def name(self):
        return str(self)


class Tensor:
    __array_priority__ = 100

    def __init__(self, data=None, value=None):
        self.data = None if data is None else np.asarray(data)
        self.value = value
        self.symbolic = {}
        self.home = current.trace.blocks[-1] if current.trace is not None else None
        self.stop_gradient = True

    def lift(self):
        return self.value if self.value is not None else Captured(self)

    @property
    def example(self):
        return self.data if self.value is None else self.value.example

    @property
    def shape(self):
        return [self.symbolic.get(i, n) for i, n in enumerate(self.example.shape)]

    @property
    def ndim(self):
        return self.example.ndim

    @property
    def dtype(self):
        return DType(self.example.dtype.name)

    def _value_needed(self):
        if tracing() or self.data is None:
            raise GraphBreak("the value of a traced tensor is needed")
        return self.data

    def __bool__(self):
        return bool(self._value_needed())

    def __int__(self):
        return int(self._value_needed())

    def __float__(self):
        return float(self._value_needed())

    def __index__(self):
        return operator.index(self._value_needed().item())

    def __len__(self):
        return self.shape[0]

    def numpy(self):
        return self._value_needed()

    def item(self):
        return self._value_needed().item()

    __hash__ = object.__hash__

    def __iter__(self):
        return iter([self[i] for i in range(self.shape[0])])

    def reshape(self, shape):
        return op(lambda a: a.reshape(shape), self)

    def sum(self, axis=None, keepdim=False):
        return op(lambda a: np.asarray(a.sum(axis=axis, keepdims=keepdim)), self)

    def mean(self):
        return op(lambda a: np.asarray(a.mean(dtype=a.dtype)), self)

    def max(self):
        return op(lambda a: np.asarray(a.max()), self)

    def abs(self):
        return op(np.abs, self)

    def astype(self, d):
        return cast(self, d)

    def any(self):
        return op(lambda a: np.asarray(a.any()), self)

    def all(self):
        return op(lambda a: np.asarray(a.all()), self)

    def __getitem__(self, i):
        if isinstance(i, Tensor):
            return op(lambda a, k: a[int(k)], self, i)
        return op(lambda a: a[i], self)

    def __setitem__(self, i, v):
        def run(a, b, *k):
            a = a.copy()
            a[k[0] if k else i] = b
            return a

        rebind(self, op(run, self, as_t(v), *([i] if isinstance(i, Tensor) else [])))

    def add_(self, o):
        rebind(self, self + o)
        return self


def as_t(x, like=None):
    if isinstance(x, Tensor):
        return x
    if is_symint(x):
        return constant(x)
    return Tensor(np.asarray(x, dtype=None if not isinstance(x, float) else "float32"))


def _binary(name, fn):
    def method(self, other):
        if not isinstance(other, (Tensor, int, float, bool, np.ndarray)):
            return NotImplemented
        if isinstance(other, Tensor) or is_symint(other):
            return op(fn, self, as_t(other))
        return op(lambda a: fn(a, other).astype(_weak(a, other, fn(a, other))), self)

    def reflected(self, other):
        if is_symint(other):
            return op(fn, as_t(other), self)
        return op(lambda a: fn(other, a).astype(_weak(a, other, fn(other, a))), self)

    setattr(Tensor, f"__{name}__", method)
    setattr(Tensor, f"__r{name}__", reflected)


def _weak(a, number, result):
    """Python numbers don't promote a tensor of their kind or above."""
    if result.dtype == bool:
        return bool
    if a.dtype.kind == "f":
        return a.dtype
    return (
        np.dtype("float32")
        if isinstance(number, float) or result.dtype.kind == "f"
        else a.dtype
        if a.dtype != bool
        else "int64"
    )


for _n, _f in dict(
    add=np.add,
    sub=np.subtract,
    mul=np.multiply,
    floordiv=np.floor_divide,
    mod=np.mod,
    truediv=np.true_divide,
    pow=np.power,
    matmul=np.matmul,
).items():
    _binary(_n, _f)
for _n, _f in dict(
    lt=np.less, le=np.less_equal, gt=np.greater, ge=np.greater_equal, eq=np.equal, ne=np.not_equal
).items():

    def _compare(self, other, fn=_f):
        if other is None or isinstance(other, (str, list, tuple, dict)):
            return NotImplemented
        return op(lambda a, b: np.asarray(fn(a, b)), self, as_t(other))

    setattr(Tensor, f"__{_n}__", _compare)
Tensor.__neg__ = lambda self: op(np.negative, self)


def op(fn, *tensors, kind=None):
    if not tracing():
        return Tensor(np.asarray(fn(*[t.data for t in tensors])))
    ins = [t.lift() for t in tensors]
    with np.errstate(all="ignore"):
        out = Value(np.asarray(fn(*[v.example for v in ins])))

    def run(env):
        env[out] = np.asarray(fn(*[get(env, v) for v in ins]))

    _append(run, kind or getattr(fn, "__name__", "op"))
    return Tensor(value=out)


def _append(run, kind):
    current.trace.blocks[-1].append(run, kind)
    current.trace.all_ops.append(kind)


def is_traced(x):
    return tracing()


def in_program(x):
    return isinstance(x, Tensor) and x.value is not None


def rebind(handle, value):
    if not tracing():
        handle.data = value.data
        return
    current.trace.writes[-1].setdefault(id(handle), (handle, handle.value))
    handle.value = value.lift()


def alias(handle):
    return Tensor(value=handle.lift())


def constant(value, shape=(), dtype=None):
    if is_symint(value):
        out = Value(np.asarray(value.example))
        _append(lambda env: env.__setitem__(out, np.asarray(value.compute(env))), "size")
        return Tensor(value=out)
    kind = dtype or ("bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float32")
    t = np.full(tuple(shape), value, dtype=str(kind))
    return op(lambda: t, kind="full")


def cast(x, dtype):
    return op(lambda a: a.astype(str(dtype)), x, kind="cast")
