"""Trace branches and loops into region operators.

A *slot* is a place that a part of the code writes: a variable (cell or global) or an attribute. Tracing a part runs it on the same
slots as the rest of the function; afterwards the slots are compared, and what differs becomes a result of the region.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _trace_api as api
from ..structure import LEAF, flatten, leaf_paths, unflatten
from .containers import TracedList
from .early_exit import EXIT_FLAGS, RETURN_VALUE
from .errors import (
    Dy2StaticNameError,
    Dy2StaticTypeError,
    Dy2StaticValueError,
    Unusable,
    is_unusable,
    raise_unusable,
    user_location,
)

_KINDS = {bool: 0, int: 1, float: 2, complex: 3}


class _Missing:
    def __repr__(self) -> str:
        return "undefined"


MISSING = _Missing()


class _Slot:
    rebound = True  # False: the code changes the object in the slot, not the slot


class CellSlot(_Slot):
    def __init__(self, name: str, cell) -> None:
        self.name, self.cell = name, cell

    def get(self):
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def set(self, value) -> None:
        self.cell.cell_contents = value

    def delete(self) -> None:
        try:
            del self.cell.cell_contents
        except ValueError:
            pass


class GlobalSlot(_Slot):
    def __init__(self, name: str, space: dict) -> None:
        self.name, self.space = name, space

    def get(self):
        return self.space.get(self.name, MISSING)

    def set(self, value) -> None:
        self.space[self.name] = value

    def delete(self) -> None:
        self.space.pop(self.name, None)


class AttributeSlot(_Slot):
    def __init__(self, name: str, owner, attribute: str) -> None:
        self.name, self.owner, self.attribute = name, owner, attribute

    def get(self):
        return getattr(self.owner, self.attribute, MISSING)

    def set(self, value) -> None:
        setattr(self.owner, self.attribute, value)

    def delete(self) -> None:
        if hasattr(self.owner, self.attribute):
            delattr(self.owner, self.attribute)


class BoxSlot(_Slot):
    """A variable of the run time itself."""

    def __init__(self, name: str, value=MISSING) -> None:
        self.name, self.value = name, value

    def get(self):
        return self.value

    def set(self, value) -> None:
        self.value = value

    def delete(self) -> None:
        self.value = MISSING


class HandleSlot(_Slot):
    """A tensor that code overwrites in place, whatever names it goes by."""

    def __init__(self, handle) -> None:
        self.name, self.handle = "a Tensor written in place", handle

    def get(self):
        return api.alias(self.handle)

    def set(self, value) -> None:
        api.rebind(self.handle, value)

    def delete(self) -> None:
        pass


def slots_of(names: Sequence[str], *parts) -> list:
    """Slots for ``names``, found through the closures of the generated functions ``parts``."""
    cells: dict[str, Any] = {}
    space: dict = {}
    for fn in parts:
        if fn is not None:
            space = fn.__globals__
            cells.update(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    out: list = []
    for entry in names:
        name = entry.lstrip("*")
        base, *path = name.split(".")
        root = CellSlot(base, cells[base]) if base in cells else GlobalSlot(base, space)
        if not path:
            # A mutated name that isn't a cell and no global either lives inside the part: nobody else sees it.
            if base in cells or base in space:
                out.append(root)
                root.rebound = entry == name
            continue
        owner = root.get()
        for attribute in path[:-1]:
            owner = getattr(owner, attribute, MISSING)
        if owner is not MISSING and not isinstance(owner, type(api)) and not api.is_tensor(owner):
            out.append(AttributeSlot(name, owner, path[-1]))
            out[-1].rebound = entry == name
    return out


class Snapshot:
    """Values of slots, with the contents of lists and dicts, which parts may change in place."""

    def __init__(self, slots: list) -> None:
        self.slots = slots
        self.values = [s.get() for s in slots]
        self.contents = [_contents(v) for v in self.values]

    def restore(self) -> None:
        for slot, value, content in zip(self.slots, self.values, self.contents):
            if content is not None:
                _refill(value, content)
            if slot.get() is not value:
                slot.delete() if value is MISSING else slot.set(value)

    def seen(self) -> list:
        """The values as they were, independent of later in-place changes."""
        return [v if c is None else c for v, c in zip(self.values, self.contents)]


def _contents(value):
    if type(value) is list:
        return list(value)
    if type(value) is dict:
        return dict(value)
    if type(value) is TracedList:
        return TracedList(value.structure, list(value.arrays))
    return None


def _refill(value, content) -> None:
    if type(value) is list:
        value[:] = content
    elif type(value) is dict:
        value.clear()
        value.update(content)
    else:
        value.arrays = list(content.arrays)


def _assign(slot, old, value) -> None:
    """Set a slot; a container that the slot holds since before keeps its identity."""
    if type(old) is type(value) and type(value) in (list, dict, TracedList):
        _refill(old, value)
        value = old
    if value is MISSING:
        slot.delete()
    elif slot.get() is not value:
        slot.set(value)


def is_number(x: Any) -> bool:
    return type(x) in _KINDS or api.is_symint(x)


def is_leaf_value(x: Any) -> bool:
    return api.is_tensor(x) or is_number(x) or api.is_array(x)


def describe(x: Any) -> str:
    if x is MISSING:
        return "undefined"
    if api.is_tensor(x):
        return f"a Tensor of shape {list(x.shape)}, {api.dtype_name(x.dtype)}"
    if isinstance(x, (list, tuple, dict)):
        return f"a {type(x).__name__} of {len(x)}"
    return f"{x!r} ({type(x).__name__})"


def truth(x):
    """A boolean 0-D tensor from a tensor used as a condition."""
    size = 1
    for n in x.shape:
        if api.is_symint(n) or n != 1:
            size = None
    if size is None:
        raise Dy2StaticValueError(
            f"the condition is a Tensor of shape {list(x.shape)}; one with a single element is expected ({user_location()})"
        )
    if len(x.shape):
        x = x.reshape([])
    return x if api.dtype_name(x.dtype) == "bool" else api.cast(x, "bool")


def number_dtype(x) -> str:
    if type(x) is bool:
        return "bool"
    if type(x) is float:
        return api.default_dtype()
    return "complex64" if type(x) is complex else "int64"


def dtype_kind(name: str) -> int:
    if name == "bool":
        return 0
    if name.startswith(("int", "uint")):
        return 1
    return 3 if name.startswith("complex") else 2


_ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def type_of(x) -> tuple[str, bool]:
    """The dtype's name, and whether it is only that of a Python number."""
    return (api.dtype_name(x.dtype), False) if api.is_tensor(x) else (number_dtype(x), True)


