"""Transformer encoders."""

import math

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


class SelfAttention(nn.Layer):
    def __init__(self, hidden, heads, dropout=0.1):
        super().__init__()
        self.heads, self.head_dim = heads, hidden // heads
        self.query, self.key, self.value = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.reshape([0, 0, self.heads, self.head_dim]).transpose([0, 2, 1, 3])

    def forward(self, x, mask=None):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = paddle.matmul(q, k, transpose_y=True) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask
        weights = self.dropout(F.softmax(scores, axis=-1))
        context = paddle.matmul(weights, v).transpose([0, 2, 1, 3])
        return self.out(context.flatten(2))


class EncoderLayer(nn.Layer):
    def __init__(self, hidden, heads):
        super().__init__()
        self.attention = SelfAttention(hidden, heads)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.fc1, self.fc2 = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.fc2(F.gelu(self.fc1(x)))))


def sentences(n, draw):
    ids = draw.tokens(100, n, 12)
    ids[0, 9:] = 0
    return [ids, (ids > 50).astype("int64")]


@model("bert", sentences)
class Bert(nn.Layer):
    """Padding mask from the ids, pooled output, tied language-model head; a dict."""

    def __init__(self, vocab=100, hidden=32, layers=2, heads=4, positions=64):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden, padding_idx=0)
        self.position = nn.Embedding(positions, hidden)
        self.segment = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, epsilon=1e-12)
        self.layers = nn.LayerList([EncoderLayer(hidden, heads) for _ in range(layers)])
        self.pooler = nn.Linear(hidden, hidden)
        self.bias = self.create_parameter([vocab], is_bias=True)

    def forward(self, input_ids, token_type_ids=None):
        if token_type_ids is None:
            token_type_ids = paddle.zeros_like(input_ids)
        mask = (input_ids == 0).astype("float32").unsqueeze([1, 2]) * -1e4
        positions = paddle.cumsum(paddle.ones_like(input_ids), axis=-1) - 1
        x = self.norm(self.word(input_ids) + self.position(positions) + self.segment(token_type_ids))
        hidden = []
        for layer in self.layers:
            x = layer(x, mask)
            hidden.append(x)
        pooled = F.tanh(self.pooler(x[:, 0]))
        logits = paddle.matmul(x, self.word.weight, transpose_y=True) + self.bias
        return {"last": x, "pooled": pooled, "logits": logits, "hidden": hidden}


@model("albert", lambda n, draw: [draw.tokens(100, n, 10)])
class Albert(nn.Layer):
    """One layer's parameters shared by all rounds, factorised embeddings."""

    def __init__(self, vocab=100, embedding=16, hidden=32, rounds=3):
        super().__init__()
        self.word = nn.Embedding(vocab, embedding)
        self.position = self.create_parameter([64, embedding])
        self.project = nn.Linear(embedding, hidden)
        self.layer = EncoderLayer(hidden, 4)
        self.rounds = rounds
        self.head = nn.Linear(hidden, 3)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.project(self.word(ids) + self.position[:length])
        for _ in range(self.rounds):
            x = self.layer(x)
        return self.head(x.mean(axis=1))


