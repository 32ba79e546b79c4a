"""Inception, third version (Szegedy et al., 2015, https://arxiv.org/abs/1512.00567)."""

from __future__ import annotations

import paddle
from paddle import nn

from ..conv_norm import ConvNormActivation
from .weights import load_pretrained

__all__ = []

# A block is its branches side by side; a branch its steps in order; a step a name, outputs, kernel, stride, padding. A list of steps
# goes side by side; a pooling layer has only a name and a layer.
_MEAN = ("branch_pool", lambda: nn.AvgPool2D(3, 1, 1, exclusive=False))
_MAX = ("branch_pool", lambda: nn.MaxPool2D(3, 2))
_ROW, _COLUMN = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))


def _block_a(pooled):
    return [
        [("branch1x1", 64, 1, 1, 0)],
        [("branch5x5_1", 48, 1, 1, 0), ("branch5x5_2", 64, 5, 1, 2)],
        [("branch3x3dbl_1", 64, 1, 1, 0), ("branch3x3dbl_2", 96, 3, 1, 1), ("branch3x3dbl_3", 96, 3, 1, 1)],
        [_MEAN, ("branch_pool_conv", pooled, 1, 1, 0)],
    ]


_BLOCK_B = [
    [("branch3x3", 384, 3, 2, 0)],
    [("branch3x3dbl_1", 64, 1, 1, 0), ("branch3x3dbl_2", 96, 3, 1, 1), ("branch3x3dbl_3", 96, 3, 2, 0)],
    [_MAX],
]


def _block_c(n):
    return [
        [("branch1x1", 192, 1, 1, 0)],
        [("branch7x7_1", n, 1, 1, 0), ("branch7x7_2", n, *_ROW), ("branch7x7_3", 192, *_COLUMN)],
        [
            ("branch7x7dbl_1", n, 1, 1, 0), ("branch7x7dbl_2", n, *_COLUMN), ("branch7x7dbl_3", n, *_ROW),
            ("branch7x7dbl_4", n, *_COLUMN), ("branch7x7dbl_5", 192, *_ROW),
        ],
        [_MEAN, ("branch_pool_conv", 192, 1, 1, 0)],
    ]  # fmt: skip


_BLOCK_D = [
    [("branch3x3_1", 192, 1, 1, 0), ("branch3x3_2", 320, 3, 2, 0)],
    [
        ("branch7x7x3_1", 192, 1, 1, 0), ("branch7x7x3_2", 192, *_ROW), ("branch7x7x3_3", 192, *_COLUMN),
        ("branch7x7x3_4", 192, 3, 2, 0),
    ],
    [_MAX],
]  # fmt: skip
_BLOCK_E = [
    [("branch1x1", 320, 1, 1, 0)],
    [
        ("branch3x3_1", 384, 1, 1, 0),
        [("branch3x3_2a", 384, (1, 3), 1, (0, 1)), ("branch3x3_2b", 384, (3, 1), 1, (1, 0))],
    ],
    [
        ("branch3x3dbl_1", 448, 1, 1, 0), ("branch3x3dbl_2", 384, 3, 1, 1),
        [("branch3x3dbl_3a", 384, (1, 3), 1, (0, 1)), ("branch3x3dbl_3b", 384, (3, 1), 1, (1, 0))],
    ],
    [_MEAN, ("branch_pool_conv", 192, 1, 1, 0)],
]  # fmt: skip
_BLOCKS = [
    (192, _block_a(32)), (256, _block_a(64)), (288, _block_a(64)), (288, _BLOCK_B), (768, _block_c(128)),
    (768, _block_c(160)), (768, _block_c(160)), (768, _block_c(192)), (768, _BLOCK_D), (1280, _BLOCK_E),
    (2048, _BLOCK_E),
]  # fmt: skip


class _Block(nn.Layer):
    """Branches side by side."""

    def __init__(self, channels, branches):
        super().__init__()
        self._branches = []
        for branch in branches:
            width, steps = channels, []
            for step in branch:
                layers = [self._add(width, *s) for s in (step if isinstance(step, list) else [step])]
                width = width if len(step) == 2 and not isinstance(step, list) else layers[0][0].weight.shape[0]
                steps.append(layers)
            self._branches.append(steps)

    def _add(self, inputs, name, outputs, *shape):
        layer = ConvNormActivation(inputs, outputs, *shape) if shape else outputs()
        return self.add_sublayer(name, layer)

    def forward(self, x):
        found = []
        for branch in self._branches:
            parts = [x]
            for layers in branch:
                parts = [layer(parts[0]) for layer in layers]
            found += parts
        return paddle.concat(found, axis=1)


class _Stem(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv_1a_3x3 = ConvNormActivation(3, 32, 3, 2, 0)
        self.conv_2a_3x3 = ConvNormActivation(32, 32, 3, 1, 0)
        self.conv_2b_3x3 = ConvNormActivation(32, 64, 3, 1, 1)
        self.max_pool = nn.MaxPool2D(3, 2)
        self.conv_3b_1x1 = ConvNormActivation(64, 80, 1, 1, 0)
        self.conv_4a_3x3 = ConvNormActivation(80, 192, 3, 1, 0)

    def forward(self, x):
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionV3(nn.Layer):
    """[N, 3, H, W] to [N, num_classes] logits; made for 299 by 299 pixels.

    Args:
        num_classes (int): <= 0 leaves the last layer out.
        with_pool (bool): whether the spatial dimensions are averaged away.
    """

    def __init__(self, num_classes=1000, with_pool=True):
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        self.inception_stem = _Stem()
        self.inception_block_list = nn.LayerList([_Block(*b) for b in _BLOCKS])
        if with_pool:
            self.avg_pool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = nn.Dropout(0.2, mode="downscale_in_infer")
            bound = 2048**-0.5
            weight = paddle.ParamAttr(initializer=nn.initializer.Uniform(-bound, bound))
            self.fc = nn.Linear(2048, num_classes, weight_attr=weight)

    def forward(self, x):
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        return self.fc(self.dropout(paddle.flatten(x, 1))) if self.num_classes > 0 else x


def inception_v3(pretrained=False, **kwargs):
    """Inception of the third version; keywords as `InceptionV3`."""
    model = InceptionV3(**kwargs)
    load_pretrained(model, "inception_v3", pretrained)
    return model
