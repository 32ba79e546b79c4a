"""Convolutional networks with skip connections."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


def conv_bn(cin, cout, k=3, stride=1, groups=1, act=True):
    layers = [nn.Conv2D(cin, cout, k, stride, padding=k // 2, groups=groups, bias_attr=False), nn.BatchNorm2D(cout)]
    return nn.Sequential(*layers, nn.ReLU()) if act else nn.Sequential(*layers)


class Bottleneck(nn.Layer):
    def __init__(self, cin, width, stride=1, expansion=2):
        super().__init__()
        cout = width * expansion
        self.conv1 = conv_bn(cin, width, 1)
        self.conv2 = conv_bn(width, width, 3, stride)
        self.conv3 = conv_bn(width, cout, 1, act=False)
        self.downsample = None
        if stride != 1 or cin != cout:
            self.downsample = conv_bn(cin, cout, 1, stride, act=False)

    def forward(self, x):
        identity = x
        out = self.conv3(self.conv2(self.conv1(x)))
        if self.downsample is not None:
            identity = self.downsample(x)
        return F.relu(out + identity)


@model("resnet", lambda n, draw: [draw.image(n, 3, 32, 32)])
class ResNet(nn.Layer):
    """Bottleneck blocks in four stages."""

    def __init__(self, depths=(1, 2, 1), widths=(8, 16, 32), classes=10):
        super().__init__()
        self.stem = conv_bn(3, 16)
        stages, cin = [], 16
        for i, (depth, width) in enumerate(zip(depths, widths)):
            blocks = []
            for j in range(depth):
                blocks.append(Bottleneck(cin, width, stride=2 if j == 0 and i > 0 else 1))
                cin = width * 2
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.LayerList(stages)
        self.fc = nn.Linear(cin, classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


@model("densenet", lambda n, draw: [draw.image(n, 3, 32, 32)])
class DenseNet(nn.Layer):
    """Each layer reads all the earlier ones: a list that grows in a loop."""

    def __init__(self, growth=8, layers=4, classes=10):
        super().__init__()
        self.stem = nn.Conv2D(3, 16, 3, padding=1)
        self.dense = nn.LayerList()
        channels = 16
        for _ in range(layers):
            self.dense.append(
                nn.Sequential(nn.BatchNorm2D(channels), nn.ReLU(), nn.Conv2D(channels, growth, 3, padding=1))
            )
            channels += growth
        self.transition = nn.Sequential(nn.BatchNorm2D(channels), nn.Conv2D(channels, channels // 2, 1), nn.AvgPool2D(2))
        self.fc = nn.Linear(channels // 2, classes)

    def forward(self, x):
        features = [self.stem(x)]
        for layer in self.dense:
            features.append(layer(paddle.concat(features, 1)))
        x = self.transition(paddle.concat(features, 1))
        return self.fc(x.mean([2, 3]))


class Res2Block(nn.Layer):
    def __init__(self, channels, scales=4):
        super().__init__()
        self.scales = scales
        width = channels // scales
        self.convs = nn.LayerList([conv_bn(width, width) for _ in range(scales - 1)])
        self.last = conv_bn(channels, channels, 1, act=False)

    def forward(self, x):
        parts = paddle.split(x, self.scales, axis=1)
        outs, previous = [parts[0]], None
        for part, conv in zip(parts[1:], self.convs):
            previous = conv(part if previous is None else part + previous)
            outs.append(previous)
        return F.relu(x + self.last(paddle.concat(outs, axis=1)))


@model("res2net", lambda n, draw: [draw.image(n, 3, 32, 32)])
class Res2Net(nn.Layer):
    """Hierarchical residuals within a block."""

    def __init__(self, classes=10):
        super().__init__()
        self.body = nn.Sequential(conv_bn(3, 16, stride=2), Res2Block(16), conv_bn(16, 32, stride=2), Res2Block(32))
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.body(x).mean(axis=[-2, -1]))


@model("hrnet", lambda n, draw: [draw.image(n, 3, 32, 32)])
class HRNet(nn.Layer):
    """Branches of several resolutions that exchange by down- and upsampling."""

    def __init__(self, widths=(8, 16), rounds=2, classes=10):
        super().__init__()
        a, b = widths
        self.stem = conv_bn(3, a, stride=2)
        self.split = conv_bn(a, b, stride=2)
        self.high = nn.LayerList([conv_bn(a, a) for _ in range(rounds)])
        self.low = nn.LayerList([conv_bn(b, b) for _ in range(rounds)])
        self.down = nn.LayerList([conv_bn(a, b, stride=2, act=False) for _ in range(rounds)])
        self.up = nn.LayerList([conv_bn(b, a, 1, act=False) for _ in range(rounds)])
        self.head = nn.Conv2D(a + b, classes, 1)

    def forward(self, x):
        high = self.stem(x)
        low = self.split(high)
        for ch, cl, down, up in zip(self.high, self.low, self.down, self.up):
            h, l = ch(high), cl(low)
            high = F.relu(h + F.interpolate(up(l), size=h.shape[2:], mode="nearest"))
            low = F.relu(l + down(h))
        low = F.interpolate(low, scale_factor=2, mode="bilinear", align_corners=False)
        return self.head(paddle.concat([high, low], axis=1))


@model("cspnet", lambda n, draw: [draw.image(n, 3, 32, 32)])
class CSPNet(nn.Layer):
    """Cross-stage partial connections with SiLU."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 24, 6, 2, 2), nn.BatchNorm2D(24), nn.Silu())
        self.left = nn.Conv2D(24, 12, 1)
        self.right = nn.Conv2D(24, 12, 1)
        self.blocks = nn.LayerList([nn.Conv2D(12, 12, 3, padding=1) for _ in range(3)])
        self.fuse = nn.Sequential(nn.Conv2D(24, 32, 1, bias_attr=False), nn.BatchNorm2D(32), nn.Silu())
        self.fc = nn.Linear(32 * 3, classes)

    def forward(self, x):
        x = self.stem(x)
        left, right = self.left(x), F.silu(self.right(x))
        for block in self.blocks:
            right = right + F.silu(block(right))
        x = self.fuse(paddle.concat((left, right), axis=1))
        pools = [x]
        for _ in range(2):
            pools.append(F.max_pool2d(pools[-1], 5, stride=1, padding=2))
        x = paddle.concat(pools, axis=1)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class RepVGGBlock(nn.Layer):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv3 = conv_bn(cin, cout, 3, stride, act=False)
        self.conv1 = conv_bn(cin, cout, 1, stride, act=False)
        self.identity = nn.BatchNorm2D(cin) if cin == cout and stride == 1 else None

    def forward(self, x):
        out = self.conv3(x) + self.conv1(x)
        if self.identity is not None:
            out += self.identity(x)
        return F.relu(out)


