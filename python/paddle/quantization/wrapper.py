"""A layer together with a quantiser."""

from __future__ import annotations

from ..nn import Layer

__all__ = []


class ObserveWrapper(Layer):
    """A layer behind a quantiser of its input, or in front of one of its output.

    Args:
        observer (BaseQuanter): the quantiser.
        observed (Layer): the layer.
        observe_input (bool): False observes the output.
    """

    def __init__(self, observer, observed, observe_input=True):
        super().__init__()
        self._observer, self._observed, self._observe_input = observer, observed, observe_input

    def forward(self, *inputs, **kwargs):
        if self._observe_input:
            return self._observed(self._observer(*inputs, **kwargs), **kwargs)
        return self._observer(self._observed(*inputs, **kwargs), **kwargs)
