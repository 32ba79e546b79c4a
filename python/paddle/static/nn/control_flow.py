"""Control flow as functions: cond, while_loop, case, switch_case.

On tensors of a running trace they build region operators, on eager tensors they just choose. Functions given to them are
transformed like any function that ``to_static`` calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ...jit import _trace_api as api
from ...jit.dy2static.branches import trace_select
from ...jit.dy2static.convert import convert_call
from ...jit.dy2static.errors import (
    BranchDtypeError,
    BranchError,
    is_unusable,
    raise_unusable,
    user_location,
)
from ...jit.dy2static.loops import trace_while
from ...jit.dy2static.slots import BoxSlot
from ...jit.dy2static.values import describe
from ...jit.structure import LEAF, flatten, unflatten
from .while_block import Assert, While

__all__ = ["Assert", "While", "case", "cond", "switch_case", "while_loop"]


def cond(pred, true_fn: Callable | None = None, false_fn: Callable | None = None, name=None, return_names=None) -> Any:
    """``true_fn() if pred else false_fn()``.

    Args:
        pred: a bool tensor with one element.
        true_fn, false_fn: functions without arguments. Both results must have one structure (nested lists, tuples, dicts) and, leaf by
            leaf, ranks that agree. A missing function returns None.
        name, return_names: for compatibility; unused.

    Raises:
        TypeError: a function isn't callable.
        ValueError: the results' structures or ranks differ. RuntimeError: ranks or dtypes do.
    """
    for label, fn in (("true_fn", true_fn), ("false_fn", false_fn)):
        if fn is not None and not callable(fn):
            raise TypeError(f"The {label} in cond must be callable, but received {type(fn).__name__}")
    if not api.is_traced(pred):
        chosen = true_fn if pred else false_fn
        return chosen() if chosen is not None else None
    chosen, other = _branch(true_fn), _branch(false_fn)
    first: list = [None]

    def then():
        first[0] = chosen()
        return first[0]

    return _checked(trace_select(pred, then, lambda: _agreeing(first[0], other()), "the result of cond"))


def _agreeing(a: Any, b: Any) -> Any:
    """``b`` in the structure of ``a``, where lists and tuples count alike."""
    la: list = []
    lb: list = []
    sa, sb = flatten(a, la), flatten(b, lb)
    if _same_nest(sa) != _same_nest(sb) or (a is None) != (b is None):
        raise BranchError(
            f"the true_fn of cond returns {describe(a)}, the false_fn {describe(b)}: both must have one structure ({user_location()})"
        )
    for x, y in zip(la, lb):
        if api.is_tensor(x) and api.is_tensor(y) and x.dtype != y.dtype:
            raise BranchDtypeError(
                f"the true_fn of cond returns a Tensor of dtype {api.dtype_name(x.dtype)} where the false_fn returns one of "
                f"{api.dtype_name(y.dtype)}: both must agree ({user_location()})"
            )
    return b if sa == sb else unflatten(sa, lb)


def _same_nest(structure: Any) -> Any:
    if structure == LEAF:
        return LEAF
    cls, extra, children = structure
    return (tuple if cls is list else cls, extra, tuple([_same_nest(c) for c in children]))


def _branch(fn: Callable | None) -> Callable:
    return convert_call(fn) if fn is not None else _nothing


def _nothing() -> None:
    return None


def _checked(value: Any) -> Any:
    leaves: list = []
    flatten(value, leaves)
    for leaf in leaves:
        if is_unusable(leaf):
            raise_unusable(leaf)
    return value


def while_loop(cond: Callable, body: Callable, loop_vars: Sequence, is_test: bool = False, name=None) -> list | tuple:
    """``while cond(*loop_vars): loop_vars = body(*loop_vars)``.

    Args:
        cond: takes the loop variables, returns a bool tensor with one element.
        body: takes the loop variables, returns as many new ones, each of the structure and rank it had.
        loop_vars: list or tuple of tensors, numbers or nested containers of them.
        is_test, name: for compatibility; unused.

    Returns:
        The loop variables after the last round, in a list or tuple like ``loop_vars``.

    Raises:
        TypeError: ``cond`` or ``body`` isn't callable, ``loop_vars`` is neither list nor tuple.
        ValueError: there are no loop variables, or ``body`` returns another number of them.
    """
    if not callable(cond):
        raise TypeError("cond in while_loop should be callable")
    if not callable(body):
        raise TypeError("body in while_loop should be callable")
    if not isinstance(loop_vars, (list, tuple)):
        raise TypeError(f"loop_vars in while_loop should be a list or tuple, but received {type(loop_vars).__name__}")
    if not loop_vars:
        raise ValueError("loop_vars in while_loop should not be empty")
    kind = type(loop_vars)
    box = BoxSlot("loop_vars", list(loop_vars))
    test_fn, body_fn = (convert_call(f) if api.tracing() else f for f in (cond, body))

    def step() -> None:
        new = body_fn(*box.value)
        new = list(new) if isinstance(new, (list, tuple)) else [new]
        if len(new) != len(box.value):
            raise ValueError(
                f"body in while_loop should return {len(box.value)} loop variables, but returned {len(new)}"
            )
        box.value = new

    while True:
        go = test_fn(*box.value)
        if api.is_traced(go):
            trace_while(go, lambda: test_fn(*box.value), step, [box], parts=(test_fn, body_fn))
            break
        if not go:
            break
        step()
    return kind(box.value)


def case(pred_fn_pairs: Sequence[tuple], default: Callable | None = None, name=None) -> Any:
    """The result of the first function whose predicate holds, else of ``default`` (None: of the last pair's function).

    Raises:
        TypeError: a pair isn't a 2-tuple, or a function isn't callable.
    """
    pairs = list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, tuple):
            raise TypeError(
                f"The elements' type of 'pred_fn_pairs' in case must be <class 'tuple'>, but received: {type(pair)}."
            )
        if len(pair) != 2:
            raise TypeError(f"The tuple's size of 'pred_fn_pairs' in case must be 2, but received: {len(pair)}-tuple.")
        if not callable(pair[1]):
            raise TypeError("The fn of pred_fn_pairs in Op(case) must be callable.")
        if api.is_traced(pair[0]) and api.dtype_name(pair[0].dtype) != "bool":
            raise TypeError(
                f"The data type of 'pred' in case must be bool, but received {api.dtype_name(pair[0].dtype)}."
            )
    if default is not None and not callable(default):
        raise TypeError("The default in Op(case) must be callable.")
    if not pairs:
        raise ValueError("The 'pred_fn_pairs' in case should not be empty.")
    if default is None:
        default = pairs.pop()[1]

    def chain(otherwise: Callable, pair: tuple) -> Callable:
        return lambda: cond(pair[0], pair[1], otherwise)

    return reduce(chain, reversed(pairs), default)()


def switch_case(branch_index, branch_fns, default: Callable | None = None, name=None) -> Any:
    """The result of the function whose key equals ``branch_index``, else of ``default`` (None: of the largest key's function).

    Args:
        branch_index: an integer tensor with one element.
        branch_fns: a dict from int to function, a list of (int, function), or a list of functions (keys 0, 1, …).

    Raises:
        TypeError: a key isn't an int or a function isn't callable.
        ValueError: a key appears twice.
    """
    pairs = _numbered(branch_fns)
    if default is not None and not callable(default):
        raise TypeError("The default in Op(case) must be callable.")
    if default is None:
        default = pairs[-1][1]
    if not api.is_traced(branch_index):
        index = int(branch_index)
        return next((fn for key, fn in pairs if key == index), default)()
    if api.dtype_name(branch_index.dtype) not in ("uint8", "int32", "int64"):
        raise TypeError(
            "The data type of 'branch_index' in switch_case must be uint8, int32 or int64, but received "
            f"{api.dtype_name(branch_index.dtype)}."
        )
    if len(branch_index.shape):
        branch_index = branch_index.reshape([])

    def chain(otherwise: Callable, pair: tuple) -> Callable:
        return lambda: cond(branch_index == pair[0], pair[1], otherwise)

    return reduce(chain, reversed(pairs), default)()


def _numbered(branch_fns) -> list[tuple[int, Callable]]:
    items = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if items and all(callable(i) for i in items):
        items = list(enumerate(items))
    seen: set[int] = set()
    for item in items:
        if not isinstance(item, tuple):
            raise TypeError(
                f"The elements' type of 'branch_fns' in switch_case must be <class 'tuple'>, but received: {type(branch_fns)}."
            )
        if len(item) != 2:
            raise TypeError(
                f"The tuple's size of 'branch_fns' in switch_case must be 2, but received: {len(item)}-tuple."
            )
        key, fn = item
        if not isinstance(key, int):
            raise TypeError(
                f"The key's type of 'branch_fns' in switch_case must be <class 'int'>, but received: {type(key)}."
            )
        if key in seen:
            raise ValueError(f"The key in 'branch_fns' must be unique, but '{key}' appears more than once.")
        seen.add(key)
        if not callable(fn):
            raise TypeError(
                f"The type of function for key {key} of 'branch_fns' in switch_case must be callable, but received: {type(fn)}."
            )
    if not items:
        raise ValueError("The 'branch_fns' in switch_case should not be empty.")
    return sorted(items, key=lambda i: i[0])
