"""Residual networks.

Sources: He et al., 2015 (https://arxiv.org/abs/1512.03385); Xie et al., 2016, ResNeXt (https://arxiv.org/abs/1611.05431);
Zagoruyko and Komodakis, 2016, Wide residual networks (https://arxiv.org/abs/1605.07146).
"""

from __future__ import annotations

import paddle
from paddle import nn

from .weights import load_pretrained

__all__ = []


class BasicBlock(nn.Layer):
    """Two 3 by 3 convolutions and a shortcut."""

    expansion = 1

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None
    ):
        super().__init__()
        norm_layer = nn.BatchNorm2D if norm_layer is None else norm_layer
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        shortcut = x if self.downsample is None else self.downsample(x)
        return self.relu(out + shortcut)


class BottleneckBlock(nn.Layer):
    """1 by 1, 3 by 3 and 1 by 1 convolutions and a shortcut; the output has four times `planes` channels."""

    expansion = 4

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None
    ):
        super().__init__()
        norm_layer = nn.BatchNorm2D if norm_layer is None else norm_layer
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm_layer(width)
        self.conv2 = nn.Conv2D(
            width, width, 3, padding=dilation, stride=stride, groups=groups, dilation=dilation, bias_attr=False
        )
        self.bn2 = norm_layer(width)
        self.conv3 = nn.Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        shortcut = x if self.downsample is None else self.downsample(x)
        return self.relu(out + shortcut)


_DEPTHS = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3]}


class ResNet(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits.

    Args:
        block (type): BasicBlock or BottleneckBlock.
        depth (int): 18, 34, 50, 101 or 152.
        width (int): base width of a group. groups (int): groups of the 3 by 3 convolutions.
        num_classes (int): <= 0 leaves the last layer out.
        with_pool (bool): whether the spatial dimensions are averaged away.
    """

    def __init__(self, block, depth=50, width=64, num_classes=1000, with_pool=True, groups=1):
        super().__init__()
        self.groups = groups
        self.base_width = width
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._norm_layer = nn.BatchNorm2D
        self.inplanes = 64
        self.dilation = 1
        self.conv1 = nn.Conv2D(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = self._norm_layer(self.inplanes)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        counts = _DEPTHS[depth]
        self.layer1 = self._make_layer(block, 64, counts[0])
        self.layer2 = self._make_layer(block, 128, counts[1], stride=2)
        self.layer3 = self._make_layer(block, 256, counts[2], stride=2)
        self.layer4 = self._make_layer(block, 512, counts[3], stride=2)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, planes * block.expansion, 1, stride=stride, bias_attr=False),
                self._norm_layer(planes * block.expansion),
            )
        layers = [
            block(self.inplanes, planes, stride, downsample, self.groups, self.base_width, norm_layer=self._norm_layer)
        ]
        self.inplanes = planes * block.expansion
        for _ in range(1, blocks):
            layers.append(
                block(
                    self.inplanes,
                    planes,
                    groups=self.groups,
                    base_width=self.base_width,
                    norm_layer=self._norm_layer,
                )
            )
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.fc(paddle.flatten(x, 1))
        return x


def _build(name, block, depth, pretrained, **kwargs):
    model = ResNet(block, depth, **kwargs)
    load_pretrained(model, name, pretrained)
    return model


def resnet18(pretrained=False, **kwargs):
    """ResNet of 18 layers; keywords as `ResNet`."""
    return _build("resnet18", BasicBlock, 18, pretrained, **kwargs)


def resnet34(pretrained=False, **kwargs):
    """ResNet of 34 layers; keywords as `ResNet`."""
    return _build("resnet34", BasicBlock, 34, pretrained, **kwargs)


def resnet50(pretrained=False, **kwargs):
    """ResNet of 50 layers; keywords as `ResNet`."""
    return _build("resnet50", BottleneckBlock, 50, pretrained, **kwargs)


def resnet101(pretrained=False, **kwargs):
    """ResNet of 101 layers; keywords as `ResNet`."""
    return _build("resnet101", BottleneckBlock, 101, pretrained, **kwargs)


def resnet152(pretrained=False, **kwargs):
    """ResNet of 152 layers; keywords as `ResNet`."""
    return _build("resnet152", BottleneckBlock, 152, pretrained, **kwargs)


def wide_resnet50_2(pretrained=False, **kwargs):
    """ResNet of 50 layers with bottlenecks twice as wide."""
    return _build("wide_resnet50_2", BottleneckBlock, 50, pretrained, **{"width": 64 * 2, **kwargs})


def wide_resnet101_2(pretrained=False, **kwargs):
    """ResNet of 101 layers with bottlenecks twice as wide."""
    return _build("wide_resnet101_2", BottleneckBlock, 101, pretrained, **{"width": 64 * 2, **kwargs})


def resnext50_32x4d(pretrained=False, **kwargs):
    """ResNeXt of 50 layers, 32 groups of width 4."""
    return _build("resnext50_32x4d", BottleneckBlock, 50, pretrained, **{"groups": 32, "width": 4, **kwargs})


def resnext50_64x4d(pretrained=False, **kwargs):
    """ResNeXt of 50 layers, 64 groups of width 4."""
    return _build("resnext50_64x4d", BottleneckBlock, 50, pretrained, **{"groups": 64, "width": 4, **kwargs})


def resnext101_32x4d(pretrained=False, **kwargs):
    """ResNeXt of 101 layers, 32 groups of width 4."""
    return _build("resnext101_32x4d", BottleneckBlock, 101, pretrained, **{"groups": 32, "width": 4, **kwargs})


def resnext101_64x4d(pretrained=False, **kwargs):
    """ResNeXt of 101 layers, 64 groups of width 4."""
    return _build("resnext101_64x4d", BottleneckBlock, 101, pretrained, **{"groups": 64, "width": 4, **kwargs})


def resnext152_32x4d(pretrained=False, **kwargs):
    """ResNeXt of 152 layers, 32 groups of width 4."""
    return _build("resnext152_32x4d", BottleneckBlock, 152, pretrained, **{"groups": 32, "width": 4, **kwargs})


def resnext152_64x4d(pretrained=False, **kwargs):
    """ResNeXt of 152 layers, 64 groups of width 4."""
    return _build("resnext152_64x4d", BottleneckBlock, 152, pretrained, **{"groups": 64, "width": 4, **kwargs})
