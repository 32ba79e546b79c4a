"""AlexNet (Krizhevsky et al., 2012; the one-column form of https://arxiv.org/abs/1404.5997)."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812
from paddle import nn

from .weights import load_pretrained

__all__ = []


class _ConvPool(nn.Layer):
    def __init__(self, inputs, outputs, size, stride, padding):
        super().__init__()
        self._conv = nn.Conv2D(inputs, outputs, size, stride, padding)
        self._pool = nn.MaxPool2D(3, 2)

    def forward(self, x):
        return self._pool(F.relu(self._conv(x)))


class AlexNet(nn.Layer):
    """[N, 3, 224, 224] to [N, num_classes] logits; `num_classes` <= 0 leaves the last layers out."""

    def __init__(self, num_classes=1000):
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = _ConvPool(3, 64, 11, 4, 2)
        self._conv2 = _ConvPool(64, 192, 5, 1, 2)
        self._conv3 = nn.Conv2D(192, 384, 3, padding=1)
        self._conv4 = nn.Conv2D(384, 256, 3, padding=1)
        self._conv5 = _ConvPool(256, 256, 3, 1, 1)
        if num_classes > 0:
            self._drop1, self._drop2 = nn.Dropout(0.5), nn.Dropout(0.5)
            self._fc6 = nn.Linear(256 * 6 * 6, 4096)
            self._fc7 = nn.Linear(4096, 4096)
            self._fc8 = nn.Linear(4096, num_classes)

    def forward(self, x):
        x = self._conv2(self._conv1(x))
        x = self._conv5(F.relu(self._conv4(F.relu(self._conv3(x)))))
        if self.num_classes <= 0:
            return x
        x = F.relu(self._fc6(self._drop1(paddle.flatten(x, 1))))
        return self._fc8(F.relu(self._fc7(self._drop2(x))))


def alexnet(pretrained=False, **kwargs):
    """AlexNet; keywords as `AlexNet`."""
    model = AlexNet(**kwargs)
    load_pretrained(model, "alexnet", pretrained)
    return model
