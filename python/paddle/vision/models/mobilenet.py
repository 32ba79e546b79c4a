"""MobileNets (Howard et al., 2017, https://arxiv.org/abs/1704.04861; Sandler et al., 2018,
https://arxiv.org/abs/1801.04381)."""

from __future__ import annotations

import paddle
from paddle import nn

from ..conv_norm import ConvNormActivation
from .weights import load_pretrained

__all__ = []


class _Separable(nn.Layer):
    """A convolution per channel, then one across channels."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self._depthwise_conv = ConvNormActivation(inputs, inputs, 3, stride, groups=inputs)
        self._pointwise_conv = ConvNormActivation(inputs, outputs, 1)

    def forward(self, x):
        return self._pointwise_conv(self._depthwise_conv(x))


_V1 = [
    ("conv2_1", 32, 64, 1), ("conv2_2", 64, 128, 2), ("conv3_1", 128, 128, 1), ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1), ("conv4_2", 256, 512, 2), *((f"conv5_{i}", 512, 512, 1) for i in range(1, 6)),
    ("conv5_6", 512, 1024, 2), ("conv6", 1024, 1024, 1),
]  # fmt: skip


class MobileNetV1(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits.

    Args:
        scale (float): of the numbers of channels.
        num_classes (int): <= 0 leaves the last layer out.
        with_pool (bool): whether the spatial dimensions are averaged away.
    """

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__()
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        self.conv1 = ConvNormActivation(3, int(32 * scale), 3, 2)
        for name, inputs, outputs, stride in _V1:
            setattr(self, name, _Separable(int(inputs * scale), int(outputs * scale), stride))
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = nn.Linear(int(1024 * scale), num_classes)

    def forward(self, x):
        x = self.conv1(x)
        for name, *_ in _V1:
            x = getattr(self, name)(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.fc(paddle.flatten(x, 1)) if self.num_classes > 0 else x


class _InvertedResidual(nn.Layer):
    """Widened, convolved per channel, narrowed; added to the input where the shapes agree."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = int(round(inputs * expansion))
        self.use_res_connect = stride == 1 and inputs == outputs
        layers = [ConvNormActivation(inputs, hidden, 1, activation_layer=nn.ReLU6)] if expansion != 1 else []
        layers += [
            ConvNormActivation(hidden, hidden, 3, stride, groups=hidden, activation_layer=nn.ReLU6),
            nn.Conv2D(hidden, outputs, 1, bias_attr=False),
            nn.BatchNorm2D(outputs),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


def divisible(value, divisor=8):
    """The multiple of `divisor` near `value`, not below nine tenths of it."""
    rounded = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


_V2 = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


class MobileNetV2(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits; the arguments are those of `MobileNetV1`."""

    def __init__(self, scale=1.0, num_classes=1000, with_pool=True):
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        channels, last = divisible(32 * scale), divisible(1280 * max(1.0, scale))
        features = [ConvNormActivation(3, channels, 3, 2, activation_layer=nn.ReLU6)]
        for expansion, width, count, stride in _V2:
            outputs = divisible(width * scale)
            for i in range(count):
                features.append(_InvertedResidual(channels, outputs, stride if i == 0 else 1, expansion))
                channels = outputs
        features.append(ConvNormActivation(channels, last, 1, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*features)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, num_classes))

    def forward(self, x):
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.classifier(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def mobilenet_v1(pretrained=False, scale=1.0, **kwargs):
    """MobileNet of the first version; keywords as `MobileNetV1`."""
    model = MobileNetV1(scale, **kwargs)
    load_pretrained(model, f"mobilenetv1_{scale}", pretrained)
    return model


def mobilenet_v2(pretrained=False, scale=1.0, **kwargs):
    """MobileNet of the second version; keywords as `MobileNetV2`."""
    model = MobileNetV2(scale, **kwargs)
    load_pretrained(model, f"mobilenetv2_{scale}", pretrained)
    return model
