"""VGG (Simonyan and Zisserman, 2014, https://arxiv.org/abs/1409.1556)."""

from __future__ import annotations

import paddle
from paddle import nn

from .weights import load_pretrained

__all__ = []

_LAYERS = {
    11: [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    13: [64, 64, "M", 128, 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    16: [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"],
    19: [64, 64, "M", 128, 128, "M", *[256] * 4, "M", *[512] * 4, "M", *[512] * 4, "M"],
}  # fmt: skip


class VGG(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits.

    Args:
        features (Layer): the convolutions, to 512 channels.
        num_classes (int): <= 0 leaves the last layers out.
        with_pool (bool): whether the features are pooled to 7 by 7.
    """

    def __init__(self, features, num_classes=1000, with_pool=True):
        super().__init__()
        self.features = features
        self.num_classes, self.with_pool = num_classes, with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(),
                nn.Linear(4096, num_classes),
            )  # fmt: skip

    def forward(self, x):
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        return self.classifier(paddle.flatten(x, 1)) if self.num_classes > 0 else x


def make_layers(cfg, batch_norm=False):
    """Convolutions with the given channels; "M" is a pooling."""
    layers, channels = [], 3
    for v in cfg:
        if v == "M":
            layers.append(nn.MaxPool2D(2, 2))
            continue
        layers.append(nn.Conv2D(channels, v, 3, padding=1))
        layers += [nn.BatchNorm2D(v), nn.ReLU()] if batch_norm else [nn.ReLU()]
        channels = v
    return nn.Sequential(*layers)


def _maker(depth):
    def make(pretrained=False, batch_norm=False, **kwargs):
        model = VGG(make_layers(_LAYERS[depth], batch_norm), **kwargs)
        load_pretrained(model, f"vgg{depth}" + ("_bn" if batch_norm else ""), pretrained)
        return model

    make.__name__ = make.__qualname__ = f"vgg{depth}"
    make.__doc__ = f"VGG of {depth} layers, with batch normalisation if asked for; keywords as `VGG`."
    return make


vgg11, vgg13, vgg16, vgg19 = (_maker(d) for d in (11, 13, 16, 19))
