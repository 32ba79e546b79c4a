"""Python sequences inside traced loops: lists that grow by a number of items that only running tells, and things to iterate."""

from __future__ import annotations

from typing import Any

from .. import _trace_api as api
from ..structure import LEAF, flatten, unflatten
from .errors import Dy2StaticTypeError, user_location


class TracedList:
    """A list whose length is a value of the program: one tensor array for each leaf of an item's structure.

    Where the capture was interrupted its items are known: from then on it is an ordinary list with this class.
    """

    def __init__(self, structure: Any, arrays: list) -> None:
        self.structure = structure
        self.arrays = arrays
        self._items: list | None = None

    @classmethod
    def like(cls, example: Any, items: list) -> TracedList:
        """Holds ``items``; ``example`` (an item or another such list) shows the structure and dtypes of what will be appended."""
        leaves: list = []
        if isinstance(example, TracedList):
            structure, leaves = example.structure, example.arrays
        else:
            structure = flatten(example, leaves)
        if not all(api.is_tensor(v) or api.is_array(v) or api.is_symint(v) or type(v) in _NUMBERS for v in leaves):
            kinds = sorted({type(v).__name__ for v in leaves})
            raise Dy2StaticTypeError(
                "items of a list that grows where a Tensor decides must be Tensors and numbers, or containers of them; "
                f"got {', '.join(kinds)} ({user_location()})"
            )
        columns: list[list] = [[] for _ in leaves]
        for item in items:
            values: list = []
            if flatten(item, values) != structure:
                raise Dy2StaticTypeError(_ONE_STRUCTURE.format(user_location()))
            for column, v in zip(columns, values):
                column.append(v)
        arrays = []
        for leaf, column in zip(leaves, columns):
            dtype = leaf.dtype if api.is_tensor(leaf) or api.is_array(leaf) else api.constant(leaf).dtype
            shape = leaf.shape if api.is_tensor(leaf) or api.is_array(leaf) else ()
            arrays.append(api.array_create(dtype, [v if api.is_tensor(v) else api.constant(v) for v in column], shape))
        return cls(structure, arrays)

    def __jst_flatten__(self):
        return self.arrays, self.structure

    @classmethod
    def __jst_unflatten__(cls, arrays, structure):
        return cls(structure, list(arrays))

    def __jst_plain__(self) -> list | None:
        """The items, where they are known by now."""
        if self._items is None:
            columns = [api.array_elements(a) for a in self.arrays]
            if columns and None not in columns:
                self._items = [unflatten(self.structure, item) for item in zip(*columns)]
        return self._items

    def become(self, content: TracedList | list) -> None:
        if isinstance(content, list):
            self._items = list(content)
        else:
            self.structure, self.arrays, self._items = content.structure, list(content.arrays), content._items

    def copy(self) -> TracedList:
        fresh = TracedList(self.structure, list(self.arrays))
        if (items := self.__jst_plain__()) is not None:
            fresh._items = list(items)
        return fresh

    def length(self):
        items = self.__jst_plain__()
        return api.array_length(self.arrays[0]) if items is None else len(items)

    def _index(self, i):
        if not api.is_tensor(i) and i < 0:
            return self.length() + i
        return i

    def _leaves(self, item):
        leaves: list = []
        if flatten(item, leaves) != self.structure:
            raise Dy2StaticTypeError(_ONE_STRUCTURE.format(user_location()))
        return [v if api.is_tensor(v) else api.constant(v) for v in leaves]

    def append(self, item):
        if (items := self.__jst_plain__()) is not None:
            return items.append(item)
        end = self.length()
        self.arrays = [api.array_write(a, end, v) for a, v in zip(self.arrays, self._leaves(item))]

    def extend(self, items):
        sequence = as_traced_sequence(items)
        if sequence is None:
            for item in items:
                self.append(item)
            return
        from .loops import each_round

        longer = each_round(sequence, self.copy(), lambda total, item: (total.append(item), total)[1])
        self.become(longer)

    def pop(self, index=-1):
        if (items := self.__jst_plain__()) is not None:
            return items.pop(index)
        index = self._index(index)
        popped = [api.array_pop(a, index) for a in self.arrays]
        self.arrays = [p[0] for p in popped]
        return unflatten(self.structure, [p[1] for p in popped])

    def insert(self, index, item):
        if (items := self.__jst_plain__()) is not None:
            return items.insert(index, item)
        self.become(self[:index] + [item] + self[index:])

    def reverse(self):
        if (items := self.__jst_plain__()) is not None:
            return items.reverse()
        empty = TracedList.like(self, [])
        empty.extend(TracedReversed(TracedItems(self)))
        self.become(empty)

    def __add__(self, other):
        if not isinstance(other, (list, TracedList)):
            return NotImplemented
        total = self.copy()
        total.extend(other)
        return total

    def __radd__(self, other):
        if not isinstance(other, list):
            return NotImplemented
        total = TracedList.like(self, other) if self.__jst_plain__() is None else other
        return total + self if total is not other else other + self.__jst_plain__()

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __getitem__(self, i):
        if (items := self.__jst_plain__()) is not None:
            return items[i]
        if isinstance(i, slice):
            return self._slice(i)
        i = self._index(i)
        return unflatten(self.structure, [api.array_read(a, i) for a in self.arrays])

    def _slice(self, s: slice) -> TracedList:
        if s.step not in (None, 1):
            raise Dy2StaticTypeError(
                f"a slice with step {s.step} of a list whose length depends on a tensor ({user_location()})"
            )
        length = self.length()
        start = _bound(s.start, 0, length)
        out = TracedList.like(self, [])
        out.extend(TracedPart(self, start, _bound(s.stop, length, length)))
        return out

    def __setitem__(self, i, item):
        if (items := self.__jst_plain__()) is not None:
            items[i] = item
            return
        if isinstance(i, slice):
            raise Dy2StaticTypeError(
                f"assigning to a slice of a list whose length depends on a tensor ({user_location()})"
            )
        i = self._index(i)
        self.arrays = [api.array_write(a, i, v) for a, v in zip(self.arrays, self._leaves(item))]

    def __len__(self):
        if (items := self.__jst_plain__()) is not None:
            return len(items)
        raise Dy2StaticTypeError(
            f"the length of this list depends on a tensor; Python code outside transformed functions can't read it ({user_location()})"
        )

    def __iter__(self):
        if (items := self.__jst_plain__()) is not None:
            return iter(items)
        raise Dy2StaticTypeError(
            f"the length of this list depends on a tensor; iterate over it with a `for` statement ({user_location()})"
        )

    def __getattr__(self, name):
        if name.startswith("_") or not hasattr(list, name):
            raise AttributeError(name)
        if (items := self.__jst_plain__()) is not None:
            return getattr(items, name)
        raise Dy2StaticTypeError(
            f"list.{name} of a list whose length depends on a tensor can't be captured ({user_location()})"
        )

    def stack(self, axis=0):
        return api.array_stack(self._single(), axis)

    def concat(self, axis=0):
        return api.array_concat(self._single(), axis)

    def item_rank(self) -> int:
        return len(self._single().shape)

    def _single(self):
        if self.structure != LEAF:
            raise Dy2StaticTypeError(
                f"a list of tensors is expected, this one holds other structures ({user_location()})"
            )
        return self.arrays[0]