def common_dtype(a: tuple[str, bool], b: tuple[str, bool]) -> str:
    """The dtype for a result that is ``a`` or ``b`` (see :func:`type_of`). Numbers give way to tensors of their kind or above."""
    (na, number_a), (nb, number_b) = a, b
    if na == nb:
        return na
    if number_a != number_b:
        tensor, number = (nb, na) if number_a else (na, nb)
        if dtype_kind(number) <= dtype_kind(tensor):
            return tensor
    if {na, nb} == {"float16", "bfloat16"}:
        return "float32"
    return max(na, nb, key=lambda n: _ORDER.index(n) if n in _ORDER else len(_ORDER))


def as_tensor(x, dtype: str, shape=()):
    """``x`` (tensor, number or symbolic size) as a tensor of ``dtype``; a number fills ``shape``."""
    if api.is_tensor(x):
        return x if api.dtype_name(x.dtype) == dtype else api.cast(x, dtype)
    if api.is_array(x):
        return x
    return api.constant(x, tuple(shape), dtype)


# ---- if -----------------------------------------------------------------------------------------------------------


class _Merge:
    """Pairs the values that two branches leave and collects what the operator must return."""

    def __init__(self, where: str, region_true, region_false) -> None:
        self.where = where
        self.regions = (region_true, region_false)
        self.outs: tuple[list, list] = ([], [])
        self.exits = (False, False)  # the branch leaves by break, continue or return (or may)

    def note_exits(self, slots, *sides) -> None:
        """Read the flags of early exits: what a branch that exits leaves undefined is only read where the flag is unset."""
        flags = [i for i, s in enumerate(slots) if s.name.startswith(EXIT_FLAGS)]
        self.exits = tuple(any(v[i] is True or api.is_tensor(v[i]) for i in flags) for v in sides)

    def value(self, name: str, a, b) -> Callable[[list], Any]:
        """A function that picks the merged value out of the operator's results."""
        if a is b:
            return lambda results: a
        a, b = (MISSING if gone and is_unusable(v) else v for v, gone in zip((a, b), self.exits))
        if is_unusable(a) or is_unusable(b):
            bad = a if is_unusable(a) else b
            return lambda results: bad
        if a is MISSING or b is MISSING:
            return self._one_sided(name, a, b)
        if is_leaf_value(a) and is_leaf_value(b):
            return self._leaf(a, b)
        la, lb = [], []
        sa, sb = flatten(a, la), flatten(b, lb)
        if sa == sb and sa != LEAF:
            parts = [self.value(name + p, x, y) for p, x, y in zip(leaf_paths(sa), la, lb)]
            return lambda results: unflatten(sa, [p(results) for p in parts])
        if self._growing(a, b):
            return self._lists(name, a, b)
        if type(a) is type(b) and _same(a, b):
            return lambda results: a
        if self.exits[0] != self.exits[1]:
            return self._one_sided(name, *(MISSING if gone else v for v, gone in zip((a, b), self.exits)))
        return self._unusable(name, Dy2StaticTypeError, f"is {describe(a)} if the condition holds and {describe(b)} if not")

    def _unusable(self, name, error, text):
        shown = "the function's result" if name.startswith(RETURN_VALUE) else f"variable '{name}'"
        bad = Unusable(error, f"{shown} {text}; the condition is a Tensor, so both must agree ({self.where})")
        return lambda results: bad

    def _one_sided(self, name, a, b):
        if name != RETURN_VALUE and not self.exits[0 if a is MISSING else 1]:
            branch = "true" if b is MISSING else "false"
            return self._unusable(name, Dy2StaticNameError, f"is only given a value when the condition is {branch}")
        # The flag beside it says whether the value counts: the other branch yields zeros.
        known, side = (a, 1) if b is MISSING else (b, 0)
        leaves: list = []
        structure = flatten(known, leaves)
        if not all(is_leaf_value(v) for v in leaves):
            return lambda results: known
        with self.regions[side]:
            blank = [_zeros(v) for v in leaves]
        pairs = [(v, z) if side == 1 else (z, v) for v, z in zip(leaves, blank)]
        parts = [self._leaf(x, y) for x, y in pairs]
        return lambda results: unflatten(structure, [p(results) for p in parts])

    def _leaf(self, a, b):
        if is_number(a) and type(a) is type(b) and not api.is_symint(a) and _same(a, b):
            return lambda results: a
        if api.is_array(a) and api.is_array(b):
            return self.array(a, b)
        dtype = common_dtype(type_of(a), type_of(b))
        shapes = [tuple(v.shape) if api.is_tensor(v) else None for v in (a, b)]
        if None not in shapes and len(shapes[0]) != len(shapes[1]):
            raise Dy2StaticValueError(
                f"a Tensor has shape {list(shapes[0])} if the condition holds and {list(shapes[1])} if not: "
                f"the ranks must agree ({self.where})"
            )
        fill = next((s for s in shapes if s is not None), ())
        for region, out, v in zip(self.regions, self.outs, (a, b)):
            with region:
                out.append(as_tensor(v, dtype, fill))
        index = len(self.outs[0]) - 1
        return lambda results: results[index]

    def array(self, a, b):
        self.outs[0].append(a)
        self.outs[1].append(b)
        index = len(self.outs[0]) - 1
        return lambda results: results[index]

    @staticmethod
    def _growing(a, b) -> bool:
        return isinstance(a, (list, TracedList)) and isinstance(b, (list, TracedList)) and bool(_item(a) or _item(b))

    def _lists(self, name, a, b):
        example = (_item(a) or _item(b))[0] if not isinstance(b, TracedList) else b
        both = []
        for region, v in zip(self.regions, (a, b)):
            with region:
                both.append(v if isinstance(v, TracedList) else TracedList.like(example, v))
        if both[0].structure != both[1].structure:
            return self._unusable(name, Dy2StaticTypeError, "is a list whose items differ in structure")
        parts = [self.array(x, y) for x, y in zip(both[0].arrays, both[1].arrays)]
        return lambda results: TracedList(both[0].structure, [p(results) for p in parts])


