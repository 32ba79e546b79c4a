"""Encoder-decoder transformers with search loops."""

import math

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


class RelativeAttention(nn.Layer):
    def __init__(self, hidden, heads, bidirectional, has_bias, buckets=8):
        super().__init__()
        self.heads, self.dim = heads, hidden // heads
        self.bidirectional, self.buckets = bidirectional, buckets
        self.q, self.k, self.v, self.o = (nn.Linear(hidden, hidden, bias_attr=False) for _ in range(4))
        self.bias = nn.Embedding(buckets, heads) if has_bias else None

    def bucket(self, distance):
        buckets, offset = self.buckets, paddle.zeros_like(distance)
        n = -distance
        if self.bidirectional:
            buckets //= 2
            offset = offset + (n < 0).astype("int64") * buckets
            n = n.abs()
        else:
            n = paddle.maximum(n, paddle.zeros_like(n))
        exact = buckets // 2
        large = paddle.log(n.astype("float32") / exact + 1e-6) / math.log(16 / exact) * (buckets - exact)
        large = paddle.minimum(exact + large.astype("int64"), paddle.full_like(n, buckets - 1))
        return offset + paddle.where(n < exact, n, large)

    def forward(self, x, memory=None, bias=None):
        memory = x if memory is None else memory
        q, k, v = (
            t.reshape([0, -1, self.heads, self.dim]).transpose([0, 2, 1, 3])
            for t in (self.q(x), self.k(memory), self.v(memory))
        )
        scores = q @ k.transpose([0, 1, 3, 2])
        if bias is None and self.bias is not None:
            n, m = x.shape[1], memory.shape[1]
            distance = paddle.arange(m).unsqueeze(0) - paddle.arange(n).unsqueeze(1)
            bias = self.bias(self.bucket(distance)).transpose([2, 0, 1]).unsqueeze(0)
            if not self.bidirectional:
                bias = bias + (distance > 0).astype("float32") * -1e9
        if bias is not None:
            scores = scores + bias
        y = F.softmax(scores, axis=-1) @ v
        return self.o(y.transpose([0, 2, 1, 3]).flatten(start_axis=2)), bias


class T5Block(nn.Layer):
    def __init__(self, hidden, heads, decoder, first):
        super().__init__()
        self.attention = RelativeAttention(hidden, heads, not decoder, first)
        self.cross = RelativeAttention(hidden, heads, True, False) if decoder else None
        self.norms = nn.LayerList([nn.LayerNorm(hidden) for _ in range(3 if decoder else 2)])
        self.wi, self.wo = nn.Linear(hidden, 64, bias_attr=False), nn.Linear(64, hidden, bias_attr=False)

    def forward(self, x, memory=None, bias=None):
        y, bias = self.attention(self.norms[0](x), bias=bias)
        x = x + y
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory)[0]
        return x + self.wo(F.relu(self.wi(self.norms[-1](x)))), bias


class T5Model(nn.Layer):
    def __init__(self, vocab=50, hidden=32, heads=4, layers=2):
        super().__init__()
        self.shared = nn.Embedding(vocab, hidden)
        self.encoder = nn.LayerList([T5Block(hidden, heads, False, i == 0) for i in range(layers)])
        self.decoder = nn.LayerList([T5Block(hidden, heads, True, i == 0) for i in range(layers)])
        self.norm = nn.LayerNorm(hidden)

    def encode(self, ids):
        x, bias = self.shared(ids), None
        for block in self.encoder:
            x, bias = block(x, bias=bias)
        return x

    def decode(self, ids, memory):
        x, bias = self.shared(ids), None
        for block in self.decoder:
            x, bias = block(x, memory, bias)
        return self.norm(x) @ self.shared.weight.t()


@model("t5_train", lambda n, draw: [draw.tokens(50, n, 9), draw.tokens(50, n, 6)], dynamic=((0, 1), (0, 1)))
class T5(T5Model):
    """Relative position buckets shared over layers; batch and both lengths are open."""

    def forward(self, source, target):
        return self.decode(target, self.encode(source))


@model("t5_greedy", lambda n, draw: [draw.tokens(50, n, 9)], trains=False, why="returns tokens")
class T5Greedy(T5Model):
    """Greedy search in a while loop that breaks when all rows have ended; dict result."""

    def forward(self, source, limit=7):
        memory = self.encode(source)
        ids = paddle.full([source.shape[0], 1], 1, dtype="int64")
        unfinished = paddle.ones_like(ids)
        while True:
            logits = self.decode(ids, memory)[:, -1]
            token = logits.argmax(-1, keepdim=True) * unfinished
            ids = paddle.concat([ids, token], axis=-1)
            unfinished = unfinished * (token != 2).astype("int64")
            if unfinished.sum() == 0:
                break
            if paddle.shape(ids)[1] >= limit:
                break
        return {"ids": ids, "unfinished": unfinished}


@model("transformer_beam", lambda n, draw: [draw.tokens(30, n, 6)], trains=False, why="returns tokens")
class BeamSearch(nn.Layer):
    """Beam search with length bookkeeping over paddle.nn.Transformer; beams are gathered at each step."""

    def __init__(self, vocab=30, hidden=32, beams=3, limit=6):
        super().__init__()
        self.vocab, self.beams, self.limit = vocab, beams, limit
        self.word = nn.Embedding(vocab, hidden, weight_attr=nn.initializer.Normal(std=0.5))
        self.position = nn.Embedding(32, hidden)
        self.transformer = nn.Transformer(hidden, 4, 1, 1, 64, dropout=0.0)
        self.out = nn.Linear(hidden, vocab)

    def embed(self, ids):
        return self.word(ids) * 32**0.5 + self.position(paddle.arange(ids.shape[1]))

    def forward(self, source):
        batch, beams = source.shape[0], self.beams
        memory = self.transformer.encoder(self.embed(source))
        memory = memory.unsqueeze(1).expand([-1, beams, -1, -1]).flatten(0, 1)
        ids = paddle.ones([batch * beams, 1], dtype="int64")
        first = paddle.to_tensor([0.0] + [-1e9] * (beams - 1))
        scores = first.unsqueeze(0).tile([batch, 1])
        ended = paddle.zeros([batch, beams], dtype="bool")
        only_end = paddle.full([self.vocab], -1e9)
        only_end[0] = 0.0
        step = paddle.to_tensor(0)
        while step < self.limit and not paddle.all(ended):
            n = ids.shape[1]
            mask = paddle.triu(paddle.full([n, n], -1e9), 1)
            y = self.transformer.decoder(self.embed(ids), memory, tgt_mask=mask)
            logp = F.log_softmax(self.out(y[:, -1]), axis=-1).reshape([batch, beams, self.vocab])
            logp = paddle.where(ended.unsqueeze(-1), only_end, logp)
            total = (scores.unsqueeze(-1) + logp).reshape([batch, -1])
            scores, index = paddle.topk(total, beams, axis=-1)
            origin, token = index // self.vocab, index % self.vocab
            rows = (origin + paddle.arange(batch).unsqueeze(-1) * beams).flatten()
            ids = paddle.concat([paddle.gather(ids, rows), token.reshape([-1, 1])], axis=1)
            ended = paddle.take_along_axis(ended.astype("int64"), origin, axis=1).astype("bool") | (token == 0)
            step += 1
        return ids.reshape([batch, beams, -1]), scores
