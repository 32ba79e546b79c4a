"""MobileNet, third version (Howard et al., 2019, https://arxiv.org/abs/1905.02244)."""

from __future__ import annotations

from functools import partial

import paddle
from paddle import nn

from ..conv_norm import ConvNormActivation
from .mobilenet import divisible
from .weights import load_pretrained

__all__ = []

_NORM = partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)
_RE, _HS = nn.ReLU, nn.Hardswish

# Inputs, kernel, widened, outputs, with squeeze and excitation, activation, stride.
_SMALL = [
    (16, 3, 16, 16, True, _RE, 2), (16, 3, 72, 24, False, _RE, 2), (24, 3, 88, 24, False, _RE, 1),
    (24, 5, 96, 40, True, _HS, 2), (40, 5, 240, 40, True, _HS, 1), (40, 5, 240, 40, True, _HS, 1),
    (40, 5, 120, 48, True, _HS, 1), (48, 5, 144, 48, True, _HS, 1), (48, 5, 288, 96, True, _HS, 2),
    (96, 5, 576, 96, True, _HS, 1), (96, 5, 576, 96, True, _HS, 1),
]  # fmt: skip
_LARGE = [
    (16, 3, 16, 16, False, _RE, 1), (16, 3, 64, 24, False, _RE, 2), (24, 3, 72, 24, False, _RE, 1),
    (24, 5, 72, 40, True, _RE, 2), (40, 5, 120, 40, True, _RE, 1), (40, 5, 120, 40, True, _RE, 1),
    (40, 3, 240, 80, False, _HS, 2), (80, 3, 200, 80, False, _HS, 1), (80, 3, 184, 80, False, _HS, 1),
    (80, 3, 184, 80, False, _HS, 1), (80, 3, 480, 112, True, _HS, 1), (112, 3, 672, 112, True, _HS, 1),
    (112, 5, 672, 160, True, _HS, 2), (160, 5, 960, 160, True, _HS, 1), (160, 5, 960, 160, True, _HS, 1),
]  # fmt: skip


class _SqueezeExcitation(nn.Layer):
    """Channels weighted by what all pixels say (Hu et al., 2017, https://arxiv.org/abs/1709.01507)."""

    def __init__(self, channels, squeezed):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(channels, squeezed, 1)
        self.fc2 = nn.Conv2D(squeezed, channels, 1)
        self.activation = nn.ReLU()
        self.scale_activation = nn.Hardsigmoid()

    def forward(self, x):
        return x * self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x)))))


class _InvertedResidual(nn.Layer):
    """Widened, convolved per channel, weighted, narrowed; added to the input where the shapes agree."""

    def __init__(self, inputs, size, hidden, outputs, squeezes, act, stride):
        super().__init__()
        self.use_res_connect = stride == 1 and inputs == outputs
        self._use_se, self._widens = squeezes, inputs != hidden
        if self._widens:
            self.expand_conv = ConvNormActivation(inputs, hidden, 1, norm_layer=_NORM, activation_layer=act)
        self.bottleneck_conv = ConvNormActivation(
            hidden, hidden, size, stride, size // 2, hidden, norm_layer=_NORM, activation_layer=act
        )
        if squeezes:
            self.mid_se = _SqueezeExcitation(hidden, divisible(hidden // 4))
        self.linear_conv = ConvNormActivation(hidden, outputs, 1, norm_layer=_NORM, activation_layer=None)

    def forward(self, x):
        out = self.bottleneck_conv(self.expand_conv(x) if self._widens else x)
        if self._use_se:
            out = self.mid_se(out)
        out = self.linear_conv(out)
        return x + out if self.use_res_connect else out


class MobileNetV3(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits.

    Args:
        config (list): of each block inputs, kernel, widened, outputs, with squeeze and excitation, activation, stride.
        last_channel (int): of the hidden linear layer.
        scale (float): of the numbers of channels.
        num_classes (int): <= 0 leaves the last layers out.
        with_pool (bool): whether the spatial dimensions are averaged away.
    """

    def __init__(self, config, last_channel, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__()
        self.config, self.scale, self.last_channel = config, scale, last_channel
        self.num_classes, self.with_pool = num_classes, with_pool
        wide = lambda n: divisible(n * scale)  # noqa: E731
        last = wide(config[-1][3])
        self.lastconv_in_channels, self.lastconv_out_channels = last, 6 * last
        self.conv = ConvNormActivation(3, wide(config[0][0]), 3, 2, 1, norm_layer=_NORM, activation_layer=_HS)
        self.blocks = nn.Sequential(
            *(
                _InvertedResidual(wide(inputs), size, wide(hidden), wide(outputs), squeezes, act, stride)
                for inputs, size, hidden, outputs, squeezes, act, stride in config
            )
        )
        self.lastconv = ConvNormActivation(last, 6 * last, 1, norm_layer=_NORM, activation_layer=_HS)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(6 * last, last_channel), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(last_channel, num_classes)
            )

    def forward(self, x):
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(paddle.flatten(x, 1)) if self.num_classes > 0 else x


class MobileNetV3Small(MobileNetV3):
    """The small network; the arguments are those of `MobileNetV1`."""

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__(_SMALL, divisible(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """The large network; the arguments are those of `MobileNetV1`."""

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__(_LARGE, divisible(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained=False, scale=1.0, **kwargs):
    """The small MobileNet of the third version; keywords as `MobileNetV3Small`."""
    model = MobileNetV3Small(scale, **kwargs)
    load_pretrained(model, f"mobilenet_v3_small_x{scale}", pretrained)
    return model


def mobilenet_v3_large(pretrained=False, scale=1.0, **kwargs):
    """The large MobileNet of the third version; keywords as `MobileNetV3Large`."""
    model = MobileNetV3Large(scale, **kwargs)
    load_pretrained(model, f"mobilenet_v3_large_x{scale}", pretrained)
    return model
