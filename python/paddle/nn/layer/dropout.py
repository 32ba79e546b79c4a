"""Dropout layers: active in training mode."""

from __future__ import annotations

from .. import functional as F
from .layers import Layer

__all__ = []


class Dropout(Layer):
    """`paddle.nn.functional.dropout` as a layer; active in training mode."""

    def __init__(self, p=0.5, inplace=False, axis=None, mode="upscale_in_train", name=None):
        super().__init__()
        self.p = p
        self.inplace = inplace
        self.axis = axis
        self.mode = mode
        self.name = name

    def forward(self, input):
        return F.dropout(input, p=self.p, axis=self.axis, training=self.training, inplace=self.inplace, mode=self.mode)

    def extra_repr(self):
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}, inplace={self.inplace}{name}"


class _ChannelDropout(Layer):
    def extra_repr(self):
        return f"p={self.p}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class Dropout2D(_ChannelDropout):
    """Zeroes whole channels of [N, C, H, W] with probability `p` in training mode."""

    def __init__(self, p=0.5, data_format="NCHW", name=None):
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.data_format, self.name)


class Dropout3D(_ChannelDropout):
    """Zeroes whole channels of [N, C, D, H, W] with probability `p` in training mode."""

    def __init__(self, p=0.5, data_format="NCDHW", name=None):
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.data_format, self.name)


class AlphaDropout(Layer):
    """Dropout for selu networks, with probability `p` in training mode."""

    def __init__(self, p=0.5, name=None):
        super().__init__()
        self.p = p
        self.name = name

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training, self.name)

    def extra_repr(self):
        return f"p={self.p}" + (f", name={self.name}" if self.name else "")


class FeatureAlphaDropout(AlphaDropout):
    """`AlphaDropout` of whole channels."""

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training, self.name)
