"""``py_func``: a program that calls back into Python."""

from __future__ import annotations

import numpy as np

from ..base import core
from ..jit import _trace_api as api

__all__ = ["py_func"]


def py_func(func, x, out, backward_func=None, skip_vars_in_backward_input=None):
    """Calls ``func(*x)`` whenever the program runs; the variables ``out`` mean what it returns. A program with such a call can't
    be run by another process.

    Args:
        func: takes tensors (``numpy.array`` takes them too), returns tensors or arrays of the shapes and dtypes of ``out``, or
            nothing where ``out`` is None.
        x: a variable, or a list or tuple of them.
        out: a variable, a list or tuple of them (``Block.create_var`` makes them; None sizes are open), or None.
        backward_func: takes ``x``, ``out`` and the gradients of ``out``, returns those of ``x`` (None for none). None: no gradient
            passes.
        skip_vars_in_backward_input: variables among ``x`` and ``out`` that ``backward_func`` doesn't get.

    Returns:
        ``out``.

    Raises:
        TypeError: a function isn't callable, or there are other things among the variables.
        ValueError: something to skip is neither in ``x`` nor in ``out``.
    """
    for label, function in (("func", func), ("backward_func", backward_func)):
        if not callable(function) and not (function is None and label == "backward_func"):
            raise TypeError(f"[py_func] expected {label} to be callable, got {type(function).__name__}")
    inputs, outs = _variables("x", x), _variables("out", out)
    skipped = _variables("skip_vars_in_backward_input", skip_vars_in_backward_input)
    for v in skipped:
        if not any(v is other for other in (*inputs, *outs)):
            raise ValueError("[py_func] a variable to skip in backward is neither in x nor in out")
    if not api.tracing():
        raise ValueError("[py_func] belongs into a program: enable static mode, or call the function itself")
    types = [(_open(v), v.dtype) for v in outs]
    computed = api.host_call(_returning(func, len(outs)), inputs, types)
    results = computed
    needs = [not v.stop_gradient for v in inputs]
    if backward_func is not None and any(needs) and core._core.grad_enabled():
        results = _with_gradient(backward_func, inputs, outs, computed, skipped, needs)
    for target, result in zip(outs, results):
        api.rebind(target, result)
    return out


def _with_gradient(backward_func, inputs, outs, computed, skipped, needs):
    shown = [v for v in inputs if not any(v is s for s in skipped)]
    shown += [c for o, c in zip(outs, computed) if not any(o is s for s in skipped)]
    before = [api.alias(v) for v in inputs]
    shown = [api.alias(v) for v in shown]
    region = api.gradient_region(computed)
    with region:
        wanted = [(_open(v), v.dtype) for v, need in zip(inputs, needs) if need]
        found = iter(api.host_call(_gradients(backward_func, needs), [*shown, *region.args], wanted))
        grads = [next(found) if need else None for need in needs]
    stops = [not c.is_floating_point() for c in computed]
    return api.build_custom_grad("py_func", before, computed, stops, [((1 << len(computed)) - 1, region, grads)])


def _variables(label: str, value) -> list:
    values = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    for v in values:
        if not isinstance(v, core.Tensor):
            raise TypeError(f"[py_func] expected {label} to hold variables, got {type(v).__name__}")
    return values


def _open(v) -> tuple:
    declared = getattr(v, "_declared_shape", None)
    shape = v.shape if declared is None or len(declared) != len(v.shape) else declared
    return tuple([None if n is None or (type(n) is int and n < 0) else n for n in shape])


def _as_list(result) -> list:
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _tensor(value):
    return value if isinstance(value, core.Tensor) else api.to_tensor(np.asarray(value))


def _returning(func, count: int):
    def call(values):
        return [_tensor(v) for v in _as_list(func(*values))] if count else (func(*values), [])[1]

    return call


def _gradients(func, needs):
    """One for each input that needs a gradient, zeros for None."""

    def call(values):
        found = _as_list(func(*values))
        if len(found) != len(needs):
            raise ValueError(f"[py_func] expected backward_func to return {len(needs)} gradients, got {len(found)}")
        missing = [i for i, (g, need) in enumerate(zip(found, needs)) if need and g is None]
        if missing:
            raise ValueError(f"[py_func] expected a gradient of input {missing[0]} from backward_func, got None")
        return [_tensor(g) for g, need in zip(found, needs) if need]

    return call
