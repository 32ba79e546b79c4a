"""Layers with the signatures of PyTorch."""

from __future__ import annotations

from paddle import nn as _nn

from . import functional
from .attention import MultiheadAttention
from .linear import Linear

__all__ = [
    "AvgPool1D", "AvgPool1d", "AvgPool2D", "AvgPool2d", "AvgPool3D", "AvgPool3d", "Linear", "MultiheadAttention",
    "Softmax", "Unfold", "functional",
]  # fmt: skip


class AvgPool1D(_nn.AvgPool1D):
    """Means over windows; padding counts unless `count_include_pad` is False."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__(kernel_size, stride, padding, not count_include_pad, ceil_mode)


class AvgPool2D(_nn.AvgPool2D):
    """Means over windows of images; padding counts unless `count_include_pad` is False."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        super().__init__(kernel_size, stride, padding, ceil_mode, not count_include_pad, divisor_override)


class AvgPool3D(_nn.AvgPool3D):
    """Means over windows of volumes; padding counts unless `count_include_pad` is False."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        super().__init__(kernel_size, stride, padding, ceil_mode, not count_include_pad, divisor_override)


AvgPool1d, AvgPool2d, AvgPool3d = AvgPool1D, AvgPool2D, AvgPool3D


class Softmax(_nn.Layer):
    """Softmax along `dim`; without it axis 0 of tensors with 0, 1 or 3 axes, else axis 1."""

    def __init__(self, dim=None):
        super().__init__()
        self._dim = dim

    def forward(self, input):
        return functional.softmax(input, self._dim)

    def extra_repr(self):
        return f"dim={self._dim}"


class Unfold(_nn.Layer):
    """Every patch of an image as a column: [N, C k_h k_w, L]."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_sizes, self.dilations, self.paddings, self.strides = kernel_size, dilation, padding, stride

    def forward(self, input):
        return functional.unfold(input, self.kernel_sizes, self.dilations, self.paddings, self.strides)
