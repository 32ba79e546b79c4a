"""Dense prediction."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


class DoubleConv(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(
            nn.Conv2D(cin, cout, 3, padding=1), nn.BatchNorm2D(cout), nn.ReLU(),
            nn.Conv2D(cout, cout, 3, padding=1), nn.BatchNorm2D(cout), nn.ReLU(),
        )  # fmt: skip


@model("unet", lambda n, draw: [draw.image(n, 3, 32, 32)])
class UNet(nn.Layer):
    """Encoder and decoder with skips kept in a list and popped."""

    def __init__(self, widths=(8, 16, 32), classes=4):
        super().__init__()
        self.encoders = nn.LayerList()
        channels = 3
        for w in widths:
            self.encoders.append(DoubleConv(channels, w))
            channels = w
        self.ups, self.decoders = nn.LayerList(), nn.LayerList()
        for w in reversed(widths[:-1]):
            self.ups.append(nn.Conv2DTranspose(channels, w, 2, stride=2))
            self.decoders.append(DoubleConv(2 * w, w))
            channels = w
        self.head = nn.Conv2D(channels, classes, 1)

    def forward(self, x):
        skips = []
        for i, encoder in enumerate(self.encoders):
            if i:
                x = F.max_pool2d(x, 2, 2)
            x = encoder(x)
            skips.append(x)
        skips.pop()
        for up, decoder in zip(self.ups, self.decoders):
            x = decoder(paddle.concat([up(x), skips.pop()], axis=1))
        return self.head(x)


class ASPP(nn.Layer):
    def __init__(self, cin, cout, rates=(1, 2, 4)):
        super().__init__()
        self.convs = nn.LayerList(
            [nn.Conv2D(cin, cout, 1 if r == 1 else 3, padding=0 if r == 1 else r, dilation=r) for r in rates]
        )
        self.image = nn.Sequential(nn.AdaptiveAvgPool2D(1), nn.Conv2D(cin, cout, 1))
        self.project = nn.Conv2D(cout * (len(rates) + 1), cout, 1)

    def forward(self, x):
        outs = [F.relu(conv(x)) for conv in self.convs]
        image = F.interpolate(self.image(x), size=paddle.shape(x)[2:], mode="bilinear", align_corners=True)
        outs.append(image)
        return F.relu(self.project(paddle.concat(outs, axis=1)))


@model("deeplab", lambda n, draw: [draw.image(n, 3, 33 + 4 * n, 41)], dynamic=((0, 2),), batches=(2, 3))
class DeepLab(nn.Layer):
    """Atrous pyramid; the output is resized to the input, whose height is open too."""

    def __init__(self, classes=5):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2D(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2D(16, 32, 3, 2, 1), nn.GroupNorm(4, 32), nn.ReLU()
        )
        self.aspp = ASPP(32, 16)
        self.head = nn.Conv2D(16, classes, 1)

    def forward(self, x):
        size = paddle.shape(x)[2:]
        y = self.head(self.aspp(self.backbone(x)))
        y = F.interpolate(y, size=size, mode="bilinear", align_corners=False)
        return y, y.argmax(axis=1)


class EfficientAttention(nn.Layer):
    def __init__(self, dim, heads, reduction):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)
        self.reduce = nn.Conv2D(dim, dim, reduction, reduction)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, h, w):
        b, n, c = x.shape
        q = self.q(x).reshape([0, 0, self.heads, c // self.heads]).transpose([0, 2, 1, 3])
        r = x.transpose([0, 2, 1]).reshape([-1, c, h, w])
        r = self.norm(self.reduce(r).flatten(2).transpose([0, 2, 1]))
        kv = self.kv(r).reshape([b, -1, 2, self.heads, c // self.heads]).transpose([2, 0, 3, 1, 4])
        k, v = kv[0], kv[1]
        attention = F.softmax(paddle.matmul(q, k, transpose_y=True) * self.scale, axis=-1)
        return self.out(paddle.matmul(attention, v).transpose([0, 2, 1, 3]).reshape([b, n, c]))


class MixBlock(nn.Layer):
    def __init__(self, dim, heads, reduction):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = EfficientAttention(dim, heads, reduction)
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.dwconv = nn.Conv2D(4 * dim, 4 * dim, 3, padding=1, groups=4 * dim)

    def forward(self, x, h, w):
        x = x + self.attention(self.norm1(x), h, w)
        y = self.fc1(self.norm2(x))
        y = self.dwconv(y.transpose([0, 2, 1]).reshape([0, -1, h, w])).flatten(2).transpose([0, 2, 1])
        return x + self.fc2(F.gelu(y))


@model("segformer", lambda n, draw: [draw.image(n, 3, 32, 32)])
class SegFormer(nn.Layer):
    """Overlapping patches, attention on reduced keys, a decoder of linear layers."""

    def __init__(self, dims=(16, 32), classes=4):
        super().__init__()
        self.patches = nn.LayerList([nn.Conv2D(3, dims[0], 7, 4, 3), nn.Conv2D(dims[0], dims[1], 3, 2, 1)])
        self.norms = nn.LayerList([nn.LayerNorm(d) for d in dims])
        self.blocks = nn.LayerList([MixBlock(dims[0], 2, 2), MixBlock(dims[1], 4, 1)])
        self.unify = nn.LayerList([nn.Linear(d, 16) for d in dims])
        self.head = nn.Conv2D(32, classes, 1)

    def forward(self, x):
        features = []
        for patch, norm, block in zip(self.patches, self.norms, self.blocks):
            x = patch(x)
            b, c, h, w = x.shape
            tokens = block(norm(x.flatten(2).transpose([0, 2, 1])), h, w)
            x = tokens.transpose([0, 2, 1]).reshape([b, c, h, w])
            features.append(x)
        size = features[0].shape[2:]
        maps = []
        for feature, linear in zip(features, self.unify):
            y = linear(feature.flatten(2).transpose([0, 2, 1])).transpose([0, 2, 1])
            y = y.reshape([0, 16, feature.shape[2], feature.shape[3]])
            maps.append(F.interpolate(y, size=size, mode="bilinear"))
        return self.head(paddle.concat(maps, axis=1))
