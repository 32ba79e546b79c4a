"""Algorithms inside of networks: clustering, search, planning, inner loops of learning."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("kmeans_layer", lambda n, draw: [draw.image(n, 12, 4)])
class KMeansLayer(nn.Layer):
    """Soft k-means until the centres stand still."""

    def __init__(self, size=4, clusters=3, limit=20):
        super().__init__()
        self.encode = nn.Linear(size, 6)
        self.start = self.create_parameter([clusters, 6], default_initializer=nn.initializer.Normal())
        self.limit = limit

    def forward(self, x):
        x = self.encode(x)
        centers = self.start.unsqueeze(0).expand([x.shape[0], -1, -1])
        for step in range(self.limit):
            distance = (x.unsqueeze(2) - centers.unsqueeze(1)).square().sum(-1)
            weight = F.softmax(-2.0 * distance, axis=-1)
            new = paddle.matmul(weight, x, transpose_x=True) / weight.sum(1).unsqueeze(-1)
            moved = (new - centers).norm(axis=-1).max()
            centers = new
            if moved < 0.02:
                break
        return {"centers": centers, "assignment": weight.argmax(-1)}


@model("hopfield", lambda n, draw: [draw.image(n, 10)])
class Hopfield(nn.Layer):
    """A modern Hopfield network: retrieves until the energy no longer falls."""

    def __init__(self, size=10, patterns=6):
        super().__init__()
        self.patterns = self.create_parameter([patterns, size], default_initializer=nn.initializer.Normal())

    def energy(self, x):
        return 0.5 * (x * x).sum() - paddle.logsumexp(x @ self.patterns.t(), axis=-1).sum()

    def forward(self, x):
        energy, before = self.energy(x), paddle.full([], float("inf"))
        rounds = 0
        while before - energy > 1e-3:
            x = F.softmax(x @ self.patterns.t(), axis=-1) @ self.patterns
            before, energy = energy, self.energy(x)
            rounds += 1
            if rounds >= 10:
                return x, energy
        return x, energy


@model("value_iteration", lambda n, draw: [draw.image(n, 2, 8, 8)])
class ValueIteration(nn.Layer):
    """Planning on a grid by convolutions and maxima over actions, until the values have settled."""

    def __init__(self, actions=4):
        super().__init__()
        self.reward = nn.Sequential(nn.Conv2D(2, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 1, 1))
        self.q = nn.Conv2D(2, actions, 3, padding=1, weight_attr=nn.initializer.Uniform(-0.1, 0.1))

    def forward(self, grid):
        reward = self.reward(grid)
        value = paddle.zeros_like(reward)
        change, k = paddle.ones([]), paddle.zeros([], dtype="int64")
        while paddle.logical_and(change > 1e-2, k < 12):
            new = self.q(paddle.concat([reward, value], axis=1)).max(axis=1, keepdim=True)
            change = paddle.abs(new - value).max()
            value, k = new, k + 1
        return value, k


@model("maml", lambda n, draw: [draw.image(n, 5, 3), draw.image(n, 5, 1), draw.image(n, 4, 3)], tolerance=2e-5, why="steps along gradients", differentiates=True)
class MAML(nn.Layer):
    """Adapts to a task by gradient steps in forward, then predicts: second-order meta-learning."""

    def __init__(self, size=3, hidden=8):
        super().__init__()
        self.w1 = self.create_parameter([size, hidden])
        self.b1 = self.create_parameter([hidden], is_bias=True)
        self.w2 = self.create_parameter([hidden, 1])

    def run(self, x, weights):
        w1, b1, w2 = weights
        return paddle.tanh(x @ w1 + b1) @ w2

    def forward(self, support, target, query):
        weights = [self.w1, self.b1, self.w2]
        for _ in range(2):
            loss = F.mse_loss(self.run(support, weights), target)
            grads = paddle.grad(loss, weights, create_graph=True)
            weights = [w - 0.1 * g for w, g in zip(weights, grads)]
        return self.run(query, weights)


@model("entmax_attention", lambda n, draw: [draw.image(n, 6, 12)])
class EntmaxAttention(nn.Layer):
    """Sparse attention weights; their threshold is found by bisection that ends when it is tight."""

    def __init__(self, size=12):
        super().__init__()
        self.qkv = nn.Linear(size, 3 * size)

    def entmax(self, z):
        z = z * 0.5
        low, high = z.max(-1, keepdim=True) - 1, z.max(-1, keepdim=True)
        while (high - low).max() > 1e-5:
            middle = (low + high) / 2
            mass = F.relu(z - middle).square().sum(-1, keepdim=True)
            low = paddle.where(mass >= 1, middle, low)
            high = paddle.where(mass >= 1, high, middle)
        p = F.relu(z - low).square()
        return p / p.sum(-1, keepdim=True)

    def forward(self, x):
        q, k, v = paddle.split(self.qkv(x), 3, axis=-1)
        weights = self.entmax(paddle.matmul(q, k, transpose_y=True))
        return paddle.matmul(weights, v), weights


@model("speculative_decoding", lambda n, draw: [draw.tokens(20, n, 4)], trains=False, why="returns tokens")
class SpeculativeDecoding(nn.Layer):
    """A small model drafts three tokens, the large one keeps the prefix it agrees with; nested loops with break."""

    def __init__(self, vocab=20, size=12, length=12):
        super().__init__()
        self.length = length
        self.draft = nn.Sequential(nn.Embedding(vocab, size), nn.Linear(size, vocab))
        self.word = nn.Embedding(vocab, size, weight_attr=nn.initializer.Normal())
        self.mix = nn.GRU(size, size)
        self.out = nn.Linear(size, vocab)

    def target(self, ids):
        y, _ = self.mix(self.word(ids))
        return self.out(y).argmax(-1)

    def forward(self, ids):
        ids = ids[:1]
        calls = paddle.zeros([], dtype="int64")
        while paddle.shape(ids)[1] < self.length:
            start = ids.shape[1]
            for _ in range(3):
                ids = paddle.concat([ids, self.draft(ids[:, -1]).argmax(-1, keepdim=True)], axis=1)
            checked = self.target(ids)
            calls += 1
            good = 0
            for k in range(3):
                if checked[0, start - 1 + k] != ids[0, start + k]:
                    break
                good = good + 1
            kept = ids[:, : start + good]
            ids = paddle.concat([kept, checked[:, start - 1 + good].unsqueeze(1)], axis=1)
        return ids[:, : self.length], calls


@model("policy_rollout", lambda n, draw: [draw.image(n, 4)], tolerance=2e-5, why="a system run for many steps")
class PolicyRollout(nn.Layer):
    """A cart and pole under a policy, until it falls or time is up; rewards are collected in a list."""

    def __init__(self, hidden=8):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 1), nn.Tanh())

    def step(self, state):
        x, v, angle, spin = paddle.unbind(state, axis=-1)
        force = self.policy(state).squeeze(-1)
        acceleration = (9.8 * paddle.sin(angle) - paddle.cos(angle) * force) / (0.6 + 0.1 * paddle.cos(angle) ** 2)
        return paddle.stack([x + 0.05 * v, v + 0.05 * force, angle + 0.05 * spin, spin + 0.05 * acceleration], axis=-1)

    def forward(self, state):
        state = state * 0.1
        rewards = [paddle.cos(state[:, 2])]
        t = paddle.zeros([], dtype="int32")
        while t < 15:
            state = self.step(state)
            if (state[:, 2].abs() > 0.6).any():
                break
            rewards.append(paddle.cos(state[:, 2]))
            t = t + 1
        rewards = paddle.stack(rewards, axis=1)
        return {"return": rewards.sum(1), "state": state, "steps": t}


@model("conjugate_gradient", lambda n, draw: [draw.image(n, 6)], tolerance=5e-5, why="an iteration to a residual")
class ConjugateGradient(nn.Layer):
    """Solves a learned symmetric system by conjugate gradients; both the exit and the result hang on the residual."""

    def __init__(self, size=6):
        super().__init__()
        self.a = self.create_parameter([size, size], default_initializer=nn.initializer.Normal(std=0.3))

    def forward(self, b):
        a = self.a @ self.a.t() + paddle.eye(self.a.shape[0])
        x, r = paddle.zeros_like(b), b
        p, rs = r, (r * r).sum(-1, keepdim=True)
        for i in range(6):
            ap = p @ a
            alpha = rs / ((p * ap).sum(-1, keepdim=True) + 1e-12)
            x, r = x + alpha * p, r - alpha * ap
            new = (r * r).sum(-1, keepdim=True)
            if new.max().sqrt() < 1e-2:
                return x, i
            p, rs = r + new / rs * p, new
        return x, 6