_NUMBERS = (bool, int, float, complex)
_ONE_STRUCTURE = "items of a list that grows in a loop must all have one structure ({})"


def _bound(i, default, length):
    """A slice's bound within [0, length]; a tensor, or 0."""
    if i is None:
        return default
    if not api.is_tensor(i) and i == 0:
        return 0
    if not api.is_tensor(i):
        i = api.constant(i)
    zero = api.constant(0, (), "int64")
    i = _pick(i < zero, length + i, i)
    return _pick(i < zero, zero, _pick(i < length, i, length))


def _pick(condition, a, b):
    yes = api.cast(condition, "int64")
    return a * yes + b * (1 - yes)


class GrownList:
    """Stands in a program's output structure for a list of traced length: running gives an ordinary list."""

    @staticmethod
    def __jst_unflatten__(columns, structure):
        # A column is a tensor of all items, and one more row, or a list of them where their sizes may differ.
        rows = [c if isinstance(c, list) else list(c)[:-1] for c in columns]
        return [unflatten(structure, item) for item in zip(*rows)]


def as_result(array):
    """A list's leaf as a result of the program, for :class:`GrownList`."""
    rows = api.array_rows(array)
    if rows is not None:
        return rows
    if not array.stop_gradient:
        raise Dy2StaticTypeError(
            "a list that grew in a loop whose number of rounds depends on a Tensor can't be returned with gradients where its "
            "items' sizes differ: stack or concatenate it"
        )
    return array


