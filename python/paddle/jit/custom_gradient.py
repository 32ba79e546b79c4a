"""Gradients that the user wrote (``PyLayer``, ``Tensor.register_hook``), captured: they are traced where they are said,
into regions that the program's differentiation puts in the place of derived gradients.

What can't be captured (a hook that keeps gradients, a backward that asks for values) runs in Python where the capture may
be interrupted, and is an error elsewhere.
"""

from __future__ import annotations

import contextlib
import functools

from ..base.tensor_patch import TensorHookRemoveHelper
from . import _trace_api as api
from ._state import state
from .dy2static import breaks
from .dy2static.convert import convert_call

# Backward may be told which results received no gradient: it is traced once for each case.
MAX_OPTIONAL_RESULTS = 4


def converted(function):
    """The form of a user's function that a trace calls: its control flow transformed where ``to_static`` captures."""
    return convert_call(function) if state.recorder is not None else function


def apply_py_layer(cls, ctx, tensors, run):
    """``PyLayer.apply`` while a program is captured; ``run()`` is its forward."""
    import paddle

    before = [api.alias(t) for t in tensors]
    breaks_before = _num_breaks()
    with paddle.no_grad():
        result = run()
    outs = ctx._flat(result)
    if not outs:
        return result
    try:
        if _num_breaks() != breaks_before:
            raise NotImplementedError("forward was interrupted")
        _capture(cls, ctx, before, outs)
        return result
    except breaks.reasons() as error:
        if not breaks.here():
            raise
        breaks.note(error)
    api.break_here("PyLayer")
    with api.outside():
        api.py_layer_record(cls, ctx, before, result)
    return result


def _num_breaks() -> int:
    return len(state.recorder.breaks) if state.recorder is not None else 0


def _capture(cls, ctx, before, outs) -> None:
    stops = [not (ctx._is_differentiable(t) and _inexact(t)) for t in outs]
    whole = (1 << len(outs)) - 1
    sets = [whole]
    if not ctx.materialize_grads and len(outs) > 1:
        if len(outs) > MAX_OPTIONAL_RESULTS:
            raise NotImplementedError(
                f"[{cls.__name__}] set_materialize_grads(False) with more than {MAX_OPTIONAL_RESULTS} results "
                f"({len(outs)}) can't be captured"
            )
        sets = [whole, *(s for s in range(1, whole) if not any(s >> i & 1 and stop for i, stop in enumerate(stops)))]
    regions = []
    for given in sets:
        region = api.gradient_region(outs)
        with region:
            grads = ctx._run_backward([g if given >> i & 1 else None for i, g in enumerate(region.args)])
            grads = [_checked(cls, i, g, t) for i, (g, t) in enumerate(zip(grads, before))]
        regions.append((given, region, grads))
    results = api.build_custom_grad(cls.__name__, before, outs, stops, regions)
    for handle, value in zip(outs, results):
        api.rebind(handle, value)


def _inexact(tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _checked(cls, index, grad, tensor):
    if grad is None:
        return None
    if not api.is_tensor(grad):
        raise TypeError(
            f"[{cls.__name__}] expected backward to return Tensors or None, got {type(grad).__name__} for input {index}"
        )
    shape, expected = tuple(grad.shape), tuple(tensor.shape)
    if len(shape) != len(expected) or any(type(a) is type(b) is int and a != b for a, b in zip(shape, expected)):
        raise ValueError(
            f"[{cls.__name__}] expected backward to return a gradient of shape {list(expected)} for input {index}, got {list(shape)}"
        )
    return grad


@contextlib.contextmanager
def _unchanged(hook):
    """Containers that the hook reaches must be as before: what it puts there only a running program has."""
    held = [(c, c.copy()) for c in _containers(hook)]
    yield
    changed = [(c, old) for c, old in held if len(c) != len(old) or not _same(c, old)]
    for c, old in changed:
        c.clear()
        c.extend(old) if isinstance(c, list) else c.update(old)
    if changed:
        raise NotImplementedError("[register_hook] the hook keeps a gradient, which only a running program has")


def _containers(hook) -> list:
    """Lists, dicts and sets that the hook's closure and object hold."""
    if isinstance(hook, functools.partial):
        return [c for v in (*hook.args, *hook.keywords.values()) for c in _containers_in(v)] + _containers(hook.func)
    owner = getattr(hook, "__self__", None)
    function = getattr(hook, "__func__", hook)
    values = [*vars(owner).values()] if hasattr(owner, "__dict__") else []
    for cell in getattr(function, "__closure__", None) or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            continue
    values += getattr(function, "__defaults__", None) or ()
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    values += [function.__globals__[n] for n in names if n in function.__globals__]
    return [c for v in values for c in _containers_in(v)]


def _containers_in(value) -> list:
    return [value] if type(value) in (list, dict, set) else []


def _same(a, b) -> bool:
    if isinstance(a, dict):
        return all(k in b and a[k] is b[k] for k in a)
    if isinstance(a, set):
        return {id(v) for v in a} == {id(v) for v in b}
    return all(x is y for x, y in zip(a, b))


class CapturedHook(TensorHookRemoveHelper):
    """A hook that is part of a program; it can be removed inside the function that registered it."""

    def remove(self) -> bool:
        if self._hook_id is None:
            return False
        api.remove_gradient_hook(self._hook_id)
        self._hook_id = None
        return True


def register_hook(tensor, hook):
    """``tensor.register_hook(hook)`` while a program is captured."""

    def eagerly(real):
        return TensorHookRemoveHelper(real, real._register_hook(hook)).remove

    try:
        region = api.gradient_region([tensor])
        with region, _unchanged(hook):
            grads = region.args
            result = converted(hook)(*grads)
            del grads
            if result is not None and not api.is_tensor(result):
                raise TypeError(
                    f"[register_hook] expected the hook to return a Tensor or None, got {type(result).__name__}"
                )
        if api.region_leaks(region, result):
            raise NotImplementedError("[register_hook] the hook keeps a gradient, which only a running program has")
        return CapturedHook(tensor, api.add_gradient_hook(tensor, region, result, eagerly))
    except breaks.reasons() as error:
        if not breaks.here():
            raise
        breaks.note(error)
    api.break_here("register_hook")
    with api.outside():
        return TensorHookRemoveHelper(tensor, tensor._register_hook(hook))
