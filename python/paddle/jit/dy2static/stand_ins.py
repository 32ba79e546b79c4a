"""What transformed code calls instead of builtins that would ask a tensor for its value, and of functions that take lists of
tensors."""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
import types

from .. import _trace_api as api
from .._state import state
from . import breaks
from .comprehensions import ChosenItems, choose_lazily_
from .containers import (
    TracedEnumerate,
    TracedList,
    TracedReversed,
    TracedZip,
    as_traced_sequence,
    join,
)
from .convert import convert_call, special
from .errors import Dy2StaticError, Dy2StaticTypeError, user_location
from .loops import each_round
from .runtime import _connect, ifexp_, range_
from .texts import TracedText, print_traced
from .values import truth


@special(builtins.range)
def _range(*args):
    return range_(*args)


@special(builtins.len)
def _len(x):
    if isinstance(x, TracedList):
        return x.length()
    if api.is_traced(x):
        if not len(x.shape):
            raise TypeError("len() of a 0-D tensor")
        return x.shape[0]
    return len(x)


@special(builtins.print)
def _print(*args, **kwargs):
    # In segments Python prints, so that all lines come in order.
    by_python = breaks.here() and state.recorder.segmented
    if any(api.is_traced(a) or type(a) is TracedText for a in args) and not by_python:
        try:
            return print_traced(args, **kwargs)
        except Dy2StaticError:
            if not breaks.here():
                raise
    print(*args, **kwargs)


@special(builtins.sum)
def _sum(items, /, start=0):
    sequence = as_traced_sequence(items)
    if sequence is None:
        return builtins.sum(items, start)
    return each_round(sequence, start, operator.add)


@special(builtins.list)
def _list(items=(), /):
    if type(items) is TracedList:
        return items.copy()
    sequence = as_traced_sequence(items)
    if sequence is not None:
        return each_round(sequence, [], lambda out, item: (out.append(item), out)[1])
    return list(items)


@special(builtins.reversed)
def _reversed(items, /):
    sequence = as_traced_sequence(items)
    return reversed(items) if sequence is None else TracedReversed(sequence)


@special(builtins.enumerate)
def _enumerate(iterable, start=0):
    inner = as_traced_sequence(iterable)
    return enumerate(iterable, start) if inner is None else TracedEnumerate(inner, start)


@special(builtins.zip)
def _zip(*iterables, **kwargs):
    inners = [as_traced_sequence(i) for i in iterables]
    if all(i is None for i in inners):
        return zip(*iterables, **kwargs)
    if any(i is None for i in inners):
        raise Dy2StaticTypeError(f"zip of a sequence of traced length with a Python sequence ({user_location()})")
    return TracedZip(inners)


def _accumulate(items, func=operator.add, **kwargs):
    return itertools.accumulate(items, convert_call(func) if func is not None else operator.add, **kwargs)


def _converted_callback(builtin):
    def run(fn, *args, **kwargs):
        return builtin(convert_call(fn) if fn is not None else fn, *args, **kwargs)

    return run


for _taker in (builtins.map, functools.reduce, itertools.accumulate, itertools.starmap):
    special(_taker)(_converted_callback(_taker) if _taker is not itertools.accumulate else _accumulate)


@special(builtins.filter)
def _filter(fn, items):
    keeps = convert_call(fn) if fn is not None else lambda v: v
    return choose_lazily_(items, lambda given: ((lambda: keeps(v), lambda: v) for v in given))


def _extreme(builtin, op):
    def run(*args, **kwargs):
        sequence = as_traced_sequence(args[0]) if len(args) == 1 and not kwargs else None
        if sequence is not None:
            return each_round(sequence, sequence.item(0), lambda best, v: ifexp_(op(v, best), lambda: v, lambda: best))
        values = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
        if kwargs or len(values) < 2 or not any(api.is_traced(v) for v in values):
            return builtin(*args, **kwargs)
        best = values[0]
        for v in values[1:]:
            best = ifexp_(op(v, best), lambda v=v: v, lambda best=best: best)
        return best

    return run


special(builtins.max)(_extreme(builtins.max, operator.gt))
special(builtins.min)(_extreme(builtins.min, operator.lt))


def _quantifier(builtin, is_and: bool):
    def run(items):
        sequence = as_traced_sequence(items)
        if sequence is not None:
            join = api.logical_and if is_and else api.logical_or
            return each_round(sequence, api.constant(is_and, (), "bool"), lambda all_, v: join(all_, truth(v)))
        if type(items) in (types.GeneratorType, ChosenItems):
            items = list(items)
        if not isinstance(items, (list, tuple)) or not any(api.is_traced(v) for v in items):
            return builtin(items)
        return _connect(is_and, items[0], True, tuple([lambda v=v: v for v in items[1:]]), True)

    return run


special(builtins.all)(_quantifier(builtins.all, True))
special(builtins.any)(_quantifier(builtins.any, False))


def _joiner(how: str):
    def wrap(fn):
        def run(x, *args, **kwargs):
            if isinstance(x, ChosenItems):
                x = x.settled() or list(x)
            if not isinstance(x, TracedList) or x.__jst_plain__() is not None:
                return fn(list(x) if isinstance(x, TracedList) else x, *args, **kwargs)
            return join(x, how, kwargs["axis"] if "axis" in kwargs else args[0] if args else 0)

        return run

    return wrap


JOINERS = {how: _joiner(how) for how in ("stack", "concat", "vstack", "hstack", "add_n")}


def as_number(x, dtype: str | None = None):
    """What stands for a tensor's value where Python would have a number: no gradient passes it."""
    x = x.reshape([]) if len(x.shape) else x
    number = api.cast(x, dtype or api.dtype_name(x.dtype))
    if not number.stop_gradient:
        number = api.alias(number)
        number.stop_gradient = True
    return number


def method(fn):
    """What a call of a bound builtin method really calls."""
    owner, name = fn.__self__, fn.__name__
    if name == "format" and type(owner) is str:
        return functools.partial(_format, owner)
    if name == "item" and state.full_graph and api.is_traced(owner):
        return lambda *args: fn(*args) if args else as_number(owner)
    return fn


def _format(text: str, *args, **kwargs):
    traced = any(api.is_traced(v) for v in (*args, *kwargs.values()))
    if not traced or breaks.here():
        return text.format(*args, **kwargs)
    return TracedText.format_map(text, args, kwargs)


def _number(builtin, dtype: str):
    def run(*args):
        x = args[0] if args else None
        if len(args) == 1 and api.is_symint(x) and builtin is int:
            return x
        # Whole-graph capture stays in the program: the result is a 0-D tensor. Otherwise Python gets its number (a graph break).
        if len(args) == 1 and api.is_traced(x) and (state.full_graph or builtin is bool):
            return truth(x) if builtin is bool else as_number(x, dtype)
        return builtin(*args)

    return run


special(builtins.int)(_number(builtins.int, "int64"))
special(builtins.float)(_number(builtins.float, "float32"))
special(builtins.bool)(_number(builtins.bool, "bool"))
