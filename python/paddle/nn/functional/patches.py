"""Patches out of images and back (im2col and col2im)."""

from __future__ import annotations

import paddle

from .._alias import accepts
from ._args import as_list
from .padding import pad

__all__ = []


def _geometry(op, kernel_sizes, strides, paddings, dilations):
    kernel = as_list(kernel_sizes, 2, "kernel_sizes", op)
    stride = as_list(strides, 2, "strides", op)
    dilation = as_list(dilations, 2, "dilations", op)
    padding = [paddings] * 4 if isinstance(paddings, int) else list(paddings)
    if len(padding) == 1:
        padding = padding * 4
    elif len(padding) == 2:
        padding = padding * 2
    if len(padding) != 4:
        raise ValueError("paddings should either be an integer or a list of 2 or 4 integers")
    return kernel, stride, padding, dilation  # padding: top, left, bottom, right


def _counts(size, kernel, stride, padding, dilation):
    return [
        (size[i] + padding[i] + padding[i + 2] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(2)
    ]


def unfold(x, kernel_sizes, strides=1, paddings=0, dilations=1, name=None):
    """Every patch of an image as a column.

    Args:
        x (Tensor): [N, C, H, W].
        kernel_sizes, strides, dilations (int | pair): geometry of the patches.
        paddings (int | list): one int, [h, w], or [top, left, bottom, right].

    Returns:
        Tensor [N, C * k_h * k_w, L], L the number of patches.

    Raises:
        ValueError: rank or lengths don't fit, or no patch fits into the image.
    """
    if len(x.shape) != 4:
        raise ValueError(f"input should be the format of [N, C, H, W], but got {list(x.shape)}")
    kernel, stride, padding, dilation = _geometry("unfold", kernel_sizes, strides, paddings, dilations)
    rows, cols = _counts(x.shape[2:], kernel, stride, padding, dilation)
    if isinstance(rows, int) and isinstance(cols, int) and (rows <= 0 or cols <= 0):
        raise ValueError(f"[unfold] no patch of {kernel} fits into an image of {list(x.shape[2:])}")
    top, left, bottom, right = padding
    if any(padding):
        x = pad(x, [left, right, top, bottom])
    taps = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            y0, x0 = i * dilation[0], j * dilation[1]
            y1, x1 = y0 + (rows - 1) * stride[0] + 1, x0 + (cols - 1) * stride[1] + 1
            taps.append(x[:, :, y0 : y1 : stride[0], x0 : x1 : stride[1]])
    patches = paddle.stack(taps, axis=2)
    return patches.reshape([x.shape[0], x.shape[1] * kernel[0] * kernel[1], rows * cols])


@accepts(
    x="input",
    output_sizes="output_size",
    kernel_sizes="kernel_size",
    strides="stride",
    paddings="padding",
    dilations="dilation",
)
def fold(x, output_sizes, kernel_sizes, strides=1, paddings=0, dilations=1, name=None):
    """Adds patches up into an image: the transpose of `unfold`.

    Args:
        x (Tensor): [N, C * k_h * k_w, L].
        output_sizes (int | pair): H and W of the image.
        kernel_sizes, strides, paddings, dilations: as in `unfold`.

    Returns:
        Tensor [N, C, H, W].

    Raises:
        ValueError: the sizes contradict each other.
    """
    if len(x.shape) != 3:
        raise ValueError(f"input should be the format of [N, C, L], but got {list(x.shape)}")
    size = as_list(output_sizes, 2, "output_sizes", "fold")
    kernel, stride, padding, dilation = _geometry("fold", kernel_sizes, strides, paddings, dilations)
    rows, cols = _counts(size, kernel, stride, padding, dilation)
    taps = kernel[0] * kernel[1]
    if x.shape[1] % taps != 0 or x.shape[2] != rows * cols:
        raise ValueError(
            f"[fold] expected x of shape [N, C * {taps}, {rows * cols}] for an image of {size}, got {list(x.shape)}"
        )
    channels = x.shape[1] // taps
    height, width = size[0] + padding[0] + padding[2], size[1] + padding[1] + padding[3]
    index = []  # where, in the flattened padded image, each element of a channel's columns goes
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            for r in range(rows):
                line = (r * stride[0] + i * dilation[0]) * width
                index += [line + c * stride[1] + j * dilation[1] for c in range(cols)]
    index = paddle.to_tensor(index, dtype="int64")
    columns = x.reshape([x.shape[0], channels, taps * rows * cols])
    image = paddle.index_add(paddle.zeros([x.shape[0], channels, height * width], x.dtype), index, 2, columns)
    image = image.reshape([x.shape[0], channels, height, width])
    top, left = padding[0], padding[1]
    return image[:, :, top : top + size[0], left : left + size[1]]
