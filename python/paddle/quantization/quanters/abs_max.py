"""A grid that follows the largest absolute value."""

from __future__ import annotations

import paddle

from ...nn.initializer import Constant
from ...nn.quant.fake_quant import fake_quantize
from ...utils import unique_name
from ..base_quanter import BaseQuanter
from ..factory import QuanterFactory

__all__ = []


class FakeQuanterWithAbsMaxObserver(QuanterFactory):
    """Quantisers whose scale is a moving average of the largest absolute values; gradients pass as they are.

    Args:
        moving_rate (float): what remains of the average at each step.
        bit_length (int): bits of the grid.
        dtype (str): of the scale.
        name (str, optional): of its parameters.
    """

    def __init__(self, moving_rate=0.9, bit_length=8, dtype="float32", name=None) -> None:
        super().__init__(name=name, moving_rate=moving_rate, bit_length=bit_length, dtype=dtype)

    def _get_class(self):
        return FakeQuanterWithAbsMaxObserverLayer


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """Moves its input to the grid; in training it measures first."""

    def __init__(self, layer, name=None, moving_rate=0.9, bit_length=8, dtype="float32") -> None:
        super().__init__()
        self._moving_rate, self._bit_length = moving_rate, bit_length
        for what, first in (("scale", 0.001), ("state", 1.0), ("accum", 1.0)):
            attr = paddle.ParamAttr(
                name=unique_name.generate(f"{name or 'quant_dequant'}.{what}"), initializer=Constant(first), trainable=False
            )
            value = self.create_parameter([1], attr, dtype)
            value.stop_gradient = True
            setattr(self, "_" + what, value)

    @paddle.no_grad()
    def _measure(self, input) -> None:
        """The average is the sum of what was measured over that of the weights: old values count less at every step."""
        largest = paddle.max(paddle.abs(input)).astype(self._accum.dtype).reshape([1])
        paddle.assign(self._accum * self._moving_rate + largest, self._accum)
        paddle.assign(self._state * self._moving_rate + 1.0, self._state)
        paddle.assign(self._accum / self._state, self._scale)

    def forward(self, input):
        if self.training:
            self._measure(input)
        return fake_quantize(input, self._scale.astype(input.dtype), self._bit_length)

    def bit_length(self):
        return self._bit_length

    def quant_axis(self):
        return -1

    def scales(self):
        return self._scale

    def zero_points(self):
        return None
