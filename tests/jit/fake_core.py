"""A reference interpreter that stands in for the core: it records operators on NumPy values into blocks and runs them.

Small and slow on purpose. Shapes and dtypes at trace time come from running every operator on example values.
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


_trace: Trace | None = None


def tracing():
    return _trace is not None


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
        self.home = _trace.blocks[-1] if _trace is not None else None
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
    _trace.blocks[-1].append(run, kind)
    _trace.all_ops.append(kind)


def is_traced(x):
    return tracing()


def in_program(x):
    return isinstance(x, Tensor) and x.value is not None


def begin_trace(name, specs):
    global _trace
    assert _trace is None
    _trace = Trace()
    for i, s in enumerate(specs):
        hint = s.hint or tuple(3 if d is None else d for d in s.shape)
        t = Tensor(value=Value(np.ones(hint, dtype=str(s.dtype))))
        for axis, d in enumerate(s.shape):
            if d is None:
                t.symbolic[axis] = SymInt(hint[axis], lambda env, v=t.value, axis=axis: env[v].shape[axis])
        t.stop_gradient = s.stop_gradient
        _trace.inputs.append(t)
    return _trace, [alias_keeping(t) for t in _trace.inputs]


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


def end_trace(trace, outputs):
    global _trace
    program = Program(trace, outputs)
    _trace = None
    for handle, _ in trace.writes[0].values():
        if handle.data is not None:
            handle.value = None
    return program


def abort_trace(trace):
    global _trace
    _trace = None
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
        _trace.blocks.append(self.block)
        _trace.writes.append({})
        return self

    def __exit__(self, *exc):
        _trace.blocks.pop()
        for handle, old in _trace.writes.pop().values():
            if handle.home is self.block:
                continue
            self._writes[id(handle)] = (handle, Tensor(value=handle.value))
            handle.value = old


def rebind(handle, value):
    if not tracing():
        handle.data = value.data
        return
    _trace.writes[-1].setdefault(id(handle), (handle, handle.value))
    handle.value = value.lift()


def alias(handle):
    return Tensor(value=handle.lift())


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


mode = ["train"]


def state_key():
    return mode[0]


def get_default_dtype():
    return "float32"


def to_tensor(array):
    return Tensor(array)


def as_dtype(d):
    return DType(np.dtype(d if isinstance(d, str) else str(d)).name)


class Layer:
    """As much of nn.Layer as the tests need."""

    def __init__(self):
        self.training = True
        self._hooks = []

    def __call__(self, *args, **kwargs):
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
