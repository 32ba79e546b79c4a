"""Layers as functions: each call makes its parameters in the main program."""

from __future__ import annotations

import paddle

from ...nn import functional as F
from ...nn import initializer as I
from ._make import Maker, activated, known, product

__all__ = [
    "batch_norm",
    "bilinear_tensor_product",
    "data_norm",
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
    make = Maker("fc", name)
    inputs = list(x) if isinstance(x, (list, tuple)) else [x]
    attrs = list(weight_attr) if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(inputs)
    total = None
    for one, attr in zip(inputs, attrs):
        keep = num_flatten_dims if num_flatten_dims >= 0 else len(one.shape) + num_flatten_dims
        if not 0 < keep < max(len(one.shape), 2):
            raise ValueError(f"[fc] expected num_flatten_dims in [1, {len(one.shape)}), got {num_flatten_dims}")
        features = product(one.shape[keep:], "the number of features")
        weight = make.weight([features, size], one.dtype, attr)
        if len(one.shape) - keep != 1:
            one = paddle.flatten(one, keep, -1) if keep < len(one.shape) else paddle.unsqueeze(one, -1)
        projected = paddle.matmul(one, weight)
        total = projected if total is None else total + projected
    bias = make.bias([size], inputs[0].dtype, bias_attr)
    if bias is not None:
        total = total + bias
    return activated(total, activation)


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
    table = Maker("embedding", name).weight(list(size), dtype, param_attr)
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
    make = Maker("batch_norm", name)
    axis = -1 if data_layout[-1] == "C" else 1
    channels = known(input.shape[axis if len(input.shape) > 1 else 0], "the number of channels")
    dtype = "float32" if str(input.dtype).endswith("float16") else input.dtype
    scale = make.weight([channels], dtype, param_attr, I.Constant(1.0))
    bias = make.bias([channels], dtype, bias_attr)
    mean = make.fixed([channels], dtype, moving_mean_name, 0.0)
    variance = make.fixed([channels], dtype, moving_variance_name, 1.0)
    out = F.batch_norm(
        input, mean, variance, scale, bias, training=not is_test, momentum=momentum, epsilon=epsilon,
        data_format=data_layout, use_global_stats=use_global_stats or None,
    )  # fmt: skip
    return activated(out, act)


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
    make = Maker("layer_norm", name)
    normalized = [known(s, "a normalised size") for s in input.shape[begin_norm_axis:]]
    count = product(normalized, "a normalised size")
    weight = make.weight([count], input.dtype, param_attr, I.Constant(1.0)) if scale else None
    bias = make.bias([count], input.dtype, bias_attr) if shift else None
    weight = weight if weight is None else weight.reshape(normalized)
    bias = bias if bias is None else bias.reshape(normalized)
    return activated(F.layer_norm(input, normalized, weight, bias, epsilon), act)


def group_norm(input, groups, epsilon=1e-05, param_attr=None, bias_attr=None, act=None, data_layout="NCHW", name=None):
    """Normalises each group of channels, then scales and shifts each channel."""
    make = Maker("group_norm", name)
    channels = known(input.shape[-1 if data_layout[-1] == "C" else 1], "the number of channels")
    weight = make.weight([channels], input.dtype, param_attr, I.Constant(1.0))
    bias = make.bias([channels], input.dtype, bias_attr)
    return activated(F.group_norm(input, groups, epsilon, weight, bias, data_layout), act)


def instance_norm(input, epsilon=1e-05, param_attr=None, bias_attr=None, name=None):
    """Normalises each channel of each example."""
    make = Maker("instance_norm", name)
    channels = known(input.shape[1], "the number of channels")
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
        shape = [known(x.shape[axis], "the number of channels")]
    else:
        shape = [1, *[known(s, "a size") for s in x.shape[1:]]]
    alpha = Maker("prelu", name).weight(shape, x.dtype, param_attr, I.Constant(0.25))
    if mode == "element":
        return paddle.where(x > 0, x, x * alpha)
    return F.prelu(x, alpha, data_format)


def bilinear_tensor_product(x, y, size, act=None, name=None, param_attr=None, bias_attr=None):
    """``out[:, i] = x @ w[i] @ y.T`` of each example, plus a bias."""
    make = Maker("bilinear_tensor_product", name)
    weight = make.weight([size, known(x.shape[1], "x's width"), known(y.shape[1], "y's width")], x.dtype, param_attr)
    bias = make.weight([1, size], x.dtype, bias_attr, None, True)
    out = F.bilinear(x, y, weight, bias)
    return activated(out, act)


def row_conv(input, future_context_size, param_attr=None, act=None):
    """``out[t] = sum_j input[t + j] * w[j]`` for j in 0 … ``future_context_size``, over axis 1 of [batch, time, width]."""
    width = known(input.shape[-1], "the width")
    weight = Maker("row_conv").weight([future_context_size + 1, width], input.dtype, param_attr)
    after = paddle.zeros_like(input[:, :1]).expand([-1, future_context_size, -1])
    padded = paddle.concat([input, after], axis=1)
    length = paddle.shape(input)[1]
    out = None
    for j in range(future_context_size + 1):
        term = paddle.slice(padded, [1], [j], [length + j]) * weight[j]
        out = term if out is None else out + term
    return activated(out, act)


def spectral_norm(weight, dim=0, power_iters=1, eps=1e-12, name=None):
    """``weight`` divided by an estimate of its largest singular value, from ``power_iters`` steps of power iteration."""
    make = Maker("spectral_norm", name)
    rows = known(weight.shape[dim], "a size")
    cols = product(weight.shape, "a size") // rows
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
