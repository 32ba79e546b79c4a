"""Jacobians, Hessians and products with them, composed from ``grad``."""

from __future__ import annotations

from ..base import core
from .backward_mode import grad

__all__ = ["Jacobian", "Hessian", "jacobian", "hessian", "vjp", "jvp"]


def _zeros_like(t):
    return core.full(t.shape, 0.0, t.dtype)


def _sequence(value):
    return isinstance(value, (list, tuple))


def _row(y, x, create_graph=True):
    """d(y)/d(x) of a single number y, zeros where it doesn't depend on x."""
    (g,) = grad([y], [x], retain_graph=True, create_graph=create_graph, allow_unused=True)
    return _zeros_like(x) if g is None else g


class Jacobian:
    """The matrix of d(ys)/d(xs), computed row by row when indexed.

    Shapes: ``[M, N]`` of flattened ``ys`` and ``xs``; with ``is_batched`` the first axis of both is the batch:
    ``[B, M, N]``.
    """

    def __init__(self, ys, xs, is_batched: bool = False) -> None:
        if not isinstance(ys, core.Tensor) or not isinstance(xs, core.Tensor):
            raise TypeError(f"[jacobian] expected Tensors, got {type(ys).__name__} and {type(xs).__name__}")
        limit = 2 if is_batched else 1
        for name, value in (("ys", ys), ("xs", xs)):
            low = 1 if is_batched else 0
            if not low <= len(value.shape) <= limit:
                raise ValueError(f"[jacobian] {name}.ndim should be in [{low}, {limit}], got {len(value.shape)}")
        if is_batched and ys.shape[0] != xs.shape[0]:
            raise ValueError(f"[jacobian] batches differ: {ys.shape[0]} and {xs.shape[0]}")
        self._xs, self._is_batched = xs, is_batched
        self._ys = ys.reshape([ys.shape[0], -1]) if is_batched else ys.reshape([-1])
        self._rows: dict = {}
        rows = self._ys.shape[-1]
        columns = 1
        for n in xs.shape[1:] if is_batched else xs.shape:
            columns *= n
        inner = ([rows] if ys.ndim > is_batched else []) + ([columns] if xs.ndim > is_batched else [])
        self._inner = inner
        self._full = [rows, columns]

    @property
    def shape(self) -> list:
        """The shape of what indexing sees."""
        return ([self._xs.shape[0]] if self._is_batched else []) + self._inner

    def _evaluate_row(self, i):
        row = self._rows.get(i)
        if row is None:
            y = self._ys[:, i].sum() if self._is_batched else self._ys[i]
            row = _row(y, self._xs)
            row = row.reshape([row.shape[0], -1] if self._is_batched else [-1])
            self._rows[i] = row
        return row

    def _matrix(self):
        axis = 1 if self._is_batched else 0
        parts = [self._evaluate_row(i).unsqueeze(axis) for i in range(self._full[0])]
        return core.concat(parts, axis).reshape(self.shape)

    def __getitem__(self, indexes):
        key = indexes if isinstance(indexes, tuple) else (indexes,)
        axis = 1 if self._is_batched else 0
        # One row asked for by number: no other row needs to be computed.
        if len(self._inner) == 2 and len(key) > axis and isinstance(key[axis], int) and Ellipsis not in key[:axis]:
            row = self._evaluate_row(key[axis] % self._full[0])
            rest = key[:axis] + key[axis + 1 :]
            return row[rest] if rest else row
        return self._matrix()[indexes]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._matrix(), name)

    def _operand(self, other):
        return other._matrix() if isinstance(other, Jacobian) else other

    def __add__(self, other):
        return self._matrix() + self._operand(other)

    def __sub__(self, other):
        return self._matrix() - self._operand(other)

    def __mul__(self, other):
        return self._matrix() * self._operand(other)

    def __truediv__(self, other):
        return self._matrix() / self._operand(other)

    def __matmul__(self, other):
        return self._matrix() @ self._operand(other)

    def __neg__(self):
        return -self._matrix()

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return self._operand(other) - self._matrix()

    def __rtruediv__(self, other):
        return self._operand(other) / self._matrix()

    def __rmatmul__(self, other):
        return self._operand(other) @ self._matrix()