@model("repvgg", lambda n, draw: [draw.image(n, 3, 32, 32)])
class RepVGG(nn.Layer):
    """Three parallel branches a block, summed in place."""

    def __init__(self, classes=10):
        super().__init__()
        self.blocks = nn.Sequential(
            RepVGGBlock(3, 16, 2), RepVGGBlock(16, 16, 1), RepVGGBlock(16, 32, 2), RepVGGBlock(32, 32, 1)
        )
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        x = self.blocks(x)
        return self.fc(paddle.mean(x, axis=(2, 3)))


class ConvNeXtBlock(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2D(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, epsilon=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = self.create_parameter([dim], default_initializer=nn.initializer.Constant(0.1))

    def forward(self, x):
        y = self.dwconv(x).transpose([0, 2, 3, 1])
        y = self.gamma * self.pwconv2(F.gelu(self.pwconv1(self.norm(y))))
        return x + y.transpose([0, 3, 1, 2])


@model("convnext", lambda n, draw: [draw.image(n, 3, 32, 32)])
class ConvNeXt(nn.Layer):
    """Depthwise 7x7, layer norm in channels-last, layer scale."""

    def __init__(self, dims=(16, 32), classes=10):
        super().__init__()
        self.stem = nn.Conv2D(3, dims[0], 4, stride=4)
        self.stage1 = nn.Sequential(ConvNeXtBlock(dims[0]), ConvNeXtBlock(dims[0]))
        self.down = nn.Conv2D(dims[0], dims[1], 2, stride=2)
        self.stage2 = nn.Sequential(ConvNeXtBlock(dims[1]), ConvNeXtBlock(dims[1]))
        self.norm = nn.LayerNorm(dims[1])
        self.head = nn.Linear(dims[1], classes)

    def forward(self, x):
        x = self.stage2(self.down(self.stage1(self.stem(x))))
        return self.head(self.norm(x.mean([-2, -1])))
