"""Pooling to a given size, as layers; arguments as the functions in `paddle.nn.functional`."""

from __future__ import annotations

from .. import functional as F
from .._alias import accepts
from .layers import Layer

__all__ = []


class AdaptiveAvgPool1D(Layer):
    """Means over windows that make [N, C, L] the spatial size `output_size`."""

    def __init__(self, output_size, name=None):
        super().__init__()
        self._output_size = output_size
        self._name = name

    @accepts(input="x")
    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self._output_size, name=self._name)

    @property
    def output_size(self):
        """The size asked for."""
        return self._output_size

    def extra_repr(self):
        return f"output_size={self._output_size}"


class AdaptiveAvgPool2D(Layer):
    """Means over windows that make [N, C, H, W] the spatial size `output_size`."""

    def __init__(self, output_size, data_format="NCHW", name=None):
        super().__init__()
        self._output_size = output_size
        self._data_format = data_format
        self._name = name

    @accepts(x="input")
    def forward(self, x):
        return F.adaptive_avg_pool2d(x, self._output_size, self._data_format, name=self._name)

    @property
    def output_size(self):
        """The size asked for."""
        return self._output_size

    def extra_repr(self):
        return f"output_size={self._output_size}"


class AdaptiveAvgPool3D(Layer):
    """Means over windows that make [N, C, D, H, W] the spatial size `output_size`."""

    def __init__(self, output_size, data_format="NCDHW", name=None):
        super().__init__()
        self._output_size = output_size
        self._data_format = data_format
        self._name = name

    @accepts(x="input")
    def forward(self, x):
        return F.adaptive_avg_pool3d(x, self._output_size, self._data_format, name=self._name)

    @property
    def output_size(self):
        """The size asked for."""
        return self._output_size

    def extra_repr(self):
        return f"output_size={self._output_size}"


class AdaptiveMaxPool1D(Layer):
    """Maxima over windows that make [N, C, L] the spatial size `output_size`; with `return_mask` also where."""

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

    @accepts(input="x")
    def forward(self, input):
        return F.adaptive_max_pool1d(input, self._output_size, self._return_mask, self._name)

    def extra_repr(self):
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class AdaptiveMaxPool2D(Layer):
    """Maxima over windows that make [N, C, H, W] the spatial size `output_size`; with `return_mask` also where."""

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
        return F.adaptive_max_pool2d(x, self._output_size, self._return_mask, self._name)

    def extra_repr(self):
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class AdaptiveMaxPool3D(Layer):
    """Maxima over windows that make [N, C, D, H, W] the spatial size `output_size`; with `return_mask` also where."""

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
        return F.adaptive_max_pool3d(x, self._output_size, self._return_mask, self._name)

    def extra_repr(self):
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class FractionalMaxPool2D(Layer):
    """Maxima over pseudo-random windows that make [N, C, H, W] the spatial size `output_size`."""

    def __init__(self, output_size, kernel_size=None, random_u=None, return_mask=False, name=None):
        super().__init__()
        self._output_size = output_size
        self._kernel_size = kernel_size
        self._random_u = random_u
        self._return_mask = return_mask
        self._name = name

    def forward(self, x):
        return F.fractional_max_pool2d(
            x, self._output_size, self._kernel_size, self._random_u, self._return_mask, self._name
        )

    def extra_repr(self):
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class FractionalMaxPool3D(Layer):
    """Maxima over pseudo-random windows that make [N, C, D, H, W] the spatial size `output_size`."""

    def __init__(self, output_size, kernel_size=None, random_u=None, return_mask=False, name=None):
        super().__init__()
        self._output_size = output_size
        self._kernel_size = kernel_size
        self._random_u = random_u
        self._return_mask = return_mask
        self._name = name

    def forward(self, x):
        return F.fractional_max_pool3d(
            x, self._output_size, self._kernel_size, self._random_u, self._return_mask, self._name
        )

    def extra_repr(self):
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


AdaptiveMaxPool1d = AdaptiveMaxPool1D
AdaptiveMaxPool2d = AdaptiveMaxPool2D
AdaptiveMaxPool3d = AdaptiveMaxPool3D
