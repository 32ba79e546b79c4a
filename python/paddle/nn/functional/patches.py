"""Patches out of images and back (im2col and col2im)."""

from __future__ import annotations

from paddle import _C_ops

from .._alias import accepts
from ._args import as_list

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
    return _C_ops.unfold(x, kernel, stride, padding, dilation)


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
    return _C_ops.fold(x, size, kernel, stride, padding, dilation)
