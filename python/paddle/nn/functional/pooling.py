"""Pooling over windows.

x is [N, C, *spatial] (or channels last, where a `data_format` says so). Output sizes: floor((in + pads - k) / stride)
+ 1,
ceil instead of floor with `ceil_mode`. `stride` None means the kernel size.
"""

from __future__ import annotations

import math

import paddle
from paddle import _C_ops

from ._args import as_list, channels_last, check_spatial_rank, padding_of
from .padding import pad

__all__ = []


def _window(op, n, x, kernel_size, stride, padding, last, ceil_mode):
    check_spatial_rank(x, n, op)
    kernel = as_list(kernel_size, n, "kernel_size", op)
    stride = kernel if stride is None else as_list(stride, n, "stride", op)
    if any(isinstance(s, int) and s <= 0 for s in (*stride, *kernel)):
        raise ValueError(f"[{op}] kernel_size and stride must be positive, got {kernel} and {stride}")
    padding, algorithm = padding_of(padding, n, last, op)
    if algorithm == "VALID" and ceil_mode:
        raise ValueError('When Attr(padding) is "VALID", Attr(ceil_mode) must be False. Received ceil_mode: True.')
    return kernel, stride, padding, algorithm


def _avg(op, kernel_fn, n, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor, fmt):
    last = channels_last(fmt, n, op)
    kernel, stride, padding, algorithm = _window(op, n, x, kernel_size, stride, padding, last, ceil_mode)
    if divisor is not None and divisor <= 0:
        raise ValueError(f"[{op}] divisor_override must be positive, got {divisor}")
    out = kernel_fn(x, kernel, stride, padding, ceil_mode, exclusive, fmt, "avg", False, False, algorithm)
    return out if divisor is None else out * (math.prod(kernel) / divisor)


def avg_pool1d(x, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False, name=None):
    """Means over windows of [N, C, L]; with `exclusive`, padding does not count in the divisor."""
    kernel, stride, padding, algorithm = _window("avg_pool1d", 1, x, kernel_size, stride, padding, False, ceil_mode)
    pads = [0, 0, *padding] if len(padding) == 2 else [0, *padding]
    out = _C_ops.pool2d(
        paddle.unsqueeze(x, 2), [1, *kernel], [1, *stride], pads, ceil_mode, exclusive, "NCHW", "avg", False, False,
        algorithm,
    )  # fmt: skip
    return paddle.squeeze(out, 2)


def avg_pool2d(
    x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None,
    data_format="NCHW", name=None,
):  # fmt: skip
    """Means over windows.

    Args:
        x (Tensor): [N, C, H, W] or [N, H, W, C].
        kernel_size, stride (int | pair): the window and its step.
        padding (int | str | list): as in `conv2d`.
        ceil_mode (bool): round output sizes up.
        exclusive (bool): padding does not count in the divisor.
        divisor_override (int, optional): the divisor itself.

    Raises:
        ValueError: rank, padding, format or divisor don't fit.
    """
    return _avg(
        "avg_pool2d", _C_ops.pool2d, 2, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override,
        data_format,
    )  # fmt: skip


def avg_pool3d(
    x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True, divisor_override=None,
    data_format="NCDHW", name=None,
):  # fmt: skip
    """Means over windows of [N, C, D, H, W] or "NDHWC"; as `avg_pool2d`, with triples."""
    return _avg(
        "avg_pool3d", _C_ops.pool3d, 3, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override,
        data_format,
    )  # fmt: skip


def _max(op, plain, indexed, n, x, kernel_size, stride, padding, return_mask, ceil_mode, fmt):
    last = channels_last(fmt, n, op)
    if return_mask and last:
        raise ValueError(
            f"When setting return_mask to true, data_format must be set to {'NCHW' if n == 2 else 'NCDHW'} in API:{op}"
        )
    kernel, stride, padding, algorithm = _window(op, n, x, kernel_size, stride, padding, last, ceil_mode)
    if return_mask:
        if algorithm == "SAME":
            raise ValueError(f"[{op}] return_mask needs explicit padding, got 'SAME'")
        return indexed(x, kernel, stride, padding, False, False, ceil_mode)
    return plain(x, kernel, stride, padding, ceil_mode, True, fmt, "max", False, False, algorithm)


