"""Convolutions as functions: each call makes its parameters in the main program."""

from __future__ import annotations

from ...nn import functional as F
from ...nn import initializer as I
from ._make import Maker, activated, known, pair

__all__ = ["conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "deform_conv2d"]


def _conv(kind, n, transposed, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr,
          act, name, data_format, output_size=None):  # fmt: skip
    make = Maker(kind, name)
    groups = groups or 1
    channel_last = data_format[-1] == "C"
    channels = known(input.shape[-1 if channel_last else 1], "the number of channels")
    if channels % groups:
        raise ValueError(
            f"the channel of input must be divisible by groups, received: the channel of input is {channels}, the shape "
            f"of input is {list(input.shape)}, the groups is {groups}"
        )
    kernel = pair(filter_size, n)
    if transposed:
        shape = [channels, num_filters // groups, *kernel]
        default = None
    else:
        shape = [num_filters, channels // groups, *kernel]
        fan = 1
        for k in kernel:
            fan *= k
        std = (2.0 / (fan * channels)) ** 0.5
        default = I.Normal(0.0, std)
    weight = make.weight(shape, input.dtype, param_attr, default)
    bias = make.bias([num_filters], input.dtype, bias_attr)
    function = getattr(F, f"conv{n}d" + ("_transpose" if transposed else ""))
    if transposed:
        out = function(
            input, weight, bias, stride=stride, padding=padding, groups=groups, dilation=dilation,
            output_size=output_size, data_format=data_format,
        )  # fmt: skip
    else:
        out = function(input, weight, bias, stride, padding, dilation, groups, data_format)
    return activated(out, act)


def conv2d(input, num_filters, filter_size, stride=1, padding=0, dilation=1, groups=None, param_attr=None, bias_attr=None,
           use_cudnn=True, act=None, name=None, data_format="NCHW"):  # fmt: skip
    """A two-dimensional convolution with ``num_filters`` kernels of ``filter_size``, a bias, and an activation."""
    return _conv("conv2d", 2, False, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr,
                 bias_attr, act, name, data_format)  # fmt: skip


def conv3d(input, num_filters, filter_size, stride=1, padding=0, dilation=1, groups=None, param_attr=None, bias_attr=None,
           use_cudnn=True, act=None, name=None, data_format="NCDHW"):  # fmt: skip
    """A three-dimensional convolution with ``num_filters`` kernels of ``filter_size``, a bias, and an activation."""
    return _conv("conv3d", 3, False, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr,
                 bias_attr, act, name, data_format)  # fmt: skip


def _kernel_from(output_size, input, n, stride, padding, dilation, data_format):
    """The kernel with which a transposed convolution gives ``output_size``."""
    spatial = list(input.shape[1:-1] if data_format[-1] == "C" else input.shape[2:])
    out, stride, padding, dilation = (pair(v, n) for v in (output_size, stride, padding, dilation))
    return [
        (out[i] - (known(spatial[i], "a spatial size") - 1) * stride[i] + 2 * padding[i] - 1) // dilation[i] + 1
        for i in range(n)
    ]


def conv2d_transpose(input, num_filters, output_size=None, filter_size=None, padding=0, stride=1, dilation=1, groups=None,
                     param_attr=None, bias_attr=None, use_cudnn=True, act=None, name=None, data_format="NCHW"):  # fmt: skip
    """The transpose of a two-dimensional convolution; ``filter_size`` follows from ``output_size`` if it is None."""
    return _transposed("conv2d_transpose", 2, input, num_filters, output_size, filter_size, padding, stride, dilation,
                       groups, param_attr, bias_attr, act, name, data_format)  # fmt: skip


def conv3d_transpose(input, num_filters, output_size=None, filter_size=None, padding=0, stride=1, dilation=1, groups=None,
                     param_attr=None, bias_attr=None, use_cudnn=True, act=None, name=None, data_format="NCDHW"):  # fmt: skip
    """The transpose of a three-dimensional convolution; ``filter_size`` follows from ``output_size`` if it is None."""
    return _transposed("conv3d_transpose", 3, input, num_filters, output_size, filter_size, padding, stride, dilation,
                       groups, param_attr, bias_attr, act, name, data_format)  # fmt: skip


def _transposed(kind, n, input, num_filters, output_size, filter_size, padding, stride, dilation, groups, param_attr,
                bias_attr, act, name, data_format):  # fmt: skip
    if filter_size is None:
        if output_size is None:
            raise ValueError("output_size must be set when filter_size is None")
        filter_size = _kernel_from(output_size, input, n, stride, padding, dilation, data_format)
        output_size = None
    return _conv(kind, n, True, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr,
                 act, name, data_format, output_size)  # fmt: skip


def deform_conv2d(
    x,
    offset,
    mask,
    num_filters,
    filter_size,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    deformable_groups=1,
    im2col_step=1,
    weight_attr=None,
    bias_attr=None,
    name=None,
):
    """Deformable convolution; ``mask`` None is the first version of it."""
    from ...vision.ops import deform_conv2d as compute

    make = Maker("deformable_conv", name)
    channels = known(x.shape[1], "the number of channels")
    kernel = pair(filter_size, 2)
    std = (2.0 / (kernel[0] * kernel[1] * channels)) ** 0.5
    weight = make.weight([num_filters, channels // groups, *kernel], x.dtype, weight_attr, I.Normal(0.0, std))
    bias = make.bias([num_filters], x.dtype, bias_attr)
    return compute(x, offset, weight, bias, stride, padding, dilation, deformable_groups, groups, mask)