def _item(v):
    """A one-element list with an example item, or an empty one."""
    if isinstance(v, TracedList):
        return [v]
    return v[-1:]


def _same(a, b) -> bool:
    try:
        return bool(a == b)
    except Exception:
        return False


def _same_object(a, b) -> bool:
    return not is_leaf_value(b) and type(a) is type(b) and _same(a, b)


def _zeros(v):
    if api.is_tensor(v):
        return api.constant(0, tuple(v.shape), api.dtype_name(v.dtype))
    return api.constant(0, (), number_dtype(v))


def trace_if(pred, then, orelse, slots: list, unread: Sequence = (), raises=(False, False)) -> None:
    """Trace both branches; afterwards the slots hold the merged values.

    ``unread`` are slots that branches write but nobody reads afterwards. ``raises``: the branch does nothing but raise.
    """
    where = user_location()
    pred = truth(pred)
    if any(raises):
        _trace_raise(pred, then, orelse, raises)
        return
    before = Snapshot(slots)
    scratch = Snapshot(list(unread))
    after, regions = [], []
    for part in (then, orelse):
        region = api.region()
        with region:
            try:
                if part is not None:
                    part()
                after.append(Snapshot(slots).seen())
            finally:
                before.restore()
                scratch.restore()
        regions.append(region)
    merge = _Merge(where, *regions)
    merge.note_exits(slots, *after)
    seen = before.seen()
    pickers = []
    for slot, a, b, old in zip(slots, *after, seen):
        unchanged = _unchanged(a, old) and _unchanged(b, old)
        pickers.append(None if unchanged else merge.value(slot.name, a, b))
    writes = _merge_writes(merge)
    results = api.build_if(pred, regions[0], merge.outs[0], regions[1], merge.outs[1])
    for handle, pick in writes:
        api.rebind(handle, pick(results))
    for slot, pick, old in zip(slots, pickers, before.values):
        if pick is not None:
            _assign(slot, old, pick(results))


