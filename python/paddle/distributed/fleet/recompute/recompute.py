"""``recompute``: the intermediate tensors of a call are not kept for the backward pass, which runs the call again."""

from __future__ import annotations

from ....base import core
from ....jit import _trace_api as api
from .frame import run_without_keeping

__all__ = ["recompute", "recompute_sequential"]


def recompute(function, *args, **kwargs):
    """Calls ``function(*args, **kwargs)`` without keeping what its gradient reads: the backward pass runs the function
    again. Values and gradients are the same bit by bit, since the second run has the random state and the AMP state of
    the first.

    In a captured program the operators of the call are marked, and the backward part holds them a second time.

    Args:
        function: a Layer or any function. It must do the same when it is called again with the same tensors.
        *args: its arguments, of any kind; tensors may stand in lists, tuples and dicts.
        **kwargs: its keywords, and these:
        preserve_rng_state (bool): replay random numbers (operators, ``random``, ``numpy.random``, and what
            ``custom_state_manager`` names). Default True.
        use_reentrant (bool): which of official Paddle's two implementations is meant. Both are one here, and
            parameters get their gradients although no argument needs one. Default True.
        offload_indices (list[int]): with ``use_reentrant``, tensor arguments to keep in host memory; on the CPU all are.

    Returns:
        What the function returns.

    Raises:
        RuntimeError: in the backward pass, where an argument was overwritten in the meantime, or the function did
            something else the second time.
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs.pop("use_reentrant", True):
        kwargs.pop("offload_indices", None)
    if api.tracing():
        return _marked(function, args, kwargs, preserve)
    if not core.grad_enabled():
        return function(*args, **kwargs)
    return run_without_keeping(function, args, kwargs, bool(preserve))


def _marked(function, args, kwargs, preserve):
    before = api.core().recompute_enter(bool(preserve))
    try:
        return function(*args, **kwargs)
    finally:
        api.core().recompute_exit(before)


def recompute_sequential(ctx, functions, *args, **kwargs):
    """Runs functions one after the other in ``ctx["segments"]`` parts, of which all but the last are recomputed.

    Args:
        ctx: ``{"segments": how many parts (default 1), "preserve_rng_state": bool (default True)}``.
        functions: a Sequential or a list of functions of one argument.
        *args, **kwargs: those of the first part; ``kwargs`` go to ``recompute``.
    """
    segments, preserve = ctx.get("segments", 1), ctx.get("preserve_rng_state", True)
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments

    def part(begin, end):
        def run(value):
            for function in functions[begin:end]:
                value = function(value)
            return value

        return run

    begin = 0
    for _ in range(segments - 1):
        args = (recompute(part(begin, begin + size), *args, preserve_rng_state=preserve, **kwargs),)
        begin += size
    return part(begin, len(functions))(*args)
