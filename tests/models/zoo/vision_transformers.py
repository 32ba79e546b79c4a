"""Transformers on images."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("vit", lambda n, draw: [draw.image(n, 3, 32, 32)])
class ViT(nn.Layer):
    """Patch embedding, class token, pre-norm blocks, drop path in training."""

    def __init__(self, dim=32, depth=2, heads=4, patch=8, classes=10):
        super().__init__()
        self.patch = nn.Conv2D(3, dim, patch, patch)
        self.token = self.create_parameter([1, 1, dim], default_initializer=nn.initializer.TruncatedNormal(std=0.02))
        self.position = self.create_parameter([1, (32 // patch) ** 2 + 1, dim])
        self.blocks = nn.LayerList(
            [
                nn.LayerDict(
                    {
                        "norm1": nn.LayerNorm(dim),
                        "attention": nn.MultiHeadAttention(dim, heads),
                        "norm2": nn.LayerNorm(dim),
                        "mlp": nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)),
                    }
                )
                for _ in range(depth)
            ]
        )
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def drop_path(self, x, p=0.1):
        if not self.training:
            return x
        keep = paddle.rand([x.shape[0], 1, 1]) < 1 - p
        return x / (1 - p) * keep.astype(x.dtype)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose((0, 2, 1))
        token = self.token.expand((x.shape[0], -1, -1))
        x = paddle.concat((token, x), axis=1) + self.position
        for block in self.blocks:
            x = x + self.drop_path(block["attention"](block["norm1"](x)))
            x = x + self.drop_path(block["mlp"](block["norm2"](x)))
        return self.head(self.norm(x)[:, 0])


def windows(x, size):
    b, h, w, c = x.shape
    x = x.reshape([b, h // size, size, w // size, size, c])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, size * size, c])


def unwindows(x, size, h, w):
    c = x.shape[-1]
    x = x.reshape([-1, h // size, w // size, size, size, c])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, h, w, c])


class SwinBlock(nn.Layer):
    def __init__(self, dim, heads, resolution, size, shift):
        super().__init__()
        self.heads, self.resolution, self.size, self.shift = heads, resolution, size, shift
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.table = self.create_parameter([(2 * size - 1) ** 2, heads])
        coords = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij")).reshape(2, -1)
        relative = (coords[:, :, None] - coords[:, None, :]).transpose(1, 2, 0) + size - 1
        index = relative[..., 0] * (2 * size - 1) + relative[..., 1]
        self.register_buffer("index", paddle.to_tensor(index.flatten(), dtype="int64"))
        self.register_buffer("mask", self.make_mask())

    def make_mask(self):
        if self.shift == 0:
            return None
        h, w = self.resolution
        image = paddle.zeros([1, h, w, 1])
        slices = (slice(0, -self.size), slice(-self.size, -self.shift), slice(-self.shift, None))
        count = 0
        for rows in slices:
            for cols in slices:
                image[:, rows, cols, :] = count
                count += 1
        parts = windows(image, self.size).squeeze(-1)
        difference = parts.unsqueeze(1) - parts.unsqueeze(2)
        return paddle.where(difference != 0, paddle.full_like(difference, -100.0), paddle.zeros_like(difference))

    def attention(self, x):
        bw, n, c = x.shape
        qkv = self.qkv(x).reshape([bw, n, 3, self.heads, c // self.heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv.unbind(0)
        attn = (q * (c // self.heads) ** -0.5) @ k.transpose([0, 1, 3, 2])
        bias = paddle.index_select(self.table, self.index, axis=0).reshape([n, n, -1])
        attn = attn + bias.transpose([2, 0, 1]).unsqueeze(0)
        if self.mask is not None:
            w = self.mask.shape[0]
            attn = attn.reshape([-1, w, self.heads, n, n]) + self.mask.unsqueeze(1).unsqueeze(0)
            attn = attn.reshape([-1, self.heads, n, n])
        return self.proj((F.softmax(attn, axis=-1) @ v).transpose([0, 2, 1, 3]).reshape([bw, n, c]))

    def forward(self, x):
        h, w = self.resolution
        shortcut = x
        x = self.norm1(x).reshape([x.shape[0], h, w, x.shape[-1]])
        if self.shift > 0:
            x = paddle.roll(x, shifts=(-self.shift, -self.shift), axis=(1, 2))
        x = unwindows(self.attention(windows(x, self.size)), self.size, h, w)
        if self.shift > 0:
            x = paddle.roll(x, shifts=(self.shift, self.shift), axis=(1, 2))
        x = shortcut + x.reshape(shortcut.shape)
        return x + self.mlp(self.norm2(x))


@model("swin", lambda n, draw: [draw.image(n, 3, 32, 32)])
class Swin(nn.Layer):
    """Shifted windows, relative bias by table, patch merging."""

    def __init__(self, dim=16, classes=10):
        super().__init__()
        self.patch = nn.Conv2D(3, dim, 4, 4)
        self.stage1 = nn.Sequential(SwinBlock(dim, 2, (8, 8), 4, 0), SwinBlock(dim, 2, (8, 8), 4, 2))
        self.norm = nn.LayerNorm(4 * dim)
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias_attr=False)
        self.stage2 = SwinBlock(2 * dim, 4, (4, 4), 4, 0)
        self.head = nn.Linear(2 * dim, classes)

    def merge(self, x, h, w):
        b, _, c = x.shape
        x = x.reshape([b, h, w, c])
        x = paddle.concat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        return self.reduction(self.norm(x.reshape([b, -1, 4 * c])))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose([0, 2, 1])
        x = self.stage2(self.merge(self.stage1(x), 8, 8))
        return self.head(x.mean(1))


@model("dynamic_vit", lambda n, draw: [draw.image(n, 16, 24)])
class DynamicViT(nn.Layer):
    """Tokens are pruned by predicted scores after the first block; a merged token stands for the dropped ones."""

    def __init__(self, dim=24, keep=6, classes=5):
        super().__init__()
        self.keep = keep
        self.block1 = nn.TransformerEncoderLayer(dim, 4, 48, dropout=0.0)
        self.block2 = nn.TransformerEncoderLayer(dim, 4, 48, dropout=0.0)
        self.score = nn.Linear(dim, 1)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.block1(x)
        score = F.sigmoid(self.score(x)).squeeze(-1)
        value, index = score.topk(self.keep, axis=1)
        kept = paddle.take_along_axis(x, index.unsqueeze(-1), axis=1, broadcast=True)
        rest = (x * score.unsqueeze(-1)).sum(1, keepdim=True) - (kept * value.unsqueeze(-1)).sum(1, keepdim=True)
        x = self.block2(paddle.concat([kept * value.unsqueeze(-1), rest], 1))
        return self.head(x.mean(1)), index.astype("int32")
