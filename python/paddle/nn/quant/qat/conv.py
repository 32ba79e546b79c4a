"""A convolution with quantisers."""

from __future__ import annotations

from ... import functional as F
from ..format import QuantedLayer

__all__ = []


class QuantedConv2D(QuantedLayer):
    """``nn.Conv2D`` with a quantised weight and input; the arguments are those of ``QuantedLayer``."""

    def __init__(self, layer, q_config):
        super().__init__(layer, q_config)
        self._groups, self._stride, self._dilation = layer._groups, layer._stride, layer._dilation
        self._padding, self._padding_mode, self._data_format = layer._padding, layer._padding_mode, layer._data_format
        self._around = getattr(layer, "_reversed_padding_repeated_twice", None)

    def _compute(self, input, weight):
        padding = self._padding
        if self._padding_mode != "zeros":
            input = F.pad(input, self._around, mode=self._padding_mode, data_format=self._data_format)
            padding = 0
        return F.conv2d(
            input, weight, self.bias, self._stride, padding, self._dilation, self._groups, self._data_format
        )
