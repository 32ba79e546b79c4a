"""The functions of ``paddle.sparse.nn.functional`` as layers."""

from __future__ import annotations

from paddle.nn import BatchNorm1D, Layer
from paddle.nn.initializer import Normal

from ..tensor import expect_sparse
from . import functional as F

__all__ = []


class ReLU(Layer):
    """max(x, 0) of the stored elements."""

    def __init__(self, name=None):
        super().__init__()

    def forward(self, x):
        return F.relu(x)


class ReLU6(Layer):
    """min(max(x, 0), 6) of the stored elements."""

    def __init__(self, name=None):
        super().__init__()

    def forward(self, x):
        return F.relu6(x)


class LeakyReLU(Layer):
    """x where it is positive, else `negative_slope` * x, of the stored elements."""

    def __init__(self, negative_slope=0.01, name=None):
        super().__init__()
        self._negative_slope = negative_slope

    def forward(self, x):
        return F.leaky_relu(x, self._negative_slope)


class Softmax(Layer):
    """Softmax over the stored elements of each row; `axis` is the last one."""

    def __init__(self, axis=-1, name=None):
        super().__init__()
        self._axis = axis

    def forward(self, x):
        return F.softmax(x, self._axis)


class BatchNorm(BatchNorm1D):
    """Batch normalisation of the stored pixels [N, ..., C] per channel."""

    def __init__(
        self, num_features, momentum=0.9, epsilon=1e-05, weight_attr=None, bias_attr=None, data_format="NDHWC",
        use_global_stats=None, name=None,
    ):  # fmt: skip
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, "NC", use_global_stats=use_global_stats, name=name
        )
        if data_format not in ("NDHWC", "NHWC"):
            raise ValueError(f"[sparse.BatchNorm] expected the channels last, got data_format {data_format}")
        self._shown = f"num_features={num_features}, momentum={momentum}, epsilon={epsilon}, data_format={data_format}"

    def extra_repr(self):
        return self._shown

    def forward(self, x):
        return expect_sparse("BatchNorm", x).with_values(super().forward(x.values()))


class SyncBatchNorm(BatchNorm):
    """`BatchNorm`; with one process the batch is all there is."""


class _Conv(Layer):
    """What the convolutions share."""

    axes, function, keyed = 0, None, False

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, padding_mode="zeros",
        weight_attr=None, bias_attr=None, data_format=None,
    ):  # fmt: skip
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f"[sparse] expected padding_mode 'zeros', got {padding_mode!r}")
        n = self.axes
        kernel = [kernel_size] * n if isinstance(kernel_size, int) else list(kernel_size)
        fan_in = in_channels
        for k in kernel:
            fan_in *= k
        self.weight = self.create_parameter(
            [*kernel, in_channels // groups, out_channels], weight_attr,
            default_initializer=Normal(0.0, (2.0 / fan_in) ** 0.5),
        )  # fmt: skip
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)
        self._options = (stride, padding, dilation, groups, data_format or ("NDHWC" if n == 3 else "NHWC"))
        self._shown = f"{in_channels}, {out_channels}, kernel_size={kernel}"

    def extra_repr(self):
        stride, padding, dilation, groups, data_format = self._options
        ones = (1, [1] * self.axes, (1,) * self.axes)
        parts = [self._shown]
        parts += [] if stride in ones else [f"stride={[stride] * self.axes if isinstance(stride, int) else list(stride)}"]
        parts += [] if padding == 0 else [f"padding={padding}"]
        parts += [] if dilation in ones else [
            f"dilation={[dilation] * self.axes if isinstance(dilation, int) else list(dilation)}"
        ]  # fmt: skip
        parts += [] if groups == 1 else [f"groups={groups}"]
        return ", ".join([*parts, f"data_format={data_format}"])

    def forward(self, x):
        return type(self).function(x, self.weight, self.bias, *self._options)


class _Submanifold(_Conv):
    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, padding_mode="zeros",
        key=None, weight_attr=None, bias_attr=None, data_format=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format,
        )  # fmt: skip


class Conv2D(_Conv):
    """Convolution of sparse images [N, H, W, C]: see ``functional.conv2d``."""

    axes, function = 2, staticmethod(F.conv2d)


class Conv3D(_Conv):
    """Convolution of sparse volumes [N, D, H, W, C]: see ``functional.conv3d``."""

    axes, function = 3, staticmethod(F.conv3d)


class SubmConv2D(_Submanifold):
    """Convolution of sparse images with results at the input's pixels only: see ``functional.subm_conv2d``."""

    axes, function = 2, staticmethod(F.subm_conv2d)


class SubmConv3D(_Submanifold):
    """Convolution of sparse volumes with results at the input's pixels only: see ``functional.subm_conv3d``."""

    axes, function = 3, staticmethod(F.subm_conv3d)


class MaxPool3D(Layer):
    """Max pooling of sparse volumes: see ``functional.max_pool3d``."""

    def __init__(
        self, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NDHWC", name=None
    ):
        super().__init__()
        if return_mask:
            raise ValueError("return_mask must be False")
        self._options = (kernel_size, stride, padding, ceil_mode, data_format)

    def extra_repr(self):
        return "kernel_size={}, stride={}, padding={}".format(*self._options)

    def forward(self, x):
        return F.max_pool3d(x, *self._options)
