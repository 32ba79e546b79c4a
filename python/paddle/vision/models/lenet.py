"""LeNet for 28 by 28 digits. Source: LeCun et al., 1998."""

from __future__ import annotations

import paddle
from paddle import nn

__all__ = []


class LeNet(nn.Layer):
    """[N, 1, 28, 28] to [N, num_classes] logits; `num_classes` <= 0 leaves the linear part out."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.num_classes = num_classes
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, num_classes))

    def forward(self, inputs):
        x = self.features(inputs)
        if self.num_classes > 0:
            x = self.fc(paddle.flatten(x, 1))
        return x
