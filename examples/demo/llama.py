"""A small Llama: RMSNorm, rotary positions, causal attention, SwiGLU. Plain Paddle code."""

import numpy as np

import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class RMSNorm(nn.Layer):
    def __init__(self, width, epsilon=1e-5):
        super().__init__()
        self.weight = self.create_parameter([width], default_initializer=nn.initializer.Constant(1.0))
        self.epsilon = epsilon

    def forward(self, x):
        return x * paddle.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def rotate(x, cos, sin):
    """Rotary positions on x [batch, length, heads, size]; cos, sin [1, length, 1, size / 2]."""
    a, b = paddle.chunk(x, 2, axis=-1)
    return paddle.concat([a * cos - b * sin, a * sin + b * cos], axis=-1)


class Block(nn.Layer):
    def __init__(self, width, heads, hidden):
        super().__init__()
        linear = lambda i, o: nn.Linear(i, o, bias_attr=False)
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.q, self.k, self.v, self.o = (linear(width, width) for _ in range(4))
        self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)

    def attend(self, x, cos, sin, mask):
        batch, length = x.shape[0], x.shape[1]
        split = lambda t: t.reshape([batch, length, self.heads, self.size])
        q, k = rotate(split(self.q(x)), cos, sin), rotate(split(self.k(x)), cos, sin)
        q, k, v = (t.transpose([0, 2, 1, 3]) for t in (q, k, split(self.v(x))))
        scores = paddle.matmul(q, k, transpose_y=True) * self.size**-0.5 + mask
        out = paddle.matmul(F.softmax(scores, axis=-1), v).transpose([0, 2, 1, 3])
        return self.o(out.reshape([batch, length, self.heads * self.size]))

    def forward(self, x, cos, sin, mask):
        x = x + self.attend(self.norm1(x), cos, sin, mask)
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Layer):
    """Logits (or the mean cross-entropy, given labels) of byte sequences [batch, length] no longer than `context`."""

    def __init__(self, vocabulary=256, width=192, layers=4, heads=4, hidden=512, context=128):
        super().__init__()
        self.context, self.vocabulary = context, vocabulary
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.LayerList([Block(width, heads, hidden) for _ in range(layers)])
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias_attr=False)
        half = width // heads // 2
        angle = np.arange(context)[:, None] / 10000.0 ** (np.arange(half) / half)
        table = lambda f: paddle.to_tensor(f(angle).astype("float32")[None, :, None])
        mask = np.triu(np.full((context, context), -1e9, "float32"), 1)[None, None]
        self.register_buffer("cos", table(np.cos), persistable=False)
        self.register_buffer("sin", table(np.sin), persistable=False)
        self.register_buffer("mask", paddle.to_tensor(mask), persistable=False)

    def forward(self, ids, labels=None):
        length = ids.shape[1]
        cos, sin, mask = self.cos[:, :length], self.sin[:, :length], self.mask[:, :, :length, :length]
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, cos, sin, mask)
        logits = self.head(self.norm(x))
        if labels is None:
            return logits
        return F.cross_entropy(logits.reshape([-1, self.vocabulary]), labels.reshape([-1]))