def _unchanged(new, old) -> bool:
    if new is old:
        return True
    if type(new) is type(old) and type(new) in (list, dict, TracedList):
        a, b = [], []
        return flatten(new, a) == flatten(old, b) and all(x is y for x, y in zip(a, b))
    return False


def _merge_writes(merge: _Merge):
    """Tensors overwritten in place by a branch become results too."""
    handles: dict[int, tuple] = {}
    for side, region in enumerate(merge.regions):
        for handle, value in region.writes:
            entry = handles.setdefault(id(handle), (handle, [handle, handle]))
            entry[1][side] = value
    return [(handle, merge._leaf(*values)) for handle, values in handles.values()]


def _trace_raise(pred, then, orelse, raises) -> None:
    """``if bad: raise E(text)`` is an assertion of the program."""
    bad, rest = (then, orelse) if raises[0] else (orelse, then)
    try:
        bad()
    except Exception as error:
        cond = api.logical_not(pred) if raises[0] else pred
        api.assert_(cond, f"{type(error).__name__}: {error} ({user_location()})")
    if rest is not None:
        rest()


def trace_select(pred, then: Callable, orelse: Callable, name="value"):
    """The value of ``then() if pred else orelse()`` with both traced (conditional expressions, ``static.nn.cond``)."""
    box = BoxSlot(name)
    trace_if(pred, lambda: box.set(then()), lambda: box.set(orelse()), [box])
    return box.value


# ---- while --------------------------------------------------------------------------------------------------------


