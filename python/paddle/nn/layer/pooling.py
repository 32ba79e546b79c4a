"""Pooling layers. Arguments, shapes and errors are those of the functions in `paddle.nn.functional`."""

from __future__ import annotations

from .. import functional as F
from .._alias import accepts
from .layers import Layer
from .pooling_adaptive import (  # noqa: F401
    AdaptiveAvgPool1D,
    AdaptiveAvgPool2D,
    AdaptiveAvgPool3D,
    AdaptiveMaxPool1D,
    AdaptiveMaxPool2D,
    AdaptiveMaxPool3D,
    FractionalMaxPool2D,
    FractionalMaxPool3D,
)

__all__ = []


class _Window(Layer):
    def extra_repr(self):
        return "kernel_size={ksize}, stride={stride}, padding={padding}".format(**self.__dict__)


class AvgPool1D(_Window):
    """Means over windows of [N, C, L]."""

    def __init__(self, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False, name=None):
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.exclusive = exclusive
        self.name = name

    def forward(self, x):
        return F.avg_pool1d(x, self.ksize, self.stride, self.padding, self.exclusive, self.ceil_mode, self.name)


class AvgPool2D(_Window):
    """Means over windows of [N, C, H, W]."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None,
        data_format="NCHW", name=None,
    ):  # fmt: skip
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.exclusive = exclusive
        self.divisor = divisor_override
        self.data_format = data_format
        self.name = name

    def forward(self, x):
        return F.avg_pool2d(
            x, self.ksize, self.stride, self.padding, self.ceil_mode, self.exclusive, self.divisor, self.data_format,
            self.name,
        )  # fmt: skip


class AvgPool3D(_Window):
    """Means over windows of [N, C, D, H, W]."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None,
        data_format="NCDHW", name=None,
    ):  # fmt: skip
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.exclusive = exclusive
        self.divisor = divisor_override
        self.data_format = data_format
        self.name = name

    def forward(self, x):
        return F.avg_pool3d(
            x, self.ksize, self.stride, self.padding, self.ceil_mode, self.exclusive, self.divisor, self.data_format,
            self.name,
        )  # fmt: skip


class MaxPool1D(_Window):
    """Maxima over windows of [N, C, L]."""

    def __init__(self, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, name=None):
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.return_mask = return_mask
        self.name = name

    def forward(self, input):
        return F.max_pool1d(input, self.ksize, self.stride, self.padding, self.return_mask, self.ceil_mode, self.name)


class MaxPool2D(_Window):
    """Maxima over windows of [N, C, H, W]."""

    def __init__(
        self, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NCHW", name=None
    ):
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x):
        return F.max_pool2d(
            x, self.ksize, self.stride, self.padding, self.return_mask, self.ceil_mode, self.data_format, self.name
        )


class MaxPool3D(_Window):
    """Maxima over windows of [N, C, D, H, W]."""

    def __init__(
        self, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NCDHW", name=None
    ):
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x):
        return F.max_pool3d(
            x, self.ksize, self.stride, self.padding, self.return_mask, self.ceil_mode, self.data_format, self.name
        )


class _MaxUnPool(_Window):
    """Maxima put back where a mask says; subclasses name their function."""

    _function = None

    def __init__(self, kernel_size, stride, padding, data_format, output_size, name):
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.data_format = data_format
        self.output_size = output_size
        self.name = name

    def forward(self, x, indices, output_size=None):
        return self._function(
            x, indices, self.ksize, self.stride, self.padding, self.data_format,
            self.output_size if output_size is None else output_size, self.name,
        )  # fmt: skip

    def extra_repr(self):
        return f"output_size={self.output_size}"


class MaxUnPool1D(_MaxUnPool):
    """Puts the maxima of `MaxPool1D` back where its mask says."""

    _function = staticmethod(F.max_unpool1d)

    def __init__(self, kernel_size, stride=None, padding=0, data_format="NCL", output_size=None, name=None):
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool2D(_MaxUnPool):
    """Puts the maxima of `MaxPool2D` back where its mask says."""

    _function = staticmethod(F.max_unpool2d)

    def __init__(self, kernel_size, stride=None, padding=0, data_format="NCHW", output_size=None, name=None):
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class MaxUnPool3D(_MaxUnPool):
    """Puts the maxima of `MaxPool3D` back where its mask says."""

    _function = staticmethod(F.max_unpool3d)

    def __init__(self, kernel_size, stride=None, padding=0, data_format="NCDHW", output_size=None, name=None):
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)


class LPPool1D(_Window):
    """The `norm_type`-norm over windows of [N, C, L]."""

    def __init__(self, norm_type, kernel_size, stride=None, padding=0, ceil_mode=False, data_format="NCL", name=None):
        super().__init__()
        self.norm_type = float(norm_type)
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    @accepts(x="input")
    def forward(self, x):
        return F.lp_pool1d(
            x, self.norm_type, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format, self.name
        )

    def extra_repr(self):
        return "norm_type={norm_type}, kernel_size={ksize}, stride={stride}, padding={padding}".format(**self.__dict__)


class LPPool2D(_Window):
    """The `norm_type`-norm over windows of [N, C, H, W]."""

    def __init__(self, norm_type, kernel_size, stride=None, padding=0, ceil_mode=False, data_format="NCHW", name=None):
        super().__init__()
        self.norm_type = float(norm_type)
        self.ksize = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    @accepts(x="input")
    def forward(self, x):
        return F.lp_pool2d(
            x, self.norm_type, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format, self.name
        )

    def extra_repr(self):
        return "norm_type={norm_type}, kernel_size={ksize}, stride={stride}, padding={padding}".format(**self.__dict__)


LPPool1d = LPPool1D
LPPool2d = LPPool2D
