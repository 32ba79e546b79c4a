"""The base class of quantisers."""

from __future__ import annotations

import abc

from ..nn import Layer

__all__ = []


class BaseQuanter(Layer, metaclass=abc.ABCMeta):
    """A layer that measures its input, or moves it to a grid. Its factory makes it with the layer that it belongs to."""

    @abc.abstractmethod
    def forward(self, input):
        """The input, measured or quantised."""

    @abc.abstractmethod
    def scales(self):
        """The largest absolute value that the grid reaches (Tensor): one, or one for each place along the axis."""

    @abc.abstractmethod
    def zero_points(self):
        """The integer of 0 (Tensor), or None: 0."""

    @abc.abstractmethod
    def quant_axis(self):
        """The axis of several scales (int); -1: there is one."""

    @abc.abstractmethod
    def bit_length(self):
        """Bits of the integers (int)."""