class _Carry:
    """How one slot goes through a loop, found out by tracing the body (again, until it is stable)."""

    def __init__(self, slot, value) -> None:
        self.slot = slot
        self.entry = value
        self.late = value is MISSING  # no value before the loop
        self.born = False  # ... but zeros now stand in for it
        self.unusable: Unusable | None = None
        self.structure: Any = None
        self.leaves: list[_Leaf] = []
        self.growth: Any = None  # an item that was appended: the list must become a traced one
        if not self.late:
            self._take(value)

    def _take(self, value) -> None:
        leaves: list = []
        self.structure = flatten(value, leaves)
        self.leaves = [_Leaf(v) for v in leaves]
        if not self.slot.rebound and api.is_tensor(value):
            self.leaves[0].kept = True  # if it is written, region.writes says so

    def prepare(self) -> None:
        """Make the inputs that the last trial asked for (outside the region)."""
        if self.growth is not None:
            self.entry, self.growth = TracedList.like(self.growth, self.entry), None
            self._take(self.entry)

    def carried(self) -> list[_Leaf]:
        return [leaf for leaf in self.leaves if not leaf.kept]

    def place(self, values) -> Any:
        """The slot's value with the carried leaves taken from the iterator ``values``."""
        if self.late:
            return MISSING
        return unflatten(self.structure, [leaf.value if leaf.kept else next(values) for leaf in self.leaves])

    def compare(self, new, where: str) -> list | None:
        """The leaves to yield, or None when the plan changed and the body must be traced again."""
        name = self.slot.name
        if is_unusable(new):
            if not self.late:
                raise_unusable(new)
            self.unusable = new
            return []
        if self.late:
            return self._first_value(new)
        if isinstance(self.entry, list) and isinstance(new, (list, TracedList)) and _grew(self.entry, new):
            self.growth = new if isinstance(new, TracedList) else new[-1]
            return None
        leaves: list = []
        if flatten(new, leaves) != self.structure:
            _loop_error(name, where, f"is {describe(self.entry)} before and {describe(new)} after a round")
        out, again = [], False
        for leaf, n in zip(self.leaves, leaves):
            fits = leaf.value is n or _same_object(leaf.value, n) if leaf.kept else is_leaf_value(n)
            if not fits:
                _loop_error(name, where, f"is {describe(leaf.value)} before and {describe(n)} after a round")
            if not leaf.kept:
                again |= leaf.widen(n, name, where)
                out.append(n)
        return None if again else out

    def _first_value(self, new) -> list | None:
        leaves: list = []
        structure = flatten(new, leaves) if new is not MISSING else None
        fits = all((is_leaf_value(v) and not api.is_array(v) and not _has_symbolic_size(v)) or v is None for v in leaves)
        if not leaves or not fits:
            return []
        self.structure, self.late, self.born = structure, False, True
        self.leaves = [_Leaf.blank(v) for v in leaves]
        return None


def _grew(old: list, new) -> bool:
    return isinstance(new, TracedList) or len(new) > len(old)


def _has_symbolic_size(v) -> bool:
    return api.is_tensor(v) and any(api.is_symint(n) or n is None or n < 0 for n in v.shape)


class _Leaf:
    """One tensor or number of a loop variable, and the type that holds before and after each round."""

    def __init__(self, value) -> None:
        self.value = value
        self.kept = not is_leaf_value(value)  # any other object: must not change
        self.dtype, self.number = type_of(value) if is_tensor_like(value) else (None, False)
        self.shape: tuple = tuple(value.shape) if api.is_tensor(value) else ()
        self.widened = False

    @classmethod
    def blank(cls, like) -> _Leaf:
        """Zeros of ``like``'s type; made where the loop's inputs are made, not in the region being traced."""
        leaf = cls(like)
        if not leaf.kept:
            leaf.value = 0
            leaf.number = False
        return leaf

    def init(self):
        return as_tensor(self.value, self.dtype, self.shape)

    def argument_shape(self):
        return self.shape if self.widened else None

    def widen(self, n, name: str, where: str) -> bool:
        """Adjust the type to ``n``, the value after a round; True if that changed anything."""
        if not is_tensor_like(n) or self.dtype is None:
            return False
        dtype = common_dtype((self.dtype, self.number), type_of(n))
        changed = dtype != self.dtype
        self.dtype = dtype
        if not api.is_tensor(n):
            return changed
        new = tuple(n.shape)
        if len(new) != len(self.shape):
            if api.is_tensor(self.value) or self.shape:
                text = f"has shape {list(self.shape)} before and {list(new)} after a round: ranks must agree"
                _loop_error(name, where, text)
            self.shape = new
            return True
        joined = [a if a is None or api.same_size(a, b) else None for a, b in zip(self.shape, new)]
        if any(j is None and a is not None for j, a in zip(joined, self.shape)):
            self.shape, self.widened, changed = tuple(joined), True, True
        return changed


