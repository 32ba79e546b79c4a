"""Convolutions.

Shapes: x is [N, C, *spatial] (or [N, *spatial, C]), the weight [C_out, C / groups, *kernel], and [C, C_out / groups,
*kernel] for a transposed convolution. Output sizes: floor((in + pad_before + pad_after - dilation * (k - 1) - 1) /
stride) + 1, and (in - 1) * stride - pad_before - pad_after + dilation * (k - 1) + 1 + output_padding.
"""

from __future__ import annotations

import paddle
from paddle import _C_ops

from .._alias import accepts
from ._args import as_list, channels_last, check_spatial_rank, padding_of

__all__ = []


def _add_bias(out, bias, last):
    if bias is None:
        return out
    if last:
        return out + bias
    return out + bias.reshape([1, -1] + [1] * (len(out.shape) - 2))


def _check_groups(x, weight, groups, last, op, transposed=False):
    channels = x.shape[-1 if last else 1]
    if groups <= 0:
        raise ValueError(f"[{op}] expected groups > 0, got {groups}")
    wanted = weight.shape[0] if transposed else weight.shape[1] * groups
    if isinstance(channels, int) and channels >= 0 and channels != wanted:
        raise ValueError(
            f"[{op}] The channel of input must be divisible by groups and agree with the weight: input has {channels} "
            f"channels, weight {list(weight.shape)}, groups {groups}"
        )
    if not transposed and weight.shape[0] % groups != 0:
        raise ValueError(f"[{op}] the number of filters {weight.shape[0]} must be divisible by groups {groups}")


def _conv(op, kernel, n, x, weight, bias, stride, padding, dilation, groups, data_format):
    last = channels_last(data_format, n, op)
    check_spatial_rank(x, n, op)
    _check_groups(x, weight, groups, last, op)
    padding, algorithm = padding_of(padding, n, last, op)
    stride, dilation = as_list(stride, n, "stride", op), as_list(dilation, n, "dilation", op)
    if n == 2:
        out = kernel(x, weight, stride, padding, algorithm, dilation, groups, data_format)
    else:  # the operator for volumes takes these two the other way round
        out = kernel(x, weight, stride, padding, algorithm, groups, dilation, data_format)
    return _add_bias(out, bias, last)


@accepts(x="input")
def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format="NCHW", name=None):
    """2-D convolution.

    Args:
        x (Tensor): [N, C, H, W], or [N, H, W, C] with `data_format` "NHWC".
        weight (Tensor): [C_out, C / groups, k_h, k_w].
        bias (Tensor, optional): [C_out].
        stride, dilation (int | pair): steps.
        padding (int | str | list): "SAME", "VALID", an int, [h, w], [top, bottom, left, right], or pairs.
        groups (int): divides C and C_out.

    Returns:
        Tensor [N, C_out, H_out, W_out].

    Raises:
        ValueError: ranks, channels, groups, padding or format don't fit.
    """
    return _conv("conv2d", _C_ops.conv2d, 2, x, weight, bias, stride, padding, dilation, groups, data_format)


@accepts(x="input")
def conv3d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format="NCDHW", name=None):
    """3-D convolution of [N, C, D, H, W] (or "NDHWC"); arguments and errors as `conv2d`, with triples."""
    return _conv("conv3d", _C_ops.conv3d, 3, x, weight, bias, stride, padding, dilation, groups, data_format)


@accepts(x="input")
def conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format="NCL", name=None):
    """1-D convolution of [N, C, L] (or "NLC") with a weight [C_out, C / groups, k]; else as `conv2d`."""
    last = channels_last(data_format, 1, "conv1d")
    check_spatial_rank(x, 1, "conv1d")
    _check_groups(x, weight, groups, last, "conv1d")
    padding, algorithm = padding_of(padding, 1, last, "conv1d")
    padding = [0, 0, *padding] if len(padding) == 2 else [0, *padding]
    # A convolution over an image of height one.
    out = _C_ops.conv2d(
        paddle.unsqueeze(x, 1 if last else 2), paddle.unsqueeze(weight, 2),
        [1, *as_list(stride, 1, "stride", "conv1d")], padding, algorithm,
        [1, *as_list(dilation, 1, "dilation", "conv1d")], groups, "NHWC" if last else "NCHW",
    )  # fmt: skip
    return _add_bias(paddle.squeeze(out, 1 if last else 2), bias, last)


