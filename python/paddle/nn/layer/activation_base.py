"""What layers of activation functions share."""

from __future__ import annotations

from .layers import Layer


def _tail(name):
    return f", name={name}" if name else ""


class _Plain(Layer):
    """An activation without parameters of its own but a name."""

    def __init__(self, name=None):
        super().__init__()
        self._name = name

    def extra_repr(self):
        return f"name={self._name}" if self._name else ""
