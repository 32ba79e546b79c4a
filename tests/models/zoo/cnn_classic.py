"""Convolutional networks of the first years."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("vgg", lambda n, draw: [draw.image(n, 3, 32, 32)])
class VGG(nn.Layer):
    """Plain 3x3 convolutions with batch norm, two fully connected layers."""

    def __init__(self, widths=(16, "M", 32, "M", 64, 64, "M"), classes=10):
        super().__init__()
        layers, channels = [], 3
        for width in widths:
            if width == "M":
                layers.append(nn.MaxPool2D(2, 2))
            else:
                layers += [nn.Conv2D(channels, width, 3, padding=1), nn.BatchNorm2D(width), nn.ReLU()]
                channels = width
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2D((2, 2))
        self.classifier = nn.Sequential(
            nn.Linear(channels * 4, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, classes)
        )

    def forward(self, x):
        x = self.pool(self.features(x))
        return self.classifier(paddle.flatten(x, 1))


class Inception(nn.Layer):
    def __init__(self, channels, c1, c3, c5, pool):
        super().__init__()
        self.branches = nn.LayerList(
            [
                nn.Conv2D(channels, c1, 1),
                nn.Sequential(nn.Conv2D(channels, c3[0], 1), nn.ReLU(), nn.Conv2D(c3[0], c3[1], 3, padding=1)),
                nn.Sequential(nn.Conv2D(channels, c5[0], 1), nn.ReLU(), nn.Conv2D(c5[0], c5[1], 5, padding=2)),
                nn.Sequential(nn.MaxPool2D(3, stride=1, padding=1), nn.Conv2D(channels, pool, 1)),
            ]
        )

    def forward(self, x):
        outs = []
        for branch in self.branches:
            outs.append(F.relu(branch(x)))
        return paddle.concat(outs, axis=1)


@model("googlenet", lambda n, draw: [draw.image(n, 3, 48, 48)])
class GoogLeNet(nn.Layer):
    """Inception blocks with an auxiliary classifier that only training returns (a dict)."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2D(3, 16, 7, stride=2, padding=3), nn.ReLU(), nn.MaxPool2D(3, 2, padding=1)
        )
        self.block1 = Inception(16, 8, (8, 16), (4, 8), 8)
        self.block2 = Inception(40, 16, (12, 24), (4, 12), 12)
        self.block3 = Inception(64, 16, (16, 24), (4, 12), 12)
        self.auxiliary = nn.Sequential(nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(64 * 4, classes))
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        x = self.block1(self.stem(x))
        middle = self.block2(F.max_pool2d(x, 3, 2, 1))
        x = self.block3(middle)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        logits = self.head(F.dropout(x, 0.4, training=self.training))
        if not self.training:
            return logits
        return {"logits": logits, "auxiliary": self.auxiliary(middle)}


class Fire(nn.Layer):
    def __init__(self, channels, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Conv2D(channels, squeeze, 1)
        self.expand1 = nn.Conv2D(squeeze, expand, 1)
        self.expand3 = nn.Conv2D(squeeze, expand, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return paddle.concat([F.relu(self.expand1(x)), F.relu(self.expand3(x))], axis=1)


@model("squeezenet", lambda n, draw: [draw.image(n, 3, 40, 40)])
class SqueezeNet(nn.Layer):
    """Fire modules; a 1x1 convolution as classifier."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Conv2D(3, 24, 3, stride=2)
        self.fires = nn.LayerList([Fire(24, 8, 16), Fire(32, 8, 16), Fire(32, 12, 24), Fire(48, 12, 32)])
        self.head = nn.Conv2D(64, classes, 1)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for i, fire in enumerate(self.fires):
            if i % 2 == 0:
                x = F.max_pool2d(x, kernel_size=3, stride=2, ceil_mode=True)
            x = fire(x)
        x = F.relu(self.head(x))
        return F.adaptive_avg_pool2d(x, 1).squeeze([2, 3])


@model("lenet_lrn", lambda n, draw: [draw.image(n, 1, 28, 28)])
class AlexNetLike(nn.Layer):
    """Large filters, local response normalisation, grouped convolution."""

    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2D(1, 16, 5, padding=2)
        self.norm = nn.LocalResponseNorm(size=5)
        self.conv2 = nn.Conv2D(16, 32, 5, padding=2, groups=2)
        self.fc1 = nn.Linear(32 * 7 * 7, 64)
        self.fc2 = nn.Linear(64, classes)

    def forward(self, x):
        x = F.max_pool2d(self.norm(F.relu(self.conv1(x))), 2)
        x = F.max_pool2d(self.norm(F.relu(self.conv2(x))), 2)
        x = x.reshape([x.shape[0], -1])
        return F.log_softmax(self.fc2(F.tanh(self.fc1(x))), axis=-1)