def _output_padding(op, n, x, weight, stride, padding, algorithm, dilation, output_padding, output_size, last):
    """The extra sizes that an `output_size` means, checked against what the strides allow."""
    extra = as_list(output_padding, n, "output_padding", op)
    if output_size is None:
        return extra
    if any(extra):
        raise ValueError("output_padding option is mutually exclusive with output_size")
    wanted = as_list(output_size, n, "output_size", op)
    spatial = x.shape[1:-1] if last else x.shape[2:]
    pads = padding if len(padding) == 2 * n else [p for p in padding for _ in range(2)]
    for i in range(n):
        reach = dilation[i] * (weight.shape[2 + i] - 1) + 1
        if algorithm == "SAME":
            smallest = spatial[i] * stride[i]
        else:
            smallest = (spatial[i] - 1) * stride[i] + reach - pads[2 * i] - pads[2 * i + 1]
        extra[i] = wanted[i] - smallest
        if extra[i] < 0 or (extra[i] >= stride[i] and extra[i] >= dilation[i]):
            raise ValueError(
                f"[{op}] expected output_size[{i}] in [{smallest}, {smallest + stride[i]}), got {wanted[i]}"
            )
    return extra


def _transpose(op, kernel, n, x, weight, bias, stride, padding, output_padding, groups, dilation, output_size, fmt):
    last = channels_last(fmt, n, op)
    check_spatial_rank(x, n, op)
    _check_groups(x, weight, groups, last, op, transposed=True)
    stride, dilation = as_list(stride, n, "stride", op), as_list(dilation, n, "dilation", op)
    padding, algorithm = padding_of(padding, n, last, op)
    extra = _output_padding(op, n, x, weight, stride, padding, algorithm, dilation, output_padding, output_size, last)
    out = kernel(x, weight, stride, padding, extra if any(extra) else [], [], algorithm, groups, dilation, fmt)
    return _add_bias(out, bias, last)


def conv2d_transpose(
    x, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1, output_size=None,
    data_format="NCHW", name=None,
):  # fmt: skip
    """2-D transposed convolution: the gradient of `conv2d` with respect to its input.

    Args:
        x (Tensor): [N, C, H, W] or [N, H, W, C].
        weight (Tensor): [C, C_out / groups, k_h, k_w].
        output_padding (int | pair): extra size on one side, smaller than stride or dilation.
        output_size (int | pair, optional): the spatial sizes wanted, instead of `output_padding`.

    Other arguments, and errors, as `conv2d`.
    """
    return _transpose(
        "conv2d_transpose", _C_ops.conv2d_transpose, 2, x, weight, bias, stride, padding, output_padding, groups,
        dilation, output_size, data_format,
    )  # fmt: skip


def conv3d_transpose(
    x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, output_size=None,
    data_format="NCDHW", name=None,
):  # fmt: skip
    """3-D transposed convolution; as `conv2d_transpose`, with triples."""
    return _transpose(
        "conv3d_transpose", _C_ops.conv3d_transpose, 3, x, weight, bias, stride, padding, output_padding, groups,
        dilation, output_size, data_format,
    )  # fmt: skip


def conv1d_transpose(
    x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, output_size=None,
    data_format="NCL", name=None,
):  # fmt: skip
    """1-D transposed convolution of [N, C, L] with a weight [C, C_out / groups, k]; else as `conv2d_transpose`."""
    op = "conv1d_transpose"
    last = channels_last(data_format, 1, op)
    check_spatial_rank(x, 1, op)
    _check_groups(x, weight, groups, last, op, transposed=True)
    stride, dilation = as_list(stride, 1, "stride", op), as_list(dilation, 1, "dilation", op)
    padding, algorithm = padding_of(padding, 1, last, op)
    extra = _output_padding(op, 1, x, weight, stride, padding, algorithm, dilation, output_padding, output_size, last)
    padding = [0, 0, *padding] if len(padding) == 2 else [0, *padding]
    # A convolution over an image of height one.
    out = _C_ops.conv2d_transpose(
        paddle.unsqueeze(x, 1 if last else 2), paddle.unsqueeze(weight, 2), [1, *stride], padding,
        [0, *extra] if any(extra) else [], [], algorithm, groups, [1, *dilation], "NHWC" if last else "NCHW",
    )  # fmt: skip
    return _add_bias(paddle.squeeze(out, 1 if last else 2), bias, last)