class BandAttention(nn.Layer):
    """Windows of neighbours by blocks: each block of queries sees its own and the two next to it."""

    def __init__(self, hidden, heads, window):
        super().__init__()
        self.heads, self.window, self.dim = heads, window, hidden // heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)

    def blocks(self, x):
        w = self.window
        padded = F.pad(x, [0, 0, w, w, 0, 0, 0, 0])
        length = x.shape[1]
        parts = []
        for start in range(0, length, w):
            parts.append(padded[:, start : start + 3 * w])
        return paddle.stack(parts, axis=1)

    def forward(self, x):
        b, length, hidden = x.shape
        w = self.window
        qkv = self.qkv(x).reshape([b, length, 3, self.heads, self.dim])
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        q = q.reshape([b, length // w, w, self.heads, self.dim])
        scores = paddle.einsum("bnqhd,bnkhd->bnhqk", q, self.blocks(k)) / math.sqrt(self.dim)
        inside = paddle.arange(length).reshape([-1, w, 1])
        other = (paddle.arange(length // w) * w - w).reshape([-1, 1, 1]) + paddle.arange(3 * w).reshape([1, 1, -1])
        ok = ((inside - other).abs() <= w).logical_and(other >= 0).logical_and(other < length)
        scores = paddle.where(ok.unsqueeze(1), scores, paddle.full_like(scores, -1e9))
        y = paddle.einsum("bnhqk,bnkhd->bnqhd", F.softmax(scores, -1), self.blocks(v))
        return self.out(y.reshape([b, length, hidden]))


@model("longformer", lambda n, draw: [draw.tokens(100, n, 16)])
class Longformer(nn.Layer):
    """Sliding-window attention by overlapping blocks."""

    def __init__(self, vocab=100, hidden=32, window=4):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden)
        self.attention = nn.LayerList([BandAttention(hidden, 4, window) for _ in range(2)])
        self.norms = nn.LayerList([nn.LayerNorm(hidden) for _ in range(2)])
        self.head = nn.Linear(hidden, 4)

    def forward(self, ids):
        x = self.word(ids)
        for attention, norm in zip(self.attention, self.norms):
            x = x + attention(norm(x))
        return self.head(x[:, 0])


class LinearAttention(nn.Layer):
    def __init__(self, hidden, heads, features=16):
        super().__init__()
        self.heads, self.dim = heads, hidden // heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.register_buffer("projection", paddle.randn([self.dim, features]) * self.dim**-0.25)

    def feature_map(self, x):
        y = paddle.matmul(x, self.projection)
        norm = (x * x).sum(-1, keepdim=True) / 2
        return paddle.exp(y - norm - y.max(axis=-1, keepdim=True)) + 1e-4

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = paddle.unbind(self.qkv(x).reshape([b, n, 3, self.heads, self.dim]).transpose([2, 0, 3, 1, 4]))
        q, k = self.feature_map(q), self.feature_map(k)
        context = paddle.einsum("bhnf,bhnd->bhfd", k, v)
        norm = 1.0 / paddle.einsum("bhnf,bhf->bhn", q, k.sum(axis=2))
        y = paddle.einsum("bhnf,bhfd,bhn->bhnd", q, context, norm)
        return self.out(y.transpose([0, 2, 1, 3]).reshape([b, n, c]))


@model("performer", lambda n, draw: [draw.image(n, 24, 32)], dynamic=((0, 1),))
class Performer(nn.Layer):
    """Attention linear in the length by random features; the length is open."""

    def __init__(self, hidden=32, layers=2):
        super().__init__()
        self.attention = nn.LayerList([LinearAttention(hidden, 4) for _ in range(layers)])
        self.mlp = nn.LayerList(
            [nn.Sequential(nn.Linear(hidden, 64), nn.GELU(), nn.Linear(64, hidden)) for _ in range(layers)]
        )
        self.norm = nn.LayerNorm(hidden)

    def forward(self, x):
        for attention, mlp in zip(self.attention, self.mlp):
            x = x + attention(self.norm(x))
            x = x + mlp(self.norm(x))
        return x


@model("electra_ragged", lambda n, draw: [draw.tokens(60, n, 5 + n)], dynamic=((0, 1),))
class PaddedEncoder(nn.Layer):
    """paddle.nn.TransformerEncoder; trims the batch to its longest sentence; batch and length are open."""

    def __init__(self, vocab=60, hidden=32):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden)
        layer = nn.TransformerEncoderLayer(hidden, 4, 64, dropout=0.0, activation="gelu", normalize_before=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(hidden, 2)

    def forward(self, ids):
        mask = ids != 0
        if paddle.logical_not(mask[:, -1]).all():  # the last column is padding in every sentence
            ids, mask = ids[:, :-1], mask[:, :-1]
        attention_mask = paddle.where(mask, 0.0, -1e9).unsqueeze([1, 2])
        x = self.encoder(self.word(ids), attention_mask)
        return {"scores": self.head(x), "lengths": mask.astype("int64").sum(-1)}