def is_tensor_like(x) -> bool:
    return api.is_tensor(x) or is_number(x)


def _loop_error(name: str, where: str, text: str):
    raise Dy2StaticTypeError(
        f"variable '{name}' {text}, in a loop whose number of rounds depends on a Tensor: it must keep its type ({where})"
    )


def trace_while(first_cond, test: Callable, body: Callable, slots: list, late: Sequence[str] = (), where: str = "") -> None:
    """Trace ``while test(): body()`` as one operator. ``first_cond`` is the test's value now (a traced tensor or a bool);
    ``late`` names the variables that are read after the loop."""
    where = where or user_location()
    slots = list(slots)
    before = Snapshot(slots)
    carries = [_Carry(s, v) for s, v in zip(slots, before.seen())]
    for _ in range(10):
        before.restore()
        trial = _Trial(carries, before, late)
        if trial.run(test, body, where):
            known = {id(s.handle) for s in slots if isinstance(s, HandleSlot)}
            written = [HandleSlot(h) for h, _ in trial.region.writes if id(h) not in known]
            if not written:
                return trial.finish(first_cond, where)
            slots += written
            before = Snapshot(slots)
            carries += [_Carry(s, s.get()) for s in written]
    raise Dy2StaticTypeError(f"the types of this loop's variables don't settle ({where})")


class _Trial:
    """One trace of a loop's body under the types that ``carries`` assume."""

    def __init__(self, carries: list[_Carry], before: Snapshot, late: Sequence[str]) -> None:
        self.carries, self.before = carries, before
        for c in carries:
            c.prepare()
        leaves = [leaf for c in carries for leaf in c.carried()]
        self.inits = [leaf.init() for leaf in leaves]
        shapes = [leaf.argument_shape() for leaf in leaves]
        # Variables without a value before the loop start as zeros. Those that the user reads afterwards need a round to have run.
        self.guarded = [c.slot.name for c in carries if c.born and c.slot.name in late and c.slot.name[:5] != "_jst_"]
        if self.guarded:
            self.inits.append(api.constant(False, (), "bool"))
            shapes.append(None)
        self.region = api.region(self.inits, shapes)
        self.outs: list = []
        self.cond: Any = None

    def run(self, test, body, where: str) -> bool:
        """Trace one round; False when the types turned out different."""
        with self.region:
            try:
                args = iter(self.region.args)
                for c, old in zip(self.carries, self.before.values):
                    _assign(c.slot, old, c.place(args))
                body()
                cond = test()
                found = [c.compare(v, where) for c, v in zip(self.carries, Snapshot(self.before.slots).seen())]
                if any(f is None for f in found):
                    return False
                outs = [v for f in found for v in f]
                self.outs = [_like(v, a) for v, a in zip(outs, self.region.args)]
                if self.guarded:
                    self.outs.append(api.constant(True, (), "bool"))
                self.cond = _condition(cond)
                return True
            finally:
                self.before.restore()

    def finish(self, first_cond, where: str) -> None:
        results = list(api.build_while(_condition(first_cond), self.inits, self.region, self.cond, self.outs))
        if self.guarded:
            names = ", ".join(f"'{n}'" for n in self.guarded)
            api.assert_(results.pop(), f"{names} is used after a loop that ran no round: give it a value before it ({where})")
        values = iter(results)
        for c, old in zip(self.carries, self.before.values):
            if not c.late:
                _assign(c.slot, old, c.place(values))
            elif c.unusable is not None:
                c.slot.set(c.unusable)
            elif not isinstance(c.slot, AttributeSlot):
                text = f"variable '{c.slot.name}' only has a value inside a loop whose number of rounds depends on a Tensor"
                c.slot.set(Unusable(Dy2StaticNameError, f"{text}; give it a value before the loop ({where})"))


def _condition(c):
    return truth(c) if api.is_tensor(c) else api.constant(bool(c), (), "bool")


def _like(value, argument):
    if not api.is_tensor(argument):
        return value
    return as_tensor(value, api.dtype_name(argument.dtype), tuple(argument.shape))