class Hessian(Jacobian):
    """The symmetric matrix of second derivatives of one number (or one per batch item)."""


def _batched(batch_axis) -> bool:
    if batch_axis is not None and batch_axis != 0:
        raise ValueError(f"batch_axis should be None or 0, but got {batch_axis}.")
    return batch_axis == 0


def jacobian(ys, xs, batch_axis=None):
    """``Jacobian`` of ys with respect to xs; with tuples, a tuple (of tuples) of them. ``batch_axis`` is None or 0."""
    batched = _batched(batch_axis)
    if _sequence(ys) and _sequence(xs):
        return tuple(tuple(Jacobian(y, x, batched) for x in xs) for y in ys)
    if _sequence(ys):
        return tuple(Jacobian(y, xs, batched) for y in ys)
    if _sequence(xs):
        return tuple(Jacobian(ys, x, batched) for x in xs)
    return Jacobian(ys, xs, batched)


def hessian(ys, xs, batch_axis=None):
    """``Hessian`` of the number ys (per batch item: ``[B, 1]``) with respect to xs; with a tuple xs, a tuple of
    tuples."""
    batched = _batched(batch_axis)
    size = 1
    for n in ys.shape[1:] if batched else ys.shape:
        size *= n
    if size != 1:
        raise ValueError(f"Only support ys.numel()({size})==1" + (" for each batch item" if batched else ""))
    variables = xs if _sequence(xs) else (xs,)
    first = [_row(ys.sum(), x) for x in variables]
    table = tuple(tuple(Hessian(g, x, batched) for x in variables) for g in first)
    return table if _sequence(xs) else table[0][0]


def _call(func, xs):
    outputs = func(*xs) if _sequence(xs) else func(xs)
    return outputs


def _fresh(xs):
    """Inputs that record, cut off from where they came from."""

    def one(x):
        y = x.detach() if x.stop_gradient else x * 1
        y.stop_gradient = False
        return y

    return type(xs)(one(x) for x in xs) if _sequence(xs) else one(xs)


def _as_list(value):
    return list(value) if _sequence(value) else [value]


def _zero_if_none(grads, xs):
    return [_zeros_like(x) if g is None else g for g, x in zip(grads, xs)]


def vjp(func, xs, v=None):
    """``(func(xs), v^T J)``; v defaults to ones of the outputs' shapes."""
    xs = _fresh(xs)
    ys = _call(func, xs)
    seeds = None if v is None else _as_list(v)
    grads = grad(_as_list(ys), _as_list(xs), seeds, retain_graph=True, create_graph=True, allow_unused=True)
    grads = _zero_if_none(grads, _as_list(xs))
    return ys, (tuple(grads) if _sequence(xs) else grads[0])


def jvp(func, xs, v=None):
    """``(func(xs), J v)`` by differentiating ``u -> u^T J`` (the double-backward trick); v defaults to ones."""
    xs = _fresh(xs)
    ys = _call(func, xs)
    inputs, outputs = _as_list(xs), _as_list(ys)
    probes = [core.full(y.shape, 1.0, y.dtype) for y in outputs]
    for p in probes:
        p.stop_gradient = False
    pulled = grad(outputs, inputs, probes, retain_graph=True, create_graph=True, allow_unused=True)
    directions = [core.full(x.shape, 1.0, x.dtype) for x in inputs] if v is None else _as_list(v)
    live = [(g, d) for g, d in zip(pulled, directions) if g is not None]
    if not live:
        pushed = [None] * len(probes)
    else:
        pushed = grad([g for g, _ in live], probes, [d for _, d in live], create_graph=True, allow_unused=True)
    pushed = _zero_if_none(pushed, outputs)
    return ys, (tuple(pushed) if _sequence(ys) else pushed[0])
