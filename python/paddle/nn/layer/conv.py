"""Convolution layers. Shapes, paddings and errors are those of the functions in `paddle.nn.functional`."""

from __future__ import annotations

import math

from .. import functional as F
from .._alias import accepts
from ..functional._args import as_list
from ..initializer import KaimingUniform, Normal
from .layers import Layer

__all__ = []

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Layer):
    """What all convolutions share: their parameters, and paddings other than zeros."""

    def __init__(
        self, in_channels, out_channels, kernel_size, transposed, dims, stride=1, padding=0, padding_mode="zeros",
        output_padding=0, dilation=1, groups=1, weight_attr=None, bias_attr=None, data_format="NCHW", dtype=None,
        device=None,
    ):  # fmt: skip
        super().__init__()
        assert weight_attr is not False, "weight_attr should not be False in Conv."
        name = type(self).__name__
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{padding_mode}'"
            )
        if padding_mode != "zeros" and not isinstance(padding, int):
            raise TypeError("when padding_mode in ['reflect', 'replicate', 'circular'], type of padding must be int")
        first, last = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}[dims]
        if data_format not in (first, last):
            raise ValueError(f"data_format must be one of ['{first}', '{last}'], but got data_format='{data_format}'")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups.")
        if out_channels % groups != 0 and not transposed:
            raise ValueError("out_channels must be divisible by groups.")
        self._param_attr = weight_attr
        self._bias_attr = bias_attr
        self._groups = groups
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._data_format = data_format
        self._padding_mode = padding_mode
        self._kernel_size = as_list(kernel_size, dims, "kernel_size", name)
        self._stride = as_list(stride, dims, "stride", name)
        self._dilation = as_list(dilation, dims, "dilation", name)
        self._padding = padding
        self.output_padding = output_padding
        self._updated_padding = padding
        if padding_mode != "zeros":
            self._reversed_padding_repeated_twice = [padding] * (2 * dims)
            self._updated_padding = 0
        shape = [out_channels, in_channels // groups] if not transposed else [in_channels, out_channels // groups]
        shape += self._kernel_size
        self.weight = self.create_parameter(
            shape, attr=weight_attr, dtype=dtype, device=device,
            default_initializer=None if transposed else self._weight_initializer(),
        )  # fmt: skip
        self.bias = self.create_parameter([out_channels], attr=bias_attr, dtype=dtype, device=device, is_bias=True)

    def _weight_initializer(self):
        fan = math.prod(self._kernel_size) * self._in_channels
        return Normal(0.0, math.sqrt(2.0 / fan)) if fan else KaimingUniform()

    def _padded(self, x):
        if self._padding_mode == "zeros":
            return x
        return F.pad(x, self._reversed_padding_repeated_twice, mode=self._padding_mode, data_format=self._data_format)

    def extra_repr(self):
        text = "{_in_channels}, {_out_channels}, kernel_size={_kernel_size}"
        if self._stride != [1] * len(self._stride):
            text += ", stride={_stride}"
        if self._padding != 0:
            text += ", padding={_padding}"
        if self._padding_mode != "zeros":
            text += ", padding_mode={_padding_mode}"
        if self.output_padding != 0:
            text += ", output_padding={output_padding}"
        if self._dilation != [1] * len(self._dilation):
            text += ", dilation={_dilation}"
        if self._groups != 1:
            text += ", groups={_groups}"
        text += ", data_format={_data_format}"
        return text.format(**self.__dict__)


def _bias_attr(bias, bias_attr):
    return False if not bias and bias_attr is None else bias_attr


_DOC = """{n}-D convolution.

    Args:
        in_channels, out_channels (int): divisible by `groups`.
        kernel_size, stride, dilation (int | sequence): one for all dimensions or one each.
        padding (int | str | list): as in `paddle.nn.functional.conv2d`.
        groups (int): groups of channels that don't mix.
        bias (bool): False leaves the bias out, as `bias_attr=False` does.
        padding_mode (str): "zeros", "reflect", "replicate" or "circular".
        device, dtype: where the parameters live and of what type.
        weight_attr, bias_attr (ParamAttr | bool, optional): of `weight` [out, in / groups, *kernel] and `bias` [out].
        data_format (str): channels first or last.

    Raises:
        ValueError: channels, padding mode or format don't fit.
    """


class Conv1D(_ConvNd):
    __doc__ = _DOC.format(n=1)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, *, bias=True,
        padding_mode="zeros", device=None, dtype=None, weight_attr=None, bias_attr=None, data_format="NCL",
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, False, 1, stride, padding, padding_mode, 0, dilation, groups,
            weight_attr, _bias_attr(bias, bias_attr), data_format, dtype, device,
        )  # fmt: skip

    @accepts(x="input")
    def forward(self, x):
        return F.conv1d(
            self._padded(x), self.weight, self.bias, self._stride, self._updated_padding, self._dilation, self._groups,
            self._data_format,
        )  # fmt: skip


