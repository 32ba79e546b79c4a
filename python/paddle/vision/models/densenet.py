"""DenseNet (Huang et al., 2016, https://arxiv.org/abs/1608.06993)."""

from __future__ import annotations

import paddle
from paddle import nn

from .weights import load_pretrained

__all__ = []

# Channels at first, channels that a layer adds, layers of each block.
_KINDS = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
    264: (64, 32, [6, 12, 64, 48]),
}


class _NormConv(nn.Layer):
    """Normalisation, ReLU, convolution."""

    def __init__(self, inputs, outputs, size):
        super().__init__()
        self._batch_norm = nn.BatchNorm(inputs, act="relu")
        self._conv = nn.Conv2D(inputs, outputs, size, padding=size // 2, bias_attr=False)

    def forward(self, x):
        return self._conv(self._batch_norm(x))


class _ConvNorm(nn.Layer):
    """Convolution, normalisation, ReLU."""

    def __init__(self, inputs, outputs, size, stride, padding):
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, stride, padding, bias_attr=False)
        self._batch_norm = nn.BatchNorm(outputs, act="relu")

    def forward(self, x):
        return self._batch_norm(self._conv(x))


class _DenseLayer(nn.Layer):
    """Adds channels to its input."""

    def __init__(self, inputs, growth, bn_size, dropout):
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = _NormConv(inputs, bn_size * growth, 1)
        self.bn_ac_func2 = _NormConv(bn_size * growth, growth, 3)
        if dropout:
            self.dropout_func = nn.Dropout(dropout, mode="downscale_in_infer")

    def forward(self, x):
        added = self.bn_ac_func2(self.bn_ac_func1(x))
        if self.dropout:
            added = self.dropout_func(added)
        return paddle.concat([x, added], axis=1)


class _DenseBlock(nn.Layer):
    def __init__(self, name, inputs, layers, growth, bn_size, dropout):
        super().__init__()
        for i in range(layers):
            self.add_sublayer(f"{name}_{i + 1}", _DenseLayer(inputs + i * growth, growth, bn_size, dropout))

    def forward(self, x):
        for layer in self.children():
            x = layer(x)
        return x


class _Transition(nn.Layer):
    """Half the channels, a quarter of the pixels."""

    def __init__(self, inputs):
        super().__init__()
        self.conv_ac_func = _NormConv(inputs, inputs // 2, 1)
        self.pool2d_avg = nn.AvgPool2D(2, 2)

    def forward(self, x):
        return self.pool2d_avg(self.conv_ac_func(x))


class DenseNet(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits.

    Args:
        layers (int): 121, 161, 169, 201 or 264.
        bn_size (int): how many times the added channels a layer's narrow part has.
        dropout (float): in every layer.
        num_classes (int): <= 0 leaves the last layer out.
        with_pool (bool): whether the spatial dimensions are averaged away.

    Raises:
        AssertionError: another number of layers.
    """

    def __init__(self, layers=121, bn_size=4, dropout=0.0, num_classes=1000, with_pool=True):
        super().__init__()
        if layers not in _KINDS:
            raise AssertionError(f"supported layers are {list(_KINDS)} but input layer is {layers}")
        self.num_classes, self.with_pool = num_classes, with_pool
        channels, growth, blocks = _KINDS[layers]
        self.conv1_func = _ConvNorm(3, channels, 7, 2, 3)
        self.pool2d_max = nn.MaxPool2D(3, 2, 1)
        self._blocks = []
        for i, count in enumerate(blocks, 2):
            block = _DenseBlock(f"conv{i}", channels, count, growth, bn_size, dropout)
            self._blocks.append(self.add_sublayer(f"db_conv_{i}", block))
            channels += count * growth
            if i < len(blocks) + 1:
                self._blocks.append(self.add_sublayer(f"tr_conv{i}_blk", _Transition(channels)))
                channels //= 2
        self.batch_norm = nn.BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = channels**-0.5
            weight = paddle.ParamAttr(initializer=nn.initializer.Uniform(-bound, bound))
            self.out = nn.Linear(channels, num_classes, weight_attr=weight)

    def forward(self, x):
        x = self.pool2d_max(self.conv1_func(x))
        for block in self._blocks:
            x = block(x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        return self.out(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def _build(layers, pretrained, **kwargs):
    model = DenseNet(layers, **kwargs)
    load_pretrained(model, f"densenet{layers}", pretrained)
    return model


def densenet121(pretrained=False, **kwargs):
    """DenseNet of 121 layers; keywords as `DenseNet`."""
    return _build(121, pretrained, **kwargs)


def densenet161(pretrained=False, **kwargs):
    """DenseNet of 161 layers; keywords as `DenseNet`."""
    return _build(161, pretrained, **kwargs)


def densenet169(pretrained=False, **kwargs):
    """DenseNet of 169 layers; keywords as `DenseNet`."""
    return _build(169, pretrained, **kwargs)


def densenet201(pretrained=False, **kwargs):
    """DenseNet of 201 layers; keywords as `DenseNet`."""
    return _build(201, pretrained, **kwargs)


def densenet264(pretrained=False, **kwargs):
    """DenseNet of 264 layers; keywords as `DenseNet`."""
    return _build(264, pretrained, **kwargs)
