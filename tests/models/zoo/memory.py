"""Networks with an external memory."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("neural_turing_machine", lambda n, draw: [draw.image(n, 5, 6)])
class NTM(nn.Layer):
    """Content and location addressing, erase and add, one head."""

    def __init__(self, size=6, hidden=16, slots=8, width=5):
        super().__init__()
        self.slots, self.width, self.hidden = slots, width, hidden
        self.controller = nn.LSTMCell(size + width, hidden)
        self.head = nn.Linear(hidden, width + 1 + 1 + 3 + 1 + 2 * width)
        self.out = nn.Linear(hidden + width, size)
        self.start = self.create_parameter([slots, width], default_initializer=nn.initializer.Uniform(-0.5, 0.5))

    def address(self, memory, previous, key, beta, gate, shift, gamma):
        similarity = F.cosine_similarity(memory, key.unsqueeze(1), axis=-1)
        content = F.softmax(F.softplus(beta) * similarity, axis=-1)
        g = F.sigmoid(gate)
        w = g * content + (1 - g) * previous
        s = F.softmax(shift, axis=-1)
        w = s[:, 0:1] * w.roll(1, axis=1) + s[:, 1:2] * w + s[:, 2:3] * w.roll(-1, axis=1)
        w = w.clip(min=1e-6) ** (1 + F.softplus(gamma))
        return w / w.sum(-1, keepdim=True)

    def forward(self, x):
        b = x.shape[0]
        memory = self.start.unsqueeze(0).tile([b, 1, 1])
        state = (paddle.zeros([b, self.hidden]), paddle.zeros([b, self.hidden]))
        read = paddle.zeros([b, self.width])
        weights = F.one_hot(paddle.zeros([b], dtype="int64"), self.slots)
        outs = []
        for t in range(x.shape[1]):
            h, state = self.controller(paddle.concat([x[:, t], read], -1), state)
            sections = [self.width, 1, 1, 3, 1, self.width, self.width]
            key, beta, gate, shift, gamma, erase, add = self.head(h).split(sections, axis=-1)
            weights = self.address(memory, weights, key, beta, gate, shift, gamma)
            memory = memory * (1 - weights.unsqueeze(2) * F.sigmoid(erase).unsqueeze(1))
            memory = memory + weights.unsqueeze(2) * add.unsqueeze(1)
            read = paddle.einsum("bs,bsw->bw", weights, memory)
            outs.append(self.out(paddle.concat([h, read], axis=-1)))
        return paddle.stack(outs, axis=1), memory


@model("stack_machine", lambda n, draw: [draw.tokens(12, n, 8)], trains=False, why="hard choices")
class StackMachine(nn.Layer):
    """A hard stack: push, pop or stay as the controller says; written by setitem, ended when the stack overflows."""

    def __init__(self, vocab=12, hidden=16, depth=5):
        super().__init__()
        self.depth = depth
        self.embedding = nn.Embedding(vocab, hidden, weight_attr=nn.initializer.Normal())
        self.action = nn.Linear(2 * hidden, 3)
        self.mix = nn.Linear(2 * hidden, hidden)

    def forward(self, ids):
        x = self.embedding(ids)
        b, n, d = x.shape
        stack = paddle.zeros([b, self.depth, d])
        top = paddle.zeros([], dtype="int64")
        pushed = paddle.zeros([], dtype="int64")
        for t in range(n):
            head = stack[:, top]
            action = self.action(paddle.concat([x[:, t], head], -1)).mean(0).argmax()
            if action == 0:
                if top + 1 >= self.depth:
                    break
                top = top + 1
                pushed += 1
                stack[:, top] = paddle.tanh(self.mix(paddle.concat([x[:, t], head], -1)))
            elif action == 1:
                if top > 0:
                    top = top - 1
        return stack, top, pushed


@model("memory_network", lambda n, draw: [draw.tokens(30, n, 5, 4), draw.tokens(30, n, 4)])
class MemoryNetwork(nn.Layer):
    """Several hops over stored sentences; stops early once attention is sharp."""

    def __init__(self, vocab=30, dim=12, hops=4):
        super().__init__()
        self.a, self.c, self.b = nn.Embedding(vocab, dim), nn.Embedding(vocab, dim), nn.Embedding(vocab, dim)
        self.hop = nn.Linear(dim, dim)
        self.hops = hops

    def forward(self, stories, question):
        m, c = self.a(stories).sum(axis=2), self.c(stories).sum(axis=2)
        u = self.b(question).sum(axis=1)
        for _ in range(self.hops):
            p = F.softmax(paddle.bmm(m, u.unsqueeze(-1)).squeeze(-1), axis=-1)
            u = self.hop(u) + (p.unsqueeze(-1) * c).sum(1)
            if p.max() > 0.9:
                break
        return paddle.matmul(u, self.c.weight, transpose_y=True)


@model("linear_attention_state", lambda n, draw: [draw.image(n, 4 + n, 16)], dynamic=((0, 1),))
class DeltaNet(nn.Layer):
    """A fast-weight memory updated by the delta rule for each token of an open length."""

    def __init__(self, dim=16):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.beta = nn.Linear(dim, 1)
        self.dim = dim

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, axis=-1)
        k = F.normalize(k, axis=-1)
        beta = F.sigmoid(self.beta(x))
        memory = paddle.zeros([x.shape[0], self.dim, self.dim])
        outs = []
        t = 0
        while t < x.shape[1]:
            kt = k[:, t].unsqueeze(-1)
            old = paddle.matmul(memory, kt).squeeze(-1)
            write = beta[:, t] * (v[:, t] - old)
            memory = memory + write.unsqueeze(-1) * kt.transpose([0, 2, 1])
            outs.append(paddle.matmul(memory, q[:, t].unsqueeze(-1)).squeeze(-1))
            t += 1
        return paddle.stack(outs, axis=1)
