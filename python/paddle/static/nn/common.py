"""Layers as functions: each call makes its parameters in the main program."""

from __future__ import annotations

import paddle

from ...base import unique_name
from ...base.framework import create_named_parameter
from ...nn import functional as F
from ...nn import initializer as I

__all__ = [
    "batch_norm",
    "bilinear_tensor_product",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "data_norm",
    "deform_conv2d",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "prelu",
    "row_conv",
    "sparse_embedding",
    "spectral_norm",
]


class _Maker:
    """Parameters of one call, named ``<kind>_<i>.w_0``."""

    def __init__(self, kind: str, name=None) -> None:
        self.name = name or unique_name.generate(kind)

    def weight(self, shape, dtype, attr=None, default=None, is_bias=False):
        """None where ``attr`` is False."""
        return create_named_parameter(self.name, shape, attr, dtype, is_bias, default)

    def bias(self, shape, dtype, attr=None):
        return self.weight(shape, dtype, attr, None, True)

    def fixed(self, shape, dtype, name, value):
        """State that no gradient reaches."""
        attr = paddle.ParamAttr(name=name, initializer=I.Constant(value), trainable=False)
        return self.weight(shape, dtype, attr)


def _activated(x, activation):
    if activation is None:
        return x
    function = getattr(F, activation, None) or getattr(paddle, activation, None)
    if function is None:
        raise ValueError(f"[static.nn] no activation is called '{activation}'")
    return function(x)


def _known(size, what):
    from ...jit import _trace_api as api

    if api.is_symint(size) or size < 0:
        raise ValueError(f"[static.nn] {what} must be known when the program is built")
    return int(size)


def _product(sizes, what) -> int:
    n = 1
    for s in sizes:
        n *= _known(s, what)
    return n


def fc(
    x,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr=None,
    bias_attr=None,
    activation=None,
    name=None,
):
    """A fully connected layer: ``act(sum_i x_i @ w_i + b)``.

    Args:
        x: a tensor of rank 2 or more, or a list of them, each with a weight of its own.
        size: features of the result.
        num_flatten_dims: so many leading axes are kept; the others are one axis of features.
        weight_attr, bias_attr: ParamAttr; False makes no bias.
        activation: name of a function of ``paddle.nn.functional``.

    Returns:
        A tensor of shape ``x.shape[:num_flatten_dims] + [size]``.
    """
    make = _Maker("fc", name)
    inputs = list(x) if isinstance(x, (list, tuple)) else [x]
    attrs = list(weight_attr) if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(inputs)
    total = None
    for one, attr in zip(inputs, attrs):
        keep = num_flatten_dims if num_flatten_dims >= 0 else len(one.shape) + num_flatten_dims
        if not 0 < keep < max(len(one.shape), 2):
            raise ValueError(f"[fc] expected num_flatten_dims in [1, {len(one.shape)}), got {num_flatten_dims}")
        features = _product(one.shape[keep:], "the number of features")
        weight = make.weight([features, size], one.dtype, attr)
        if len(one.shape) - keep != 1:
            one = paddle.flatten(one, keep, -1) if keep < len(one.shape) else paddle.unsqueeze(one, -1)
        product = paddle.matmul(one, weight)
        total = product if total is None else total + product
    bias = make.bias([size], inputs[0].dtype, bias_attr)
    if bias is not None:
        total = total + bias
    return _activated(total, activation)


def embedding(
    input,
    size,
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx=None,
    param_attr=None,
    dtype="float32",
    name=None,
):
    """Rows of a table of shape ``size`` = [rows, width] by index; ``padding_idx`` rows are zeros and get no gradient."""
    table = _Maker("embedding", name).weight(list(size), dtype, param_attr)
    padding = None if padding_idx is None else padding_idx if padding_idx >= 0 else size[0] + padding_idx
    return F.embedding(input, table, padding_idx=padding, sparse=is_sparse)


def sparse_embedding(
    input,
    size,
    padding_idx=None,
    is_test=False,
    entry=None,
    table_class="MemorySparseTable",
    param_attr=None,
    dtype="float32",
    slot=None,
    name=None,
):
    """``embedding``: tables of a parameter server are not supported, the table lives in this process."""
    return embedding(input, size, True, False, padding_idx, param_attr, dtype, name)


