"""The largest absolute value of groups of a weight's rows."""

from __future__ import annotations

import paddle

from ..factory import ObserverFactory
from .abs_max import _Largest

__all__ = []


class GroupWiseWeightObserver(ObserverFactory):
    """Observers of the largest absolute value of each group of rows of a matrix, column by column.

    Args:
        quant_bits (int): bits of the grid.
        group_size (int): rows of a group, 64 or 128.
    """

    def __init__(self, quant_bits=8, group_size=128) -> None:
        super().__init__(quant_bits=quant_bits, group_size=group_size)

    def _get_class(self):
        return GroupWiseWeightObserverLayer


class GroupWiseWeightObserverLayer(_Largest):
    """Scales [groups, columns].

    Raises:
        AssertionError: no matrix, another group size, or rows that are no multiple of it.
    """

    def __init__(self, layer, quant_bits=8, group_size=128) -> None:
        super().__init__(quant_bits)
        self.group_size = group_size

    @paddle.no_grad()
    def _measure(self, input) -> None:
        if self.group_size not in (64, 128):
            raise AssertionError("group_size only support 64 or 128")
        if input.ndim != 2:
            raise AssertionError("Currently only support 2D tensor")
        rows, columns = input.shape
        if rows % self.group_size:
            raise AssertionError("group_size must be a factor of input channels")
        groups = paddle.abs(input).reshape([rows // self.group_size, self.group_size, columns])
        largest = paddle.max(groups, axis=1).astype("float32")
        self._max = paddle.where(largest == 0, paddle.full_like(largest, 1e-8), largest)

    def forward(self, input):
        self._measure(input)
        return input
