"""GoogLeNet, the first Inception network (Szegedy et al., 2014, https://arxiv.org/abs/1409.4842)."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle import nn

from .weights import load_pretrained

__all__ = []


class _Conv(nn.Layer):
    """A convolution of the input's size (at stride 1) without bias."""

    def __init__(self, inputs, outputs, size, stride=1):
        super().__init__()
        bound = (3.0 / (size**2 * inputs)) ** 0.5
        weight = paddle.ParamAttr(initializer=nn.initializer.Uniform(-bound, bound))
        self._conv = nn.Conv2D(inputs, outputs, size, stride, (size - 1) // 2, weight_attr=weight, bias_attr=False)

    def forward(self, x):
        return self._conv(x)


class _Inception(nn.Layer):
    """1 by 1, 3 by 3, 5 by 5 and pooling side by side."""

    def __init__(self, inputs, one, three_before, three, five_before, five, pooled):
        super().__init__()
        self._conv1 = _Conv(inputs, one, 1)
        self._conv3r = _Conv(inputs, three_before, 1)
        self._conv3 = _Conv(three_before, three, 3)
        self._conv5r = _Conv(inputs, five_before, 1)
        self._conv5 = _Conv(five_before, five, 5)
        self._pool = nn.MaxPool2D(3, 1, 1)
        self._convprj = _Conv(inputs, pooled, 1)

    def forward(self, x):
        branches = [
            self._conv1(x), self._conv3(self._conv3r(x)), self._conv5(self._conv5r(x)), self._convprj(self._pool(x)),
        ]  # fmt: skip
        return F.relu(paddle.concat(branches, axis=1))


_BLOCKS = {
    "_ince3a": (192, 64, 96, 128, 16, 32, 32), "_ince3b": (256, 128, 128, 192, 32, 96, 64),
    "_ince4a": (480, 192, 96, 208, 16, 48, 64), "_ince4b": (512, 160, 112, 224, 24, 64, 64),
    "_ince4c": (512, 128, 128, 256, 24, 64, 64), "_ince4d": (512, 112, 144, 288, 32, 64, 64),
    "_ince4e": (528, 256, 160, 320, 32, 128, 128), "_ince5a": (832, 256, 160, 320, 32, 128, 128),
    "_ince5b": (832, 384, 192, 384, 48, 128, 128),
}  # fmt: skip


class GoogLeNet(nn.Layer):
    """[N, 3, H, W] to three logits [N, num_classes]: of the end, and of two places on the way, for training.

    Args:
        num_classes (int): <= 0 leaves the last layers out.
        with_pool (bool): whether the last features are pooled; their size must be 7 by 7 for the classifiers on the way.
    """

    def __init__(self, num_classes=1000, with_pool=True):
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self._conv = _Conv(3, 64, 7, 2)
        self._pool = nn.MaxPool2D(3, 2)
        self._conv_1 = _Conv(64, 64, 1)
        self._conv_2 = _Conv(64, 192, 3)
        for name, widths in _BLOCKS.items():
            setattr(self, name, _Inception(*widths))
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1 = nn.AvgPool2D(5, 3)
            self._pool_o2 = nn.AvgPool2D(5, 3)
        if num_classes > 0:
            self._drop = nn.Dropout(0.4, mode="downscale_in_infer")
            self._fc_out = nn.Linear(1024, num_classes)
            for i, channels in ((1, 512), (2, 528)):
                setattr(self, f"_conv_o{i}", _Conv(channels, 128, 1))
                setattr(self, f"_fc_o{i}", nn.Linear(1152, 1024))
                setattr(self, f"_drop_o{i}", nn.Dropout(0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{i}", nn.Linear(1024, num_classes))

    def forward(self, x):
        x = self._pool(self._conv_2(self._conv_1(self._pool(self._conv(x)))))
        x = self._pool(self._ince3b(self._ince3a(x)))
        first = self._ince4a(x)
        second = self._ince4d(self._ince4c(self._ince4b(first)))
        out = self._ince5b(self._ince5a(self._pool(self._ince4e(second))))
        if self.with_pool:
            out, first, second = self._pool_5(out), self._pool_o1(first), self._pool_o2(second)
        if self.num_classes > 0:
            out = self._fc_out(paddle.squeeze(self._drop(out), axis=[2, 3]))
            # Only the first classifier on the way has an activation, as the published weights expect it.
            first = F.relu(self._fc_o1(paddle.flatten(self._conv_o1(first), 1)))
            first = self._out1(self._drop_o1(first))
            second = self._fc_o2(paddle.flatten(self._conv_o2(second), 1))
            second = self._out2(self._drop_o2(second))
        return out, first, second


def googlenet(pretrained=False, **kwargs):
    """GoogLeNet; keywords as `GoogLeNet`."""
    model = GoogLeNet(**kwargs)
    load_pretrained(model, "googlenet", pretrained)
    return model