def _pair(value, n: int) -> list:
    return [value] * n if isinstance(value, int) else list(value)


def _conv(kind, n, transposed, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr,
          act, name, data_format, output_size=None):  # fmt: skip
    make = _Maker(kind, name)
    groups = groups or 1
    channel_last = data_format[-1] == "C"
    channels = _known(input.shape[-1 if channel_last else 1], "the number of channels")
    if channels % groups:
        raise ValueError(
            f"the channel of input must be divisible by groups, received: the channel of input is {channels}, the shape "
            f"of input is {list(input.shape)}, the groups is {groups}"
        )
    kernel = _pair(filter_size, n)
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
    return _activated(out, act)


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
    out, stride, padding, dilation = (_pair(v, n) for v in (output_size, stride, padding, dilation))
    return [
        (out[i] - (_known(spatial[i], "a spatial size") - 1) * stride[i] + 2 * padding[i] - 1) // dilation[i] + 1
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


def batch_norm(
    input,
    act=None,
    is_test=False,
    momentum=0.9,
    epsilon=1e-05,
    param_attr=None,
    bias_attr=None,
    data_layout="NCHW",
    in_place=False,
    name=None,
    moving_mean_name=None,
    moving_variance_name=None,
    do_model_average_for_mean_and_var=True,
    use_global_stats=False,
):
    """Batch normalisation with running statistics; ``clone(for_test=True)`` takes them instead of the batch's."""
    make = _Maker("batch_norm", name)
    axis = -1 if data_layout[-1] == "C" else 1
    channels = _known(input.shape[axis if len(input.shape) > 1 else 0], "the number of channels")
    dtype = "float32" if str(input.dtype).endswith("float16") else input.dtype
    scale = make.weight([channels], dtype, param_attr, I.Constant(1.0))
    bias = make.bias([channels], dtype, bias_attr)
    mean = make.fixed([channels], dtype, moving_mean_name, 0.0)
    variance = make.fixed([channels], dtype, moving_variance_name, 1.0)
    out = F.batch_norm(
        input, mean, variance, scale, bias, training=not is_test, momentum=momentum, epsilon=epsilon,
        data_format=data_layout, use_global_stats=use_global_stats or None,
    )  # fmt: skip
    return _activated(out, act)


def layer_norm(
    input,
    scale=True,
    shift=True,
    begin_norm_axis=1,
    epsilon=1e-05,
    param_attr=None,
    bias_attr=None,
    act=None,
    name=None,
):
    """Normalises over the axes from ``begin_norm_axis`` on, then scales and shifts."""
    make = _Maker("layer_norm", name)
    normalized = [_known(s, "a normalised size") for s in input.shape[begin_norm_axis:]]
    count = _product(normalized, "a normalised size")
    weight = make.weight([count], input.dtype, param_attr, I.Constant(1.0)) if scale else None
    bias = make.bias([count], input.dtype, bias_attr) if shift else None
    weight = weight if weight is None else weight.reshape(normalized)
    bias = bias if bias is None else bias.reshape(normalized)
    return _activated(F.layer_norm(input, normalized, weight, bias, epsilon), act)


def group_norm(input, groups, epsilon=1e-05, param_attr=None, bias_attr=None, act=None, data_layout="NCHW", name=None):
    """Normalises each group of channels, then scales and shifts each channel."""
    make = _Maker("group_norm", name)
    channels = _known(input.shape[-1 if data_layout[-1] == "C" else 1], "the number of channels")
    weight = make.weight([channels], input.dtype, param_attr, I.Constant(1.0))
    bias = make.bias([channels], input.dtype, bias_attr)
    return _activated(F.group_norm(input, groups, epsilon, weight, bias, data_layout), act)


def instance_norm(input, epsilon=1e-05, param_attr=None, bias_attr=None, name=None):
    """Normalises each channel of each example."""
    make = _Maker("instance_norm", name)
    channels = _known(input.shape[1], "the number of channels")
    weight = make.weight([channels], input.dtype, param_attr, I.Constant(1.0))
    bias = make.bias([channels], input.dtype, bias_attr)
    return F.instance_norm(input, weight=weight, bias=bias, eps=epsilon)


def data_norm(
    input,
    act=None,
    epsilon=1e-05,
    param_attr=None,
    data_layout="NCHW",
    in_place=False,
    name=None,
    moving_mean_name=None,
    moving_variance_name=None,
    do_model_average_for_mean_and_var=True,
    slot_dim=-1,
    sync_stats=False,
    summary_decay_rate=0.9999999,
    enable_scale_and_shift=False,
):
    """Not available: its statistics are those of a parameter server.

    Raises:
        NotImplementedError: always; use ``batch_norm``.
    """
    raise NotImplementedError("[data_norm] statistics of a parameter server are not supported: use batch_norm")


def prelu(x, mode, param_attr=None, data_format="NCHW", name=None):
    """``x if x > 0 else a * x`` with one ``a`` (mode "all"), one a channel ("channel") or one an element ("element").

    Raises:
        ValueError: another mode.
    """
    if mode not in ("all", "channel", "element"):
        raise ValueError("mode should be one of all, channel, element.")
    axis = -1 if data_format[-1] == "C" else 1
    if mode == "all":
        shape = [1]
    elif mode == "channel":
        shape = [_known(x.shape[axis], "the number of channels")]
    else:
        shape = [1, *[_known(s, "a size") for s in x.shape[1:]]]
    alpha = _Maker("prelu", name).weight(shape, x.dtype, param_attr, I.Constant(0.25))
    if mode == "element":
        return paddle.where(x > 0, x, x * alpha)
    return F.prelu(x, alpha, data_format)


def bilinear_tensor_product(x, y, size, act=None, name=None, param_attr=None, bias_attr=None):
    """``out[:, i] = x @ w[i] @ y.T`` of each example, plus a bias."""
    make = _Maker("bilinear_tensor_product", name)
    weight = make.weight([size, _known(x.shape[1], "x's width"), _known(y.shape[1], "y's width")], x.dtype, param_attr)
    bias = make.weight([1, size], x.dtype, bias_attr, None, True)
    out = F.bilinear(x, y, weight, bias)
    return _activated(out, act)


def row_conv(input, future_context_size, param_attr=None, act=None):
    """``out[t] = sum_j input[t + j] * w[j]`` for j in 0 … ``future_context_size``, over axis 1 of [batch, time, width]."""
    width = _known(input.shape[-1], "the width")
    weight = _Maker("row_conv").weight([future_context_size + 1, width], input.dtype, param_attr)
    after = paddle.zeros_like(input[:, :1]).expand([-1, future_context_size, -1])
    padded = paddle.concat([input, after], axis=1)
    length = paddle.shape(input)[1]
    out = None
    for j in range(future_context_size + 1):
        term = paddle.slice(padded, [1], [j], [length + j]) * weight[j]
        out = term if out is None else out + term
    return _activated(out, act)


def spectral_norm(weight, dim=0, power_iters=1, eps=1e-12, name=None):
    """``weight`` divided by an estimate of its largest singular value, from ``power_iters`` steps of power iteration."""
    make = _Maker("spectral_norm", name)
    rows = _known(weight.shape[dim], "a size")
    cols = _product(weight.shape, "a size") // rows
    u = make.weight([rows], weight.dtype, paddle.ParamAttr(initializer=I.Normal(0.0, 1.0), trainable=False))
    v = make.weight([cols], weight.dtype, paddle.ParamAttr(initializer=I.Normal(0.0, 1.0), trainable=False))
    order = [dim, *[i for i in range(len(weight.shape)) if i != dim]]
    matrix = paddle.transpose(weight, order).reshape([rows, cols])
    with paddle.no_grad():
        for _ in range(power_iters):
            new_v = F.normalize(paddle.mv(matrix.t(), u), axis=0, epsilon=eps)
            paddle.assign(new_v, v)
            paddle.assign(F.normalize(paddle.mv(matrix, v), axis=0, epsilon=eps), u)
    sigma = paddle.dot(u, paddle.mv(matrix, v))
    return weight / sigma


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

    make = _Maker("deformable_conv", name)
    channels = _known(x.shape[1], "the number of channels")
    kernel = _pair(filter_size, 2)
    std = (2.0 / (kernel[0] * kernel[1] * channels)) ** 0.5
    weight = make.weight([num_filters, channels // groups, *kernel], x.dtype, weight_attr, I.Normal(0.0, std))
    bias = make.bias([num_filters], x.dtype, bias_attr)
    return compute(x, offset, weight, bias, stride, padding, dilation, deformable_groups, groups, mask)
