"""A place in a model where a quantiser may be put."""

from __future__ import annotations

from ..layer.layers import Layer

__all__ = []


class Stub(Layer):
    """Returns its input, or what its quantiser makes of it.

    Args:
        observer (optional): a factory with ``_instance(layer)``, whose layer is applied to the input.
    """

    def __init__(self, observer=None):
        super().__init__()
        self._observer = None if observer is None else observer._instance(self)

    def forward(self, input):
        return input if self._observer is None else self._observer(input)
