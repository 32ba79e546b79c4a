"""Convolutional networks for small devices."""

import math

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


class ConvBNAct(nn.Sequential):
    def __init__(self, cin, cout, k=3, stride=1, groups=1, act=nn.ReLU6):
        layers = [nn.Conv2D(cin, cout, k, stride, padding=k // 2, groups=groups, bias_attr=False), nn.BatchNorm2D(cout)]
        if act is not None:
            layers.append(act())
        super().__init__(*layers)


class SqueezeExcite(nn.Layer):
    def __init__(self, channels, reduction=4):
        super().__init__()
        self.fc1 = nn.Conv2D(channels, channels // reduction, 1)
        self.fc2 = nn.Conv2D(channels // reduction, channels, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        s = F.hardsigmoid(self.fc2(F.relu(self.fc1(s))), slope=0.1666667, offset=0.5)
        return paddle.multiply(x, s)


class InvertedResidual(nn.Layer):
    def __init__(self, cin, cout, stride, expand, se=False, act=nn.ReLU6, k=3):
        super().__init__()
        hidden = cin * expand
        self.use_shortcut = stride == 1 and cin == cout
        layers = []
        if expand != 1:
            layers.append(ConvBNAct(cin, hidden, 1, act=act))
        layers.append(ConvBNAct(hidden, hidden, k, stride, groups=hidden, act=act))
        if se:
            layers.append(SqueezeExcite(hidden))
        layers.append(ConvBNAct(hidden, cout, 1, act=None))
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        if self.use_shortcut:
            return x + self.conv(x)
        return self.conv(x)


@model("mobilenet_v2_own", lambda n, draw: [draw.image(n, 3, 32, 32)])
class MobileNetV2(nn.Layer):
    """Inverted residuals with ReLU6."""

    settings = [(1, 8, 1, 1), (4, 12, 2, 2), (4, 16, 2, 1)]

    def __init__(self, classes=10):
        super().__init__()
        features, cin = [ConvBNAct(3, 8, 3, 2)], 8
        for t, c, n, s in self.settings:
            for i in range(n):
                features.append(InvertedResidual(cin, c, s if i == 0 else 1, t))
                cin = c
        features.append(ConvBNAct(cin, 64, 1))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(64, classes))

    def forward(self, x):
        x = self.features(x)
        x = nn.functional.adaptive_avg_pool2d(x, 1)
        return self.classifier(paddle.flatten(x, 1))


@model("mobilenet_v3_own", lambda n, draw: [draw.image(n, 3, 32, 32)])
class MobileNetV3(nn.Layer):
    """Squeeze-and-excitation, hard-swish."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = ConvBNAct(3, 8, 3, 2, act=nn.Hardswish)
        self.blocks = nn.Sequential(
            InvertedResidual(8, 8, 1, 1, se=True, act=nn.ReLU),
            InvertedResidual(8, 12, 2, 4, act=nn.ReLU),
            InvertedResidual(12, 12, 1, 4, se=True, act=nn.Hardswish, k=5),
        )
        self.last = ConvBNAct(12, 48, 1, act=nn.Hardswish)
        self.head = nn.Sequential(nn.Linear(48, 64), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(64, classes))

    def forward(self, x):
        x = self.last(self.blocks(self.stem(x)))
        x = F.adaptive_avg_pool2d(x, 1)
        return self.head(x.flatten(start_axis=1))


def channel_shuffle(x, groups):
    b, c, h, w = x.shape
    x = x.reshape([b, groups, c // groups, h, w])
    x = x.transpose([0, 2, 1, 3, 4])
    return x.reshape([b, c, h, w])


class ShuffleUnit(nn.Layer):
    def __init__(self, channels, stride):
        super().__init__()
        self.stride = stride
        half = channels // 2 if stride == 1 else channels
        self.branch = nn.Sequential(
            ConvBNAct(half, half, 1, act=nn.ReLU),
            ConvBNAct(half, half, 3, stride, groups=half, act=None),
            ConvBNAct(half, half, 1, act=nn.ReLU),
        )
        if stride > 1:
            self.shortcut = nn.Sequential(
                ConvBNAct(half, half, 3, stride, groups=half, act=None), ConvBNAct(half, half, 1, act=nn.ReLU)
            )

    def forward(self, x):
        if self.stride == 1:
            x1, x2 = paddle.chunk(x, 2, axis=1)
            out = paddle.concat([x1, self.branch(x2)], axis=1)
        else:
            out = paddle.concat([self.shortcut(x), self.branch(x)], axis=1)
        return channel_shuffle(out, 2)


@model("shufflenet_own", lambda n, draw: [draw.image(n, 3, 32, 32)])
class ShuffleNetV2(nn.Layer):
    """Channel split and shuffle: reshapes with an open batch size."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = ConvBNAct(3, 16, 3, 2, act=nn.ReLU)
        self.units = nn.LayerList([ShuffleUnit(16, 2), ShuffleUnit(32, 1), ShuffleUnit(32, 2), ShuffleUnit(64, 1)])
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = self.stem(x)
        for unit in self.units:
            x = unit(x)
        return self.fc(paddle.mean(x, axis=[2, 3]))


class GhostModule(nn.Layer):
    def __init__(self, cin, cout, ratio=2):
        super().__init__()
        self.cout = cout
        primary = int(math.ceil(cout / ratio))
        self.primary = ConvBNAct(cin, primary, 1, act=nn.ReLU)
        self.cheap = ConvBNAct(primary, primary * (ratio - 1), 3, groups=primary, act=nn.ReLU)

    def forward(self, x):
        x1 = self.primary(x)
        out = paddle.concat([x1, self.cheap(x1)], axis=1)
        return out[:, : self.cout, :, :]


@model("ghostnet", lambda n, draw: [draw.image(n, 3, 32, 32)])
class GhostNet(nn.Layer):
    """Half of the channels made by cheap operations, then sliced."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = ConvBNAct(3, 9, 3, 2, act=nn.ReLU)
        self.ghost1 = GhostModule(9, 19)
        self.down = ConvBNAct(19, 19, 3, 2, groups=19, act=None)
        self.ghost2 = GhostModule(19, 33)
        self.fc = nn.Linear(33, classes)

    def forward(self, x):
        x = self.ghost2(self.down(self.ghost1(self.stem(x))))
        return self.fc(F.adaptive_avg_pool2d(x, output_size=1).squeeze(-1).squeeze(-1))


class MBConv(nn.Layer):
    def __init__(self, cin, cout, stride, expand, k, drop):
        super().__init__()
        hidden = cin * expand
        self.drop = drop
        self.skip = stride == 1 and cin == cout
        self.expand = ConvBNAct(cin, hidden, 1, act=nn.Swish)
        self.depthwise = ConvBNAct(hidden, hidden, k, stride, groups=hidden, act=nn.Swish)
        self.reduce = nn.Conv2D(hidden, max(1, cin // 4), 1)
        self.restore = nn.Conv2D(max(1, cin // 4), hidden, 1)
        self.project = ConvBNAct(hidden, cout, 1, act=None)

    def forward(self, inputs):
        x = self.depthwise(self.expand(inputs))
        s = F.adaptive_avg_pool2d(x, 1)
        s = self.restore(F.swish(self.reduce(s)))
        x = self.project(F.sigmoid(s) * x)
        if not self.skip:
            return x
        if self.training and self.drop > 0:  # stochastic depth
            keep = 1 - self.drop
            mask = paddle.floor(keep + paddle.rand([inputs.shape[0], 1, 1, 1], dtype=x.dtype))
            x = x / keep * mask
        return x + inputs


@model("efficientnet", lambda n, draw: [draw.image(n, 3, 32, 32)])
class EfficientNet(nn.Layer):
    """MBConv with swish, squeeze-excitation and stochastic depth."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = ConvBNAct(3, 8, 3, 2, act=nn.Swish)
        blocks = [(8, 8, 1, 1, 3), (8, 12, 2, 4, 3), (12, 12, 1, 4, 5), (12, 20, 2, 4, 5)]
        self.blocks = nn.LayerList(
            [MBConv(*args, drop=0.2 * i / len(blocks)) for i, args in enumerate(blocks)]
        )
        self.top = ConvBNAct(20, 64, 1, act=nn.Swish)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = F.adaptive_avg_pool2d(self.top(x), 1)
        x = F.dropout(x.flatten(1), p=0.2, training=self.training)
        return self.fc(x)
