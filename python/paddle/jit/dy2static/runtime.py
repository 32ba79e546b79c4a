"""What transformed code calls. The module's namespace is the ``_jst`` of :mod:`.transformer`.

Each function first asks whether a tensor of the running trace decides. If not, it does exactly what Python does.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sized

from .. import _trace_api as api
from .._state import state
from . import breaks
from .branches import trace_if, trace_select
from .comprehensions import choose_, choose_lazily_, comprehend_  # noqa: F401 - what transformed code calls
from .containers import (
    TracedList,
    TracedRange,
    as_traced_sequence,
    length_test,
)
from .convert import convert_call
from .errors import Dy2StaticTypeError, user_location
from .items import change_item_, display_, held_item_, item_, set_item_  # noqa: F401 - what transformed code calls
from .loops import trace_while
from .slots import BoxSlot, slots_of
from .texts import TracedText, assert_traced, formatted
from .values import truth

call = convert_call

# A Python-bounded loop left early by a tensor is unrolled up to this many rounds; a longer range becomes a `while` operator.
UNROLL_LIMIT = 32

_COMPARE = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda a, b: _contains(a, b),
    "NotIn": lambda a, b: not_(_contains(a, b)),
}


def _contains(item, items):
    """``item in items``; with tensors among them, whether any is equal."""
    if type(items) not in (list, tuple, range):
        return item in items
    if not api.is_traced(item) and not any(api.is_traced(v) for v in items):
        return item in items
    found = False
    for v in items:
        same = item == v
        if not api.is_traced(same):
            if same:
                return True
        else:
            same = truth(same)
            found = same if found is False else api.logical_or(found, same)
    return found


def if_(test, then: Callable, orelse: Callable | None, names: tuple, scratch: tuple, raises=(False, False)) -> None:
    if type(test) is TracedList:
        test = length_test(test)
    if api.is_traced(test):
        slots, unread = (slots_of(n, then, orelse) for n in (names, scratch))
        trace_if(test, then, orelse, slots, unread, raises)
    elif test:
        then()
    elif orelse is not None:
        orelse()


def while_(test: Callable, body: Callable, names: tuple, late: tuple) -> None:
    while True:
        cond = test()
        if type(cond) is TracedList:
            test = lambda test=test: length_test(test())
            cond = length_test(cond)
        if api.is_traced(cond):
            trace_while(cond, test, body, slots_of(names, test, body), late)
            return
        if not cond:
            return
        body()


def for_(iterable, body: Callable, go_on: Callable | None, names: tuple, late: tuple) -> None:
    """``for _jst_item in iterable: body(_jst_item)``; ``go_on`` is the test of the flags that leave the loop."""
    sequence = as_traced_sequence(iterable)
    if sequence is not None:
        _traced_for(sequence, 0, body, go_on, names, late)
        return
    if go_on is None:
        for item in iterable:
            body(item)
        return
    done = 0
    it = iter(iterable)
    for item in it:
        body(item)
        done += 1
        cond = go_on()
        if api.is_traced(cond):
            _leave_by_tensor(iterable, it, done, body, go_on, names, late)
            return
        if not cond:
            return


def _leave_by_tensor(iterable, it, done: int, body, go_on, names, late) -> None:
    """From now on a tensor says whether the loop goes on."""
    if type(iterable) is range and len(iterable) - done > UNROLL_LIMIT:
        _traced_for(
            TracedRange(iterable.start, iterable.stop, iterable.step), done, body, go_on, names, late, len(iterable)
        )
        return
    if not isinstance(iterable, Sized) and not isinstance(it, (zip, enumerate, map, filter, reversed)):
        rounds = 10_000
    else:
        rounds = -1
    for item in it:
        if rounds == 0:
            raise Dy2StaticTypeError(f"an endless iterator in a loop that a Tensor ends ({user_location()})")
        rounds -= 1
        cond = go_on()
        if api.is_traced(cond):
            trace_if(cond, lambda item=item: body(item), None, slots_of(names, body), [])
        elif cond:
            body(item)
        else:
            return


def _traced_for(sequence, start: int, body, go_on, names, late, rounds=None) -> None:
    counter = BoxSlot("_jst_counter", start)
    rounds = sequence.length() if rounds is None else rounds

    def test():
        return _both(counter.value < rounds, go_on)

    def step():
        body(sequence.item(counter.value))
        counter.value = counter.value + 1

    slots = [counter, *slots_of(names, body, go_on)]
    trace_while(test(), test, step, slots, late, (body, go_on))


def _both(a, go_on):
    if go_on is None:
        return a
    b = go_on()
    if api.is_traced(a) and api.is_traced(b):
        return api.logical_and(truth(a), truth(b))
    if api.is_traced(a):
        return a if b else False
    return b if a else False


def will_set(owner, attribute: str) -> None:
    """``owner.attribute`` is about to be assigned."""
    if state.recorder is not None:
        state.recorder.attribute(owner, attribute)
    if state.watches and not api.is_tensor(owner) and not isinstance(owner, type(api)):
        for watch in state.watches:
            watch.note(owner, attribute)


# ---- expressions --------------------------------------------------------------------------------------------------


def _as_bool(x):
    """A truth value for the program (tensor) or for Python."""
    return truth(x) if api.is_traced(x) else bool(x)


def _is_condition(x) -> bool:
    """Its value and its truth are the same thing."""
    return type(x) is bool or (api.is_traced(x) and api.dtype_name(x.dtype) == "bool" and not len(x.shape))


def _connect(is_and: bool, first, cheap: bool, rest: tuple, as_test: bool):
    value = first
    for k, operand in enumerate(rest):
        if not api.is_traced(value):
            if bool(value) is not is_and:
                return value
            value = operand()
            continue
        if not cheap:
            return _connect_lazily(is_and, value, rest[k:], as_test)
        other = operand()
        if not as_test and not (_is_condition(value) and _is_condition(other)):
            return _select(is_and, value, lambda other=other: other)
        value = _logical(is_and, _as_bool(value), _as_bool(other))
    return value


def _logical(is_and: bool, a, b):
    if type(b) is bool:  # `t and True` is t
        return a if b is is_and else b
    return api.logical_and(a, b) if is_and else api.logical_or(a, b)


def _connect_lazily(is_and: bool, value, rest: tuple, as_test: bool):
    """Operands that may fail or cost something run only where the ones before let them."""

    def others():
        result = _connect(is_and, rest[0](), False, rest[1:], as_test)
        return _as_bool(result) if as_test else result

    if as_test:
        value = truth(value)
    return _select(is_and, value, others)


def _select(is_and: bool, value, others: Callable):
    if is_and:
        return trace_select(value, others, lambda: value)
    return trace_select(value, lambda: value, others)


def and_(first, cheap, *rest):
    return _connect(True, first, cheap, rest, False)


def or_(first, cheap, *rest):
    return _connect(False, first, cheap, rest, False)


def and_test_(first, cheap, *rest):
    return _connect(True, first, cheap, rest, True)


def or_test_(first, cheap, *rest):
    return _connect(False, first, cheap, rest, True)


def not_(x):
    x = length_test(x) if type(x) is TracedList else x
    return api.logical_not(truth(x)) if api.is_traced(x) else not x


def compare_(left, ops: tuple, cheap: bool, sizes: bool, *operands):
    """``a < b < c``: each operand is evaluated once, and only if the comparisons before it hold.

    With ``sizes`` (a loop's test) a symbolic size is compared by the program, not by Python.
    """

    def link(a, k: int):
        b = operands[k]()
        if sizes and (api.is_symint(a) or api.is_symint(b)):
            a = api.constant(a) if api.is_symint(a) else a
            b = api.constant(b) if api.is_symint(b) else b
        result = _COMPARE[ops[k]](a, b)
        if k + 1 == len(ops):
            return result
        return _connect(True, result, cheap, (lambda: link(b, k + 1),), False)

    return link(left, 0)


def ifexp_(test, then: Callable, orelse: Callable):
    test = length_test(test) if type(test) is TracedList else test
    if api.is_traced(test):
        return trace_select(test, then, orelse, "the conditional expression")
    return then() if test else orelse()


def assert_(test, message: Callable | None = None) -> None:
    test = length_test(test) if type(test) is TracedList else test
    if not api.is_traced(test):
        if __debug__ and not test:
            raise AssertionError(*([message()] if message is not None else []))
        return
    text = message() if message is not None else "assertion failed"
    assert_traced(truth(test), text)


def percent_(text: str, values):
    """``"%.3f" % values``."""
    several = values if type(values) is tuple else (values,)
    if not any(api.is_traced(v) for v in several) or breaks.here():
        return text % values
    return TracedText.percent(text, several)


def fstring_(*parts):
    """``parts`` are strings and (value, conversion, format)."""
    traced = any(type(p) is tuple and (api.is_traced(p[0]) or type(p[0]) is TracedText) for p in parts)
    if traced and not breaks.here():
        return TracedText.of(parts)
    return "".join([p if type(p) is str else formatted(*p) for p in parts])


def range_(*args):
    if any(api.is_traced(a) or api.is_symint(a) for a in args):
        args = tuple(api.constant(a) if api.is_symint(a) else a for a in args)
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        return TracedRange(start, stop, step)
    return builtins.range(*args)
