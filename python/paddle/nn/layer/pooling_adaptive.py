"""Pooling to a given size, as layers; arguments as the functions in `paddle.nn.functional`."""

from __future__ import annotations

from .. import functional as F
from .._alias import accepts
from .layers import Layer

__all__ = []


class _AdaptiveAverage(Layer):
    """Means to a size; subclasses name their function and the order of axes."""

    _function, _order = None, None

    def __init__(self, output_size, data_format=None, name=None):
        super().__init__()
        self._output_size = output_size
        self._data_format = self._order if data_format is None else data_format
        self._name = name

    @accepts(x="input")
    def forward(self, x):
        return self._function(x, self._output_size, self._data_format, name=self._name)

    @property
    def output_size(self):
        """The size asked for."""
        return self._output_size

    def extra_repr(self):
        return f"output_size={self._output_size}"


class AdaptiveAvgPool1D(_AdaptiveAverage):
    """Means over windows that make [N, C, L] the spatial size `output_size`."""

    def __init__(self, output_size, name=None):
        super().__init__(output_size, None, name)

    @accepts(input="x")
    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self._output_size, name=self._name)


class AdaptiveAvgPool2D(_AdaptiveAverage):
    """Means over windows that make [N, C, H, W] the spatial size `output_size`."""

    _function, _order = staticmethod(F.adaptive_avg_pool2d), "NCHW"

    def __init__(self, output_size, data_format="NCHW", name=None):
        super().__init__(output_size, data_format, name)


class AdaptiveAvgPool3D(_AdaptiveAverage):
    """Means over windows that make [N, C, D, H, W] the spatial size `output_size`."""

    _function, _order = staticmethod(F.adaptive_avg_pool3d), "NCDHW"

    def __init__(self, output_size, data_format="NCDHW", name=None):
        super().__init__(output_size, data_format, name)


class _AdaptiveMaximum(Layer):
    """Maxima to a size; subclasses name their function."""

    _function = None

    @accepts(return_mask="return_indices")
    def __init__(self, output_size, return_mask=False, name=None):
        super().__init__()
        self._output_size = output_size
        self._return_mask = return_mask
        self._name = name

    @property
    def return_indices(self):
        """Whether positions are returned."""
        return self._return_mask

    @return_indices.setter
    def return_indices(self, value):
        self._return_mask = value

    @accepts(x="input")
    def forward(self, x):
        return self._function(x, self._output_size, self._return_mask, self._name)

    def extra_repr(self):
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class AdaptiveMaxPool1D(_AdaptiveMaximum):
    """Maxima over windows that make [N, C, L] the spatial size `output_size`; with `return_mask` also where."""

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2D(_AdaptiveMaximum):
    """Maxima over windows that make [N, C, H, W] the spatial size `output_size`; with `return_mask` also where."""

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3D(_AdaptiveMaximum):
    """Maxima over windows that make [N, C, D, H, W] the spatial size `output_size`; with `return_mask` also where."""

    _function = staticmethod(F.adaptive_max_pool3d)


class _FractionalMaximum(Layer):
    """Maxima over pseudo-random windows; subclasses name their function."""

    _function = None

    def __init__(self, output_size, kernel_size=None, random_u=None, return_mask=False, name=None):
        super().__init__()
        self._output_size = output_size
        self._kernel_size = kernel_size
        self._random_u = random_u
        self._return_mask = return_mask
        self._name = name

    def forward(self, x):
        return self._function(x, self._output_size, self._kernel_size, self._random_u, self._return_mask, self._name)

    def extra_repr(self):
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class FractionalMaxPool2D(_FractionalMaximum):
    """Maxima over pseudo-random windows that make [N, C, H, W] the spatial size `output_size`."""

    _function = staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3D(_FractionalMaximum):
    """Maxima over pseudo-random windows that make [N, C, D, H, W] the spatial size `output_size`."""

    _function = staticmethod(F.fractional_max_pool3d)


AdaptiveMaxPool1d = AdaptiveMaxPool1D
AdaptiveMaxPool2d = AdaptiveMaxPool2D
AdaptiveMaxPool3d = AdaptiveMaxPool3D
