"""Rearranging the channels of images."""

from __future__ import annotations

from .. import functional as F
from .layers import Layer

__all__ = []


def _check_format(data_format):
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"Data format should be 'NCHW' or 'NHWC'.But receive data format: {data_format}")


def _tail(layer):
    text = f", data_format={layer._data_format}" if layer._data_format != "NCHW" else ""
    return text + (f", name={layer._name}" if layer._name is not None else "")


class PixelShuffle(Layer):
    """[N, C * r^2, H, W] to [N, C, H * r, W * r], r = `upscale_factor` (int)."""

    def __init__(self, upscale_factor, data_format="NCHW", name=None):
        super().__init__()
        if not isinstance(upscale_factor, int):
            raise TypeError("upscale factor must be int type")
        _check_format(data_format)
        self._upscale_factor = upscale_factor
        self._data_format = data_format
        self._name = name

    def forward(self, x):
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format, self._name)

    def extra_repr(self):
        return f"upscale_factor={self._upscale_factor}" + _tail(self)


class PixelUnshuffle(Layer):
    """[N, C, H, W] to [N, C * r^2, H / r, W / r], r = `downscale_factor` (int)."""

    def __init__(self, downscale_factor, data_format="NCHW", name=None):
        super().__init__()
        if not isinstance(downscale_factor, int):
            raise TypeError("Downscale factor must be int type")
        if downscale_factor <= 0:
            raise ValueError("Downscale factor must be positive")
        _check_format(data_format)
        self._downscale_factor = downscale_factor
        self._data_format = data_format
        self._name = name

    def forward(self, x):
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format, self._name)

    def extra_repr(self):
        return f"downscale_factor={self._downscale_factor}" + _tail(self)


class ChannelShuffle(Layer):
    """Interleaves `groups` groups of channels of [N, C, H, W]."""

    def __init__(self, groups, data_format="NCHW", name=None):
        super().__init__()
        if not isinstance(groups, int):
            raise TypeError("groups must be int type")
        if groups <= 0:
            raise ValueError("groups must be positive")
        _check_format(data_format)
        self._groups = groups
        self._data_format = data_format
        self._name = name

    def forward(self, x):
        return F.channel_shuffle(x, self._groups, self._data_format, self._name)

    def extra_repr(self):
        return f"groups={self._groups}" + _tail(self)
