"""SqueezeNet (Iandola et al., 2016, https://arxiv.org/abs/1602.07360)."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle import nn

from .weights import load_pretrained

__all__ = []


class _ConvReLU(nn.Layer):
    def __init__(self, inputs, outputs, size, padding=0):
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, padding=padding)

    def forward(self, x):
        return F.relu(self._conv(x))


class _Fire(nn.Layer):
    """1 by 1 to few channels, then 1 by 1 and 3 by 3 side by side."""

    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self._conv = _ConvReLU(inputs, squeeze, 1)
        self._conv_path1 = _ConvReLU(squeeze, expand, 1)
        self._conv_path2 = _ConvReLU(squeeze, expand, 3, 1)

    def forward(self, x):
        x = self._conv(x)
        return paddle.concat([self._conv_path1(x), self._conv_path2(x)], axis=1)


_FIRES = [(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]
# Before which of these a pooling stands, counted from 1.
_POOLS = {"1.0": (1, 4, 8), "1.1": (1, 3, 5)}


class SqueezeNet(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits.

    Args:
        version (str): "1.0" or "1.1".
        num_classes (int): <= 0 leaves the last layers out.
        with_pool (bool): whether the spatial dimensions are averaged away.

    Raises:
        ValueError: another version.
    """

    def __init__(self, version, num_classes=1000, with_pool=True):
        super().__init__()
        if version not in _POOLS:
            raise ValueError(f"[SqueezeNet] expected version '1.0' or '1.1', got {version!r}")
        self.version, self.num_classes, self.with_pool = version, num_classes, with_pool
        first = 96 if version == "1.0" else 64
        self._conv = nn.Conv2D(3, first, 7, 2) if version == "1.0" else nn.Conv2D(3, first, 3, 2, padding=1)
        self._pool = nn.MaxPool2D(3, 2)
        channels = first
        for i, (squeeze, expand) in enumerate(_FIRES, 1):
            setattr(self, f"_conv{i}", _Fire(channels, squeeze, expand))
            channels = 2 * expand
        self._drop = nn.Dropout(0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(512, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, x):
        x = F.relu(self._conv(x))
        for i in range(1, 9):
            if i in _POOLS[self.version]:
                x = self._pool(x)
            x = getattr(self, f"_conv{i}")(x)
        if self.num_classes > 0:
            x = F.relu(self._conv9(self._drop(x)))
        return paddle.squeeze(self._avg_pool(x), axis=[2, 3]) if self.with_pool else x


def _build(version, pretrained, **kwargs):
    model = SqueezeNet(version, **kwargs)
    load_pretrained(model, "squeezenet" + version.replace(".", "_"), pretrained)
    return model


def squeezenet1_0(pretrained=False, **kwargs):
    """SqueezeNet 1.0; keywords as `SqueezeNet`."""
    return _build("1.0", pretrained, **kwargs)


def squeezenet1_1(pretrained=False, **kwargs):
    """SqueezeNet 1.1, at less than half the cost; keywords as `SqueezeNet`."""
    return _build("1.1", pretrained, **kwargs)