def max_pool2d(
    x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NCHW", name=None
):
    """Maxima over windows.

    Args:
        x (Tensor): [N, C, H, W] or [N, H, W, C].
        kernel_size, stride (int | pair): the window and its step.
        padding (int | str | list): as in `conv2d`; padded positions never win.
        return_mask (bool): also return where the maximum was, as int32 indices into the flattened H * W.
        ceil_mode (bool): round output sizes up.

    Returns:
        Tensor, or (Tensor, Tensor) with `return_mask`.

    Raises:
        ValueError: rank, padding or format don't fit; `return_mask` with channels last.
    """
    return _max(
        "max_pool2d", _C_ops.pool2d, _C_ops.max_pool2d_with_index, 2, x, kernel_size, stride, padding, return_mask,
        ceil_mode, data_format,
    )  # fmt: skip


def max_pool3d(
    x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format="NCDHW", name=None
):
    """Maxima over windows of [N, C, D, H, W] or "NDHWC"; as `max_pool2d`, with triples."""
    indexed = _C_ops.max_pool3d_with_index if return_mask else None
    return _max(
        "max_pool3d", _C_ops.pool3d, indexed, 3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format
    )


def max_pool1d(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, name=None):
    """Maxima over windows of [N, C, L]; with `return_mask` also their positions in L."""
    kernel, stride, padding, algorithm = _window("max_pool1d", 1, x, kernel_size, stride, padding, False, ceil_mode)
    pads = [0, 0, *padding] if len(padding) == 2 else [0, *padding]
    x = paddle.unsqueeze(x, 2)
    if return_mask:
        out, mask = _C_ops.max_pool2d_with_index(x, [1, *kernel], [1, *stride], pads, False, False, ceil_mode)
        return paddle.squeeze(out, 2), paddle.squeeze(mask, 2)
    out = _C_ops.pool2d(x, [1, *kernel], [1, *stride], pads, ceil_mode, True, "NCHW", "max", False, False, algorithm)
    return paddle.squeeze(out, 2)


def _unpool(op, n, x, indices, kernel_size, stride, padding, fmt, output_size):
    if channels_last(fmt, n, op):
        raise ValueError(f"[{op}] expected channels first, got data_format {fmt!r}")
    check_spatial_rank(x, n, op)
    kernel = as_list(kernel_size, n, "kernel_size", op)
    stride = kernel if stride is None else as_list(stride, n, "stride", op)
    padding = as_list(padding, n, "padding", op)
    spatial = x.shape[2:]
    default = [(spatial[i] - 1) * stride[i] - 2 * padding[i] + kernel[i] for i in range(n)]
    if output_size is None:
        sizes = default
    else:
        sizes = list(output_size)
        if len(sizes) == n + 2:
            sizes = sizes[2:]
        if len(sizes) != n:
            raise ValueError(f"[{op}] expected output_size with {n} or {n + 2} elements, got {list(output_size)}")
        for i in range(n):
            if not default[i] - stride[i] < sizes[i] < default[i] + stride[i]:
                raise ValueError(
                    f"invalid output_size {sizes} (dim {i} must be between {default[i] - stride[i]} and "
                    f"{default[i] + stride[i]})"
                )
    batch, channels = x.shape[0], x.shape[1]
    empty = paddle.zeros([batch, channels, math.prod(sizes)], x.dtype)
    flat = paddle.put_along_axis(
        empty, indices.reshape([batch, channels, -1]).astype("int64"), x.reshape([batch, channels, -1]), 2
    )
    return flat.reshape([batch, channels, *sizes])


