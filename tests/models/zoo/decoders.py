"""Transformer decoders that generate."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


class CausalAttention(nn.Layer):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads, self.dim = heads, hidden // heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)

    def forward(self, x, cache=None):
        b, n = x.shape[0], x.shape[1]
        qkv = self.qkv(x).reshape([b, n, 3, self.heads, self.dim]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv[0], qkv[1], qkv[2]
        if cache is not None:
            k = paddle.concat([cache[0], k], axis=2)
            v = paddle.concat([cache[1], v], axis=2)
        scores = paddle.matmul(q, k, transpose_y=True) * self.dim**-0.5
        if n > 1:
            scores = scores + paddle.triu(paddle.full([n, n], -1e9), diagonal=1)
        y = paddle.matmul(F.softmax(scores, axis=-1), v)
        return self.out(y.transpose([0, 2, 1, 3]).reshape([b, n, self.heads * self.dim])), (k, v)


class GPTBlock(nn.Layer):
    def __init__(self, hidden, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.attention = CausalAttention(hidden, heads)
        self.mlp = nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(approximate=True), nn.Linear(4 * hidden, hidden))

    def forward(self, x, cache=None):
        y, cache = self.attention(self.norm1(x), cache)
        x = x + y
        return x + self.mlp(self.norm2(x)), cache


@model("gpt_generate", lambda n, draw: [draw.tokens(40, n, 5)], trains=False, why="returns tokens")
class GPT(nn.Layer):
    """Generates with a key-value cache (a list of tuples that grows) until every row has ended or the budget is spent."""

    def __init__(self, vocab=40, hidden=32, layers=2, heads=4, budget=8):
        super().__init__()
        self.budget = budget
        self.word = nn.Embedding(vocab, hidden, weight_attr=nn.initializer.Normal(std=0.6))
        self.position = nn.Embedding(64, hidden)
        self.blocks = nn.LayerList([GPTBlock(hidden, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(hidden)

    def step(self, ids, start, caches):
        positions = start + paddle.arange(ids.shape[1])
        x = self.word(ids) + self.position(positions)
        new = []
        for block, cache in zip(self.blocks, caches):
            x, cache = block(x, cache)
            new.append(cache)
        logits = paddle.matmul(self.norm(x[:, -1]), self.word.weight, transpose_y=True)
        return logits, new

    def forward(self, ids):
        length = ids.shape[1]
        logits, caches = self.step(ids, 0, [None] * len(self.blocks))
        token = logits.argmax(-1, keepdim=True)
        out = token
        done = token == 0
        count = paddle.to_tensor(1, dtype="int64")
        while count < self.budget and not done.all():
            logits, caches = self.step(token, length + count - 1, caches)
            token = logits.argmax(-1, keepdim=True)
            token = paddle.where(done, paddle.zeros_like(token), token)
            done = paddle.logical_or(done, token == 0)
            out = paddle.concat([out, token], axis=1)
            count += 1
        return out, count


@model("gpt_train", lambda n, draw: [draw.tokens(40, n, 12)], dynamic=((0, 1),))
class GPTLanguageModel(GPT):
    """The same network on a whole sequence: the loss of the next token; batch and length are open."""

    def forward(self, ids):
        x = self.word(ids) + self.position(paddle.arange(ids.shape[1]))
        for block in self.blocks:
            x, _ = block(x)
        logits = paddle.matmul(self.norm(x), self.word.weight, transpose_y=True)
        loss = F.cross_entropy(logits[:, :-1].reshape([-1, logits.shape[-1]]), ids[:, 1:].reshape([-1]))
        return logits, loss


class RMSNorm(nn.Layer):
    def __init__(self, hidden, epsilon=1e-6):
        super().__init__()
        self.weight = self.create_parameter([hidden], default_initializer=nn.initializer.Constant(1.0))
        self.epsilon = epsilon

    def forward(self, x):
        variance = x.astype("float32").pow(2).mean(-1, keepdim=True)
        return paddle.rsqrt(variance + self.epsilon) * x * self.weight


def rotate_half(x):
    a, b = paddle.chunk(x, 2, axis=-1)
    return paddle.concat([-b, a], axis=-1)


class LlamaBlock(nn.Layer):
    def __init__(self, hidden, heads, kv_heads, inner):
        super().__init__()
        self.heads, self.kv_heads, self.dim = heads, kv_heads, hidden // heads
        self.q = nn.Linear(hidden, hidden, bias_attr=False)
        self.kv = nn.Linear(hidden, 2 * kv_heads * self.dim, bias_attr=False)
        self.o = nn.Linear(hidden, hidden, bias_attr=False)
        self.gate_up = nn.Linear(hidden, 2 * inner, bias_attr=False)
        self.down = nn.Linear(inner, hidden, bias_attr=False)
        self.norm1, self.norm2 = RMSNorm(hidden), RMSNorm(hidden)

    def forward(self, x, cos, sin, past=None):
        residual = x
        b, n, hidden = x.shape
        h = self.norm1(x)
        q = self.q(h).reshape([b, n, self.heads, self.dim])
        k, v = self.kv(h).reshape([b, n, 2 * self.kv_heads, self.dim]).split(2, axis=2)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if past is not None:
            k, v = paddle.concat([past["k"], k], 1), paddle.concat([past["v"], v], 1)
        past = {"k": k, "v": v}
        k = k.repeat_interleave(self.heads // self.kv_heads, axis=2)
        v = v.repeat_interleave(self.heads // self.kv_heads, axis=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=n > 1)
        x = residual + self.o(y.reshape([b, n, hidden]))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, axis=-1)
        return x + self.down(F.silu(gate) * up), past


class LlamaModel(nn.Layer):
    def __init__(self, vocab=40, hidden=32, layers=2, heads=4, kv_heads=2, positions=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden, weight_attr=nn.initializer.Normal(std=0.5))
        self.blocks = nn.LayerList([LlamaBlock(hidden, heads, kv_heads, 64) for _ in range(layers)])
        self.norm = RMSNorm(hidden)
        self.head = nn.Linear(hidden, vocab, bias_attr=False)
        dim = hidden // heads
        inverse = 1.0 / (10000.0 ** (paddle.arange(0, dim, 2, dtype="float32") / dim))
        angles = paddle.outer(paddle.arange(positions, dtype="float32"), inverse)
        angles = paddle.concat([angles, angles], axis=-1)
        self.register_buffer("cos", angles.cos(), persistable=False)
        self.register_buffer("sin", angles.sin(), persistable=False)

    def run(self, ids, start, pasts):
        n = ids.shape[1]
        cos = self.cos[start : start + n].unsqueeze([0, 2])
        sin = self.sin[start : start + n].unsqueeze([0, 2])
        x = self.embed(ids)
        new = []
        for block, past in zip(self.blocks, pasts):
            x, past = block(x, cos, sin, past)
            new.append(past)
        return self.head(self.norm(x)), new


@model("llama_train", lambda n, draw: [draw.tokens(40, n, 8)])
class Llama(LlamaModel):
    """RMSNorm, rotary positions, grouped queries, gated MLP."""

    def forward(self, ids):
        logits, _ = self.run(ids, 0, [None] * len(self.blocks))
        return logits


@model("llama_generate", lambda n, draw: [draw.tokens(40, n, 4)], trains=False, why="returns tokens")
class LlamaGenerate(LlamaModel):
    """Greedy decoding over dict caches in a Python loop, left early when all rows ended."""

    def forward(self, ids):
        logits, pasts = self.run(ids, 0, [None] * len(self.blocks))
        tokens, finished = [], paddle.zeros([ids.shape[0]], dtype="bool")
        start = ids.shape[1]
        for step in range(6):
            token = logits[:, -1].argmax(axis=-1)
            token = paddle.where(finished, paddle.full_like(token, 0), token)
            finished = finished | (token == 3)
            tokens.append(token)
            logits, pasts = self.run(token.unsqueeze(1), start + step, pasts)
        result = paddle.stack(tokens, axis=1)
        if finished.all():
            return result, paddle.ones([], dtype="int64")
        return result, paddle.zeros([], dtype="int64")


@model("gpt_sample", lambda n, draw: [draw.tokens(40, n, 4), draw.uniform32(n, 6)], trains=False, why="returns tokens")
class TopPSampling(GPTLanguageModel):
    """Top-p sampling from given uniform numbers: sort, cumulative sum, search; re-reads the whole prefix at each step."""

    def next_logits(self, ids):
        return GPTLanguageModel.forward(self, ids)[0][:, -1]

    def forward(self, ids, uniform, top_p=0.8, temperature=0.7):
        step = paddle.zeros([1], dtype="int64")
        while step < uniform.shape[1]:
            probs = F.softmax(self.next_logits(ids) / temperature, axis=-1)
            ordered, order = paddle.sort(probs, descending=True), paddle.argsort(probs, descending=True)
            cumulative = paddle.cumsum(ordered, axis=-1)
            ordered = paddle.where(cumulative - ordered > top_p, paddle.zeros_like(ordered), ordered)
            cumulative = paddle.cumsum(ordered / ordered.sum(-1, keepdim=True), axis=-1)
            u = paddle.index_select(uniform, step, axis=1)
            rank = (cumulative < u).astype("int64").sum(-1, keepdim=True)
            rank = paddle.minimum(rank, paddle.full_like(rank, 39))
            ids = paddle.concat([ids, paddle.take_along_axis(order, rank, axis=1)], axis=1)
            step = step + 1
        return ids