def join(items: TracedList, how: str, axis: int):
    """``paddle.stack``, ``concat`` and their like of a list of traced length."""
    return _JOIN[how](items, axis)


_JOIN = {
    "stack": lambda items, axis: items.stack(axis),
    "concat": lambda items, axis: items.concat(axis),
    "vstack": lambda items, axis: items.stack(0) if items.item_rank() < 2 else items.concat(0),
    "hstack": lambda items, axis: (
        items.stack(0) if not items.item_rank() else items.concat(0 if items.item_rank() == 1 else 1)
    ),
    "add_n": lambda items, axis: items.stack(0).sum(0),
}


def length_test(items: TracedList):
    """Whether there is any item, for the program or for Python."""
    return items.length() > 0


class TracedSequence:
    """Something with ``length()`` and ``item(k)``, gone through by traced loops."""

    def __iter__(self):
        raise Dy2StaticTypeError(
            f"how many items there are depends on a Tensor or a symbolic size: Python code can't iterate over them, a `for` "
            f"statement can ({user_location()})"
        )


class TracedRange(TracedSequence):
    """``range`` with a bound that only running tells."""

    def __init__(self, start, stop, step) -> None:
        self.start, self.stop, self.step = start, stop, step

    def length(self):
        if not api.is_traced(self.step) and self.step == 1 and not api.is_traced(self.start) and self.start == 0:
            return self.stop
        # Rounds = ceil((stop - start) / step); may come out negative, then no round is run.
        return -((self.start - self.stop) // self.step)

    def item(self, k):
        return self.start + k * self.step


class TracedRows(TracedSequence):
    """The rows of a tensor whose first size is symbolic."""

    def __init__(self, tensor, rows) -> None:
        self.tensor, self.rows = tensor, rows

    def length(self):
        return self.rows

    def item(self, k):
        return self.tensor[k]


class TracedItems(TracedSequence):
    def __init__(self, items: TracedList) -> None:
        self.items = items

    def length(self):
        return self.items.length()

    def item(self, k):
        return self.items[k]


class TracedPart(TracedSequence):
    """Items ``start`` to ``stop`` of a list."""

    def __init__(self, items: TracedList, start, stop) -> None:
        self.items, self.start, self.stop = items, start, stop

    def length(self):
        return self.stop - self.start

    def item(self, k):
        return self.items[self.start + k]


class TracedReversed(TracedSequence):
    def __init__(self, inner) -> None:
        self.inner = inner

    def length(self):
        return self.inner.length()

    def item(self, k):
        return self.inner.item(self.inner.length() - 1 - k)


class TracedEnumerate(TracedSequence):
    def __init__(self, inner, start) -> None:
        self.inner, self.start = inner, start

    def length(self):
        return self.inner.length()

    def item(self, k):
        return (k if isinstance(self.start, int) and self.start == 0 else self.start + k), self.inner.item(k)


class TracedZip(TracedSequence):
    def __init__(self, inners) -> None:
        self.inners = inners

    def length(self):
        return self.inners[0].length()

    def item(self, k):
        return tuple(i.item(k) for i in self.inners)


def as_traced_sequence(x: Any):
    """Something with ``length()`` and ``item(k)`` where iterating ``x`` needs a traced loop; else None."""
    if isinstance(x, TracedSequence):
        return x
    if isinstance(x, TracedList):
        return TracedItems(x) if x.__jst_plain__() is None else None
    if hasattr(type(x), "__jst_sequence__"):
        return x.__jst_sequence__()
    if api.is_traced(x):
        rows = x.shape[0] if len(x.shape) else None
        if rows is not None and (api.is_symint(rows) or (type(rows) is int and rows < 0)):
            return TracedRows(x, api.constant(rows) if api.is_symint(rows) else rows)
    return None
