"""ShuffleNet, second version (Ma et al., 2018, https://arxiv.org/abs/1807.11164)."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle import nn

from ..conv_norm import ConvNormActivation
from .weights import load_pretrained

__all__ = []

_ACTIVATIONS = {"relu": nn.ReLU, "swish": nn.Swish, None: None}
# By scale: channels of the stem, of three stages, of the last convolution.
_WIDTHS = {
    0.25: [24, 24, 48, 96, 512], 0.33: [24, 32, 64, 128, 512], 0.5: [24, 48, 96, 192, 1024],
    1.0: [24, 116, 232, 464, 1024], 1.5: [24, 176, 352, 704, 1024], 2.0: [24, 224, 488, 976, 2048],
}  # fmt: skip
_REPEATS = [4, 8, 4]


class _Unit(nn.Layer):
    """One half of the channels passes, the other is convolved; then they are shuffled."""

    def __init__(self, channels, act):
        super().__init__()
        half = channels // 2
        self._conv_pw = ConvNormActivation(half, half, 1, activation_layer=act)
        self._conv_dw = ConvNormActivation(half, half, 3, groups=half, activation_layer=None)
        self._conv_linear = ConvNormActivation(half, half, 1, activation_layer=act)

    def forward(self, x):
        kept, worked = paddle.split(x, 2, axis=1)
        worked = self._conv_linear(self._conv_dw(self._conv_pw(worked)))
        return F.channel_shuffle(paddle.concat([kept, worked], axis=1), 2)


class _DownUnit(nn.Layer):
    """Half the size: both branches see all channels."""

    def __init__(self, inputs, outputs, act):
        super().__init__()
        half = outputs // 2
        self._conv_dw_1 = ConvNormActivation(inputs, inputs, 3, 2, groups=inputs, activation_layer=None)
        self._conv_linear_1 = ConvNormActivation(inputs, half, 1, activation_layer=act)
        self._conv_pw_2 = ConvNormActivation(inputs, half, 1, activation_layer=act)
        self._conv_dw_2 = ConvNormActivation(half, half, 3, 2, groups=half, activation_layer=None)
        self._conv_linear_2 = ConvNormActivation(half, half, 1, activation_layer=act)

    def forward(self, x):
        first = self._conv_linear_1(self._conv_dw_1(x))
        second = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(x)))
        return F.channel_shuffle(paddle.concat([first, second], axis=1), 2)


class ShuffleNetV2(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits.

    Args:
        scale (float): of the numbers of channels: 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0.
        act (str, optional): "relu" or "swish"; None has no activations.
        num_classes (int): <= 0 leaves the last layer out.
        with_pool (bool): whether the spatial dimensions are averaged away.

    Raises:
        NotImplementedError: another scale. RuntimeError: another activation.
    """

    def __init__(self, scale=1.0, act="relu", num_classes=1000, with_pool=True):
        super().__init__()
        if scale not in _WIDTHS:
            raise NotImplementedError(f"This scale size:[{scale}] is not implemented!")
        if act not in _ACTIVATIONS:
            raise RuntimeError(f"The activation function is not supported: {act}")
        self.scale, self.num_classes, self.with_pool = scale, num_classes, with_pool
        act, widths = _ACTIVATIONS[act], _WIDTHS[scale]
        self._conv1 = ConvNormActivation(3, widths[0], 3, 2, activation_layer=act)
        self._max_pool = nn.MaxPool2D(3, 2, 1)
        self._block_list = []
        for stage, repeats in enumerate(_REPEATS):
            for i in range(repeats):
                channels = widths[stage + 1]
                unit = _Unit(channels, act) if i else _DownUnit(widths[stage], channels, act)
                self._block_list.append(self.add_sublayer(f"{stage + 2}_{i + 1}", unit))
        self._last_conv = ConvNormActivation(widths[-2], widths[-1], 1, activation_layer=act)
        if with_pool:
            self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = nn.Linear(widths[-1], num_classes)

    def forward(self, x):
        x = self._max_pool(self._conv1(x))
        for unit in self._block_list:
            x = unit(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        return self._fc(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def _build(name, scale, pretrained, **kwargs):
    model = ShuffleNetV2(scale, **kwargs)
    load_pretrained(model, name, pretrained)
    return model


def shufflenet_v2_x0_25(pretrained=False, **kwargs):
    """ShuffleNet with a quarter of the channels; keywords as `ShuffleNetV2`."""
    return _build("shufflenet_v2_x0_25", 0.25, pretrained, **kwargs)


def shufflenet_v2_x0_33(pretrained=False, **kwargs):
    """ShuffleNet with a third of the channels; keywords as `ShuffleNetV2`."""
    return _build("shufflenet_v2_x0_33", 0.33, pretrained, **kwargs)


def shufflenet_v2_x0_5(pretrained=False, **kwargs):
    """ShuffleNet with half of the channels; keywords as `ShuffleNetV2`."""
    return _build("shufflenet_v2_x0_5", 0.5, pretrained, **kwargs)


def shufflenet_v2_x1_0(pretrained=False, **kwargs):
    """ShuffleNet; keywords as `ShuffleNetV2`."""
    return _build("shufflenet_v2_x1_0", 1.0, pretrained, **kwargs)


def shufflenet_v2_x1_5(pretrained=False, **kwargs):
    """ShuffleNet with one and a half times the channels; keywords as `ShuffleNetV2`."""
    return _build("shufflenet_v2_x1_5", 1.5, pretrained, **kwargs)


def shufflenet_v2_x2_0(pretrained=False, **kwargs):
    """ShuffleNet with twice the channels; keywords as `ShuffleNetV2`."""
    return _build("shufflenet_v2_x2_0", 2.0, pretrained, **kwargs)


def shufflenet_v2_swish(pretrained=False, **kwargs):
    """ShuffleNet with swish activations; keywords as `ShuffleNetV2`."""
    return _build("shufflenet_v2_swish", 1.0, pretrained, **{"act": "swish", **kwargs})
