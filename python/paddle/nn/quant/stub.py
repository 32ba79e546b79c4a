"""Places in a model where quantisers may be put."""

from __future__ import annotations

from ..layer.layers import Layer

__all__ = []


class Stub(Layer):
    """Returns its input; ``paddle.quantization`` puts a quantiser in its place.

    Args:
        observer (QuanterFactory, optional): of the quantiser; by default that of the configuration.
    """

    def __init__(self, observer=None):
        super().__init__()
        self._observer = observer

    def forward(self, input):
        return input


class QuanterStub(Layer):
    """What takes a ``Stub``'s place: its quantiser."""

    def __init__(self, layer, q_config):
        super().__init__()
        factory = layer._observer if layer._observer is not None else q_config.activation
        self._observer = None if factory is None else factory._instance(layer)

    def forward(self, input):
        return input if self._observer is None else self._observer(input)