class Conv2D(_ConvNd):
    __doc__ = _DOC.format(n=2)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, *, bias=True,
        padding_mode="zeros", device=None, dtype=None, weight_attr=None, bias_attr=None, data_format="NCHW",
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, False, 2, stride, padding, padding_mode, 0, dilation, groups,
            weight_attr, _bias_attr(bias, bias_attr), data_format, dtype, device,
        )  # fmt: skip

    @accepts(x="input")
    def forward(self, x):
        return F.conv2d(
            self._padded(x), self.weight, self.bias, self._stride, self._updated_padding, self._dilation, self._groups,
            self._data_format,
        )  # fmt: skip


class Conv3D(_ConvNd):
    __doc__ = _DOC.format(n=3)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, *, bias=True,
        padding_mode="zeros", device=None, dtype=None, weight_attr=None, bias_attr=None, data_format="NCDHW",
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, False, 3, stride, padding, padding_mode, 0, dilation, groups,
            weight_attr, _bias_attr(bias, bias_attr), data_format, dtype, device,
        )  # fmt: skip

    @accepts(x="input")
    def forward(self, x):
        return F.conv3d(
            self._padded(x), self.weight, self.bias, self._stride, self._updated_padding, self._dilation, self._groups,
            self._data_format,
        )  # fmt: skip


_DOC_T = """{n}-D transposed convolution.

    Args as in `Conv{n}D`, and `output_padding` (int | sequence): extra size on one side. The weight is
    [in, out / groups, *kernel]. `forward` takes an `output_size` instead, if the caller wants one.
    """


class Conv1DTranspose(_ConvNd):
    __doc__ = _DOC_T.format(n=1)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, dilation=1,
        weight_attr=None, bias_attr=None, data_format="NCL",
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, True, 1, stride, padding, "zeros", output_padding, dilation,
            groups, weight_attr, bias_attr, data_format,
        )  # fmt: skip

    def forward(self, x, output_size=None):
        return F.conv1d_transpose(
            x, self.weight, self.bias, self._stride, self._padding, self.output_padding if output_size is None else 0,
            self._groups, self._dilation, output_size, self._data_format,
        )  # fmt: skip


class Conv2DTranspose(_ConvNd):
    __doc__ = _DOC_T.format(n=2)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1,
        weight_attr=None, bias_attr=None, data_format="NCHW",
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, True, 2, stride, padding, "zeros", output_padding, dilation,
            groups, weight_attr, bias_attr, data_format,
        )  # fmt: skip

    def forward(self, x, output_size=None):
        return F.conv2d_transpose(
            x, self.weight, self.bias, self._stride, self._padding, self.output_padding if output_size is None else 0,
            self._dilation, self._groups, output_size, self._data_format,
        )  # fmt: skip


class Conv3DTranspose(_ConvNd):
    __doc__ = _DOC_T.format(n=3)

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, dilation=1, groups=1,
        weight_attr=None, bias_attr=None, data_format="NCDHW",
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, True, 3, stride, padding, "zeros", output_padding, dilation,
            groups, weight_attr, bias_attr, data_format,
        )  # fmt: skip

    def forward(self, x, output_size=None):
        return F.conv3d_transpose(
            x, self.weight, self.bias, self._stride, self._padding, self.output_padding if output_size is None else 0,
            self._groups, self._dilation, output_size, self._data_format,
        )  # fmt: skip
