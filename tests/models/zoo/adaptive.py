"""Networks whose computation depends on their input."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("adaptive_computation", lambda n, draw: [draw.image(n, 8)])
class AdaptiveComputation(nn.Layer):
    """Ponders until the halting probabilities of all rows reach one."""

    def __init__(self, size=8, hidden=12, limit=8):
        super().__init__()
        self.cell = nn.GRUCell(size, hidden)
        self.halt = nn.Linear(hidden, 1)
        self.out = nn.Linear(hidden, 3)
        self.hidden, self.limit = hidden, limit

    def forward(self, x):
        b = x.shape[0]
        state = paddle.zeros([b, self.hidden])
        total = paddle.zeros([b, 1])
        mixed = paddle.zeros([b, self.hidden])
        updates = paddle.zeros([b, 1])
        step = 0
        while (total < 0.99).any() and step < self.limit:
            running = (total < 0.99).astype("float32")
            _, state = self.cell(x, state)
            p = F.sigmoid(self.halt(state)) * running
            ends = ((total + p) >= 0.99).astype("float32") * running
            weight = ends * (1 - total) + (running - ends) * p
            mixed = mixed + weight * state
            total = total + weight
            updates = updates + running
            step += 1
        return {"logits": self.out(mixed), "ponder": updates.mean()}


@model("early_exit", lambda n, draw: [draw.image(n, 3, 16, 16)])
class EarlyExit(nn.Layer):
    """Returns at the first branch that is confident; all branches in training."""

    def __init__(self, classes=5):
        super().__init__()
        self.blocks = nn.LayerList(
            [nn.Sequential(nn.Conv2D(cin, 12, 3, 2, 1), nn.BatchNorm2D(12), nn.ReLU()) for cin in (3, 12, 12)]
        )
        self.exits = nn.LayerList([nn.Linear(12, classes) for _ in range(3)])

    def forward(self, x):
        if self.training:
            outs = []
            for block, leave in zip(self.blocks, self.exits):
                x = block(x)
                outs.append(leave(x.mean([2, 3])))
            return paddle.stack(outs)
        for block, leave in zip(self.blocks[:-1], self.exits[:-1]):
            x = block(x)
            logits = leave(x.mean([2, 3]))
            confidence = F.softmax(logits, axis=-1).max(axis=-1)
            if confidence.min() > 0.23:
                return logits
        x = self.blocks[-1](x)
        return self.exits[-1](x.mean([2, 3]))


@model("capsule", lambda n, draw: [draw.image(n, 1, 20, 20)], tolerance=2e-5, why="routing divides by norms")
class Capsules(nn.Layer):
    """Routing by agreement; the loop ends early once the coupling has settled."""

    def __init__(self, classes=4, dim=8, primary=6):
        super().__init__()
        self.conv = nn.Conv2D(1, 16, 5, 2)
        self.primary = nn.Conv2D(16, 4 * primary, 5, 2)
        self.weight = self.create_parameter([1, 4 * primary, classes, dim, 4])
        self.classes = classes

    def squash(self, x):
        n = (x * x).sum(-1, keepdim=True)
        return x * n / (1 + n) / paddle.sqrt(n + 1e-8)

    def forward(self, x):
        p = F.relu(self.conv(x))
        p = self.squash(self.primary(p).reshape([x.shape[0], -1, 4]))
        u = paddle.matmul(self.weight, p.unsqueeze(2).unsqueeze(-1)).squeeze(-1)
        logits = paddle.zeros(u.shape[:3])
        previous = paddle.zeros([x.shape[0], self.classes, u.shape[-1]])
        for i in range(4):
            c = F.softmax(logits, axis=2)
            v = self.squash((c.unsqueeze(-1) * u).sum(1))
            if (v - previous).abs().max() < 1e-4:
                break
            previous = v
            logits = logits + (u * v.unsqueeze(1)).sum(-1)
        return v, (v * v).sum(-1).sqrt()


@model("hypernetwork", lambda n, draw: [draw.image(n, 6), draw.image(n, 10)])
class HyperNetwork(nn.Layer):
    """One network writes the other's weights, row by row of the batch."""

    def __init__(self, context=6, size=10, hidden=8):
        super().__init__()
        self.shapes = [(size, hidden), (hidden, 3)]
        total = sum(a * b + b for a, b in self.shapes)
        self.hyper = nn.Sequential(nn.Linear(context, 16), nn.ReLU(), nn.Linear(16, total))

    def forward(self, context, x):
        flat, start = self.hyper(context) * 0.3, 0
        y = x.unsqueeze(1)
        for k, (a, b) in enumerate(self.shapes):
            w = flat[:, start : start + a * b].reshape([-1, a, b])
            bias = flat[:, start + a * b : start + a * b + b].unsqueeze(1)
            start += a * b + b
            y = paddle.bmm(y, w) + bias
            if k + 1 < len(self.shapes):
                y = F.relu(y)
        return y.squeeze(1)


@model("mixture_of_depths", lambda n, draw: [draw.image(n, 6, 12)])
class MixtureOfDepths(nn.Layer):
    """Blocks are skipped where the batch's mean gate says so; decisions are kept in a list."""

    def __init__(self, dim=12, blocks=4):
        super().__init__()
        self.gates = nn.LayerList([nn.Linear(dim, 1) for _ in range(blocks)])
        self.blocks = nn.LayerList(
            [nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 24), nn.ReLU(), nn.Linear(24, dim)) for _ in range(blocks)]
        )

    def forward(self, x):
        used = []
        for gate, block in zip(self.gates, self.blocks):
            g = F.sigmoid(gate(x.mean(1)))
            if g.mean() > 0.5:
                x = x + g.unsqueeze(1) * block(x)
                used.append(paddle.ones([]))
            else:
                used.append(paddle.zeros([]))
        return {"x": x, "used": paddle.stack(used)}


@model("tree_lstm", lambda n, draw: [draw.tokens(20, n, 4), draw.randint(0, 3, [3]).astype("int64")], dynamic=((0,), ()))
class TreeComposer(nn.Layer):
    """Reads a program of merge steps (shift, add, multiply) and runs it on a list of vectors."""

    def __init__(self, vocab=20, dim=10):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.merge = nn.Linear(2 * dim, dim)
        self.gate = nn.Linear(2 * dim, dim)

    def forward(self, ids, program):
        x = self.embedding(ids)
        state = x[:, 0]
        for k in range(3):
            both = paddle.concat([state, x[:, k + 1]], axis=-1)
            op = program[k]
            if op == 0:
                state = paddle.tanh(self.merge(both))
            elif op == 1:
                state = state + x[:, k + 1]
            else:
                g = F.sigmoid(self.gate(both))
                state = g * state + (1 - g) * x[:, k + 1]
        return state
