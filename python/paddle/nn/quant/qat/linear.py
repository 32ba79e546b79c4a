"""A linear layer with quantisers."""

from __future__ import annotations

from ... import functional as F
from ..format import QuantedLayer

__all__ = []


class QuantedLinear(QuantedLayer):
    """``nn.Linear`` with a quantised weight and input; the arguments are those of ``QuantedLayer``."""

    def __init__(self, layer, q_config):
        super().__init__(layer, q_config)
        self.name = layer.name

    def _compute(self, input, weight):
        return F.linear(input, weight, self.bias, self.name)
