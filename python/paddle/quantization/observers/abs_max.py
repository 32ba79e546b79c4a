"""The largest absolute value."""

from __future__ import annotations

import paddle

from ..base_observer import BaseObserver
from ..factory import ObserverFactory

__all__ = []


class AbsmaxObserver(ObserverFactory):
    """Observers of the largest absolute value of all that went through.

    Args:
        quant_bits (int): bits of the grid.
    """

    def __init__(self, quant_bits=8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self):
        return AbsmaxObserverLayer


class _Largest(BaseObserver):
    """Scales are what was measured, zero points 0."""

    def __init__(self, quant_bits) -> None:
        super().__init__()
        self._quant_bits, self._max, self._scale, self._zero_point = quant_bits, None, None, None

    def bit_length(self):
        return self._quant_bits

    def quant_axis(self):
        return -1

    def cal_thresholds(self):
        if self._scale is None:
            self._scale = self._max
        if self._scale is not None:
            self._zero_point = paddle.zeros_like(self._scale)

    def scales(self):
        self.cal_thresholds()
        return self._scale

    def zero_points(self):
        self.cal_thresholds()
        return self._zero_point


class AbsmaxObserverLayer(_Largest):
    """One scale."""

    def __init__(self, layer, quant_bits=8) -> None:
        super().__init__(quant_bits)

    @paddle.no_grad()
    def _measure(self, input) -> None:
        largest = paddle.max(paddle.abs(input))
        self._max = largest if self._max is None else paddle.maximum(largest, self._max.astype(input.dtype))

    def forward(self, input):
        self._measure(input)
        return input
