"""The type of ``tensor.shape``."""

from __future__ import annotations

import math

from .. import _core


_SYMBOL = getattr(_core, "SymInt", None)


class Size(list):
    """A list of sizes: compares with tuples too; slices and sums are Sizes.

    ``Size([2, 3])`` and ``Size(2, 3)`` mean the same.
    """

    __slots__ = ()
    __hash__ = None

    def __init__(self, *sizes) -> None:
        super().__init__(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    def __repr__(self) -> str:
        # A size that only running tells is -1 to people, as in Paddle.
        return f"paddle.Size({[n if type(n) is not _SYMBOL else -1 for n in self]})"

    def __eq__(self, other):
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other):
        return not self == other

    def __getitem__(self, key):
        value = list.__getitem__(self, key)
        return Size(value) if isinstance(key, slice) else value

    def __add__(self, other):
        return Size(list.__add__(self, list(other)))

    def __radd__(self, other):
        return Size([*other, *self])

    def __mul__(self, times):
        return Size(list.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (list(self),)


class TensorSize(int):
    """``tensor.size``: the number of elements as an int, which gives the sizes when it is called.

    ``x.size()`` is ``x.shape``, ``x.size(dim)`` one of its sizes.
    """

    @classmethod
    def of(cls, tensor, count: int):
        """The size of ``tensor``, which has ``count`` elements."""
        made = cls(count)
        made._tensor = tensor
        return made

    def __call__(self, dim: int | None = None):
        """The sizes, or that of ``dim``.

        Raises:
            IndexError: there is no such axis.
        """
        return self._tensor.shape if dim is None else self._tensor.shape[dim]

    def __reduce__(self):
        return int, (int(self),)


if hasattr(_core, "set_size_type"):
    _core.set_size_type(Size)