def max_unpool1d(x, indices, kernel_size, stride=None, padding=0, data_format="NCL", output_size=None, name=None):
    """Puts [N, C, L] values back where `max_pool1d` found them (`indices`, its mask); zeros elsewhere."""
    return _unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool2d(x, indices, kernel_size, stride=None, padding=0, data_format="NCHW", output_size=None, name=None):
    """Puts values back where `max_pool2d` found them; zeros elsewhere.

    Args:
        x (Tensor): [N, C, H, W].
        indices (Tensor): the mask, in the shape of `x`.
        output_size (sequence, optional): [H_out, W_out]; (in - 1) * stride - 2 * padding + kernel when None.

    Raises:
        ValueError: channels last, or an impossible `output_size`.
    """
    return _unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool3d(x, indices, kernel_size, stride=None, padding=0, data_format="NCDHW", output_size=None, name=None):
    """Puts values back where `max_pool3d` found them; as `max_unpool2d`."""
    return _unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, data_format, output_size)


def _lp(max_pool, x, norm_type, kernel, **window):
    """The norm over windows of [N, C, H, W] (or "NHWC"): of their elements, however many ``ceil_mode`` leaves them."""
    if norm_type == 0:
        raise ValueError("Attr(norm_type) of lp_pool must not be 0")
    if math.isinf(norm_type):
        return max_pool(x)
    x = paddle.pow(x, norm_type)
    if window.pop("ceil_mode"):
        x, window["padding"] = _filled("lp_pool", x, kernel, **window)
    sums = avg_pool2d(x, kernel, exclusive=False, divisor_override=1, **window)
    return paddle.pow(sums, 1.0 / norm_type)


def _filled(op, x, kernel, stride, padding, data_format="NCHW"):
    """x with zeros around it and behind, so that every window that ``ceil_mode`` asks for is whole; no more padding."""
    last = channels_last(data_format, 2, op)
    kernel, stride, padding, algorithm = _window(op, 2, x, kernel, stride, padding, last, True)
    if algorithm != "EXPLICIT":
        return x, algorithm
    pads = [padding[0], padding[0], padding[1], padding[1]] if len(padding) == 2 else list(padding)
    sizes = x.shape[1:3] if last else x.shape[2:4]
    for i in range(2):
        pads[2 * i + 1] += -(sizes[i] + pads[2 * i] + pads[2 * i + 1] - kernel[i]) % stride[i]
    return pad(x, [pads[2], pads[3], pads[0], pads[1]], data_format=data_format), 0


def _as_row(size, unit):
    """A size of one dimension as that of a row [1, L]."""
    if size is None or isinstance(size, str):
        return size
    size = [size] if isinstance(size, int) else list(size)
    return [unit] * len(size) + size


def lp_pool1d(x, norm_type, kernel_size, stride=None, padding=0, ceil_mode=False, data_format="NCL", name=None):
    """(Sum over the window of x ** `norm_type`) ** (1 / `norm_type`); the maximum for infinity. [N, C, L] or "NLC"."""
    last = channels_last(data_format, 1, "lp_pool1d")
    x = paddle.transpose(x, [0, 2, 1]) if last else x
    if math.isinf(norm_type):
        out = max_pool1d(x, kernel_size, stride, padding, ceil_mode=ceil_mode)
    else:
        out = _lp(
            None, paddle.unsqueeze(x, 2), float(norm_type), [1, *as_list(kernel_size, 1, "kernel_size", "lp_pool")],
            stride=_as_row(stride, 1), padding=_as_row(padding, 0), ceil_mode=ceil_mode,
        )  # fmt: skip
        out = paddle.squeeze(out, 2)
    return paddle.transpose(out, [0, 2, 1]) if last else out


def lp_pool2d(x, norm_type, kernel_size, stride=None, padding=0, ceil_mode=False, data_format="NCHW", name=None):
    """(Sum over the window of x ** `norm_type`) ** (1 / `norm_type`); the maximum for infinity."""
    return _lp(
        lambda v: max_pool2d(v, kernel_size, stride, padding, False, ceil_mode, data_format), x, float(norm_type),
        as_list(kernel_size, 2, "kernel_size", "lp_pool"), stride=stride, padding=padding, ceil_mode=ceil_mode,
        data_format=data_format,
    )  # fmt: skip
