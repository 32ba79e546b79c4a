"""Python sequences inside traced loops: lists that grow by a number of items that only running tells, and things to iterate."""

from __future__ import annotations

from typing import Any

from .. import _trace_api as api
from ..structure import LEAF, flatten, unflatten
from .errors import Dy2StaticTypeError, user_location


class TracedList:
    """A list whose length is a value of the program: one tensor array for each leaf of an item's structure."""

    def __init__(self, structure: Any, arrays: list) -> None:
        self.structure = structure
        self.arrays = arrays

    @classmethod
    def like(cls, example: Any, items: list) -> TracedList:
        """Holds ``items``; ``example`` (an item or another such list) shows the structure and dtypes of what will be appended."""
        leaves: list = []
        if isinstance(example, TracedList):
            structure, leaves = example.structure, example.arrays
        else:
            structure = flatten(example, leaves)
        columns: list[list] = [[] for _ in leaves]
        for item in items:
            values: list = []
            if flatten(item, values) != structure:
                raise Dy2StaticTypeError(
                    f"items of a list that grows in a loop must all have one structure ({user_location()})"
                )
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

    def length(self):
        return api.array_length(self.arrays[0])

    def _index(self, i):
        if not api.is_tensor(i) and i < 0:
            return self.length() + i
        return i

    def _leaves(self, item):
        leaves: list = []
        if flatten(item, leaves) != self.structure:
            raise Dy2StaticTypeError(
                f"items of a list that grows in a loop must all have one structure ({user_location()})"
            )
        return [v if api.is_tensor(v) else api.constant(v) for v in leaves]

    def append(self, item):
        end = self.length()
        self.arrays = [api.array_write(a, end, v) for a, v in zip(self.arrays, self._leaves(item))]

    def extend(self, items):
        for item in items:
            self.append(item)

    def pop(self, index=-1):
        index = self._index(index)
        popped = [api.array_pop(a, index) for a in self.arrays]
        self.arrays = [p[0] for p in popped]
        return unflatten(self.structure, [p[1] for p in popped])

    def __getitem__(self, i):
        i = self._index(i)
        return unflatten(self.structure, [api.array_read(a, i) for a in self.arrays])

    def __setitem__(self, i, item):
        i = self._index(i)
        self.arrays = [api.array_write(a, i, v) for a, v in zip(self.arrays, self._leaves(item))]

    def __len__(self):
        raise Dy2StaticTypeError(
            f"the length of this list depends on a tensor; Python code outside transformed functions can't read it ({user_location()})"
        )

    def __iter__(self):
        raise Dy2StaticTypeError(
            f"the length of this list depends on a tensor; iterate over it with a `for` statement ({user_location()})"
        )

    def stack(self, axis=0):
        return self._single().stack_(axis)

    def _single(self):
        if self.structure != LEAF:
            raise Dy2StaticTypeError(
                f"a list of tensors is expected, this one holds other structures ({user_location()})"
            )
        return _Joined(self.arrays[0])


class _Joined:
    def __init__(self, array) -> None:
        self.array = array

    def stack_(self, axis):
        return api.array_stack(self.array, axis)

    def concat_(self, axis):
        return api.array_concat(self.array, axis)


class GrownList:
    """Stands in a program's output structure for a list of traced length: running gives an ordinary list."""

    @staticmethod
    def __jst_unflatten__(arrays, structure):
        return [unflatten(structure, item) for item in zip(*arrays)]


def join(items: TracedList, how: str, axis: int):
    """``paddle.stack`` or ``paddle.concat`` of a list of traced length."""
    joined = items._single()
    return joined.stack_(axis) if how == "stack" else joined.concat_(axis)


class TracedRange:
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

    def __iter__(self):
        raise Dy2StaticTypeError(f"iterate over a range with a tensor bound with a `for` statement ({user_location()})")


class TracedRows:
    """The rows of a tensor whose first size is symbolic."""

    def __init__(self, tensor, rows) -> None:
        self.tensor, self.rows = tensor, rows

    def length(self):
        return self.rows

    def item(self, k):
        return self.tensor[k]


class TracedItems:
    def __init__(self, items: TracedList) -> None:
        self.items = items

    def length(self):
        return self.items.length()

    def item(self, k):
        return self.items[k]


class TracedEnumerate:
    def __init__(self, inner, start) -> None:
        self.inner, self.start = inner, start

    def length(self):
        return self.inner.length()

    def item(self, k):
        return (k if isinstance(self.start, int) and self.start == 0 else self.start + k), self.inner.item(k)


class TracedZip:
    def __init__(self, inners) -> None:
        self.inners = inners

    def length(self):
        return self.inners[0].length()

    def item(self, k):
        return tuple(i.item(k) for i in self.inners)


TRACED_SEQUENCES = (TracedRange, TracedRows, TracedItems, TracedEnumerate, TracedZip)


def as_traced_sequence(x: Any):
    """Something with ``length()`` and ``item(k)`` where iterating ``x`` needs a traced loop; else None."""
    if isinstance(x, TRACED_SEQUENCES):
        return x
    if isinstance(x, TracedList):
        return TracedItems(x)
    if api.is_traced(x):
        rows = x.shape[0] if len(x.shape) else None
        if rows is not None and (api.is_symint(rows) or (type(rows) is int and rows < 0)):
            return TracedRows(x, api.constant(rows) if api.is_symint(rows) else rows)
    return None
