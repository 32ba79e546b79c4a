"""Click prediction."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


def clicks(n, draw):
    return [draw.tokens(40, n, 5), draw.uniform32(n, 4)]


@model("wide_deep", clicks)
class WideDeep(nn.Layer):
    """A linear model beside a perceptron."""

    def __init__(self, features=40, fields=5, dense=4, dim=8):
        super().__init__()
        self.wide_sparse, self.wide_dense = nn.Embedding(features, 1), nn.Linear(dense, 1)
        self.embedding = nn.Embedding(features, dim, sparse=False)
        layers, width = [], fields * dim + dense
        for w in (32, 16):
            layers.extend([nn.Linear(width, w), nn.ReLU()])
            width = w
        self.deep = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, ids, dense):
        wide = self.wide_sparse(ids).sum(axis=1) + self.wide_dense(dense)
        deep = self.deep(paddle.concat([self.embedding(ids).flatten(1), dense], axis=1))
        return F.sigmoid(wide + deep)


@model("deepfm", clicks)
class DeepFM(nn.Layer):
    """Factorisation machine: half of (square of sum minus sum of squares)."""

    def __init__(self, features=40, fields=5, dense=4, dim=8):
        super().__init__()
        self.first = nn.Embedding(features, 1)
        self.embedding = nn.Embedding(features, dim)
        self.dense_vectors = self.create_parameter([1, dense, dim])
        self.mlp = nn.Sequential(nn.Linear((fields + dense) * dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, ids, dense):
        vectors = paddle.concat([self.embedding(ids), dense.unsqueeze(-1) * self.dense_vectors], axis=1)
        squared = paddle.square(vectors.sum(1)) - paddle.square(vectors).sum(1)
        second = 0.5 * squared.sum(axis=1, keepdim=True)
        return F.sigmoid(self.first(ids).sum(1) + second + self.mlp(vectors.flatten(1)))


def histories(n, draw):
    lengths = draw.randint(1, 7, [n]).astype("int64")
    return [draw.tokens(40, n, 6), lengths, draw.tokens(40, n)]


@model("din", histories)
class DIN(nn.Layer):
    """Interest attention over a user's history with a mask by length."""

    def __init__(self, items=40, dim=8):
        super().__init__()
        self.item = nn.Embedding(items, dim)
        self.attention = nn.Sequential(nn.Linear(4 * dim, 16), nn.Sigmoid(), nn.Linear(16, 1))
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 16), nn.PReLU(), nn.Linear(16, 1))

    def forward(self, history, lengths, target):
        h, t = self.item(history), self.item(target)
        q = t.unsqueeze(1).expand_as(h)
        score = self.attention(paddle.concat([q, h, q - h, q * h], -1)).squeeze(-1)
        mask = F.sequence_mask(lengths, maxlen=history.shape[1], dtype="int32").astype("bool")
        score = paddle.where(mask, score, paddle.full_like(score, -(2.0**32)))
        interest = paddle.matmul(F.softmax(score, -1).unsqueeze(1), h).squeeze(1)
        return F.sigmoid(self.mlp(paddle.concat([interest, t], axis=-1)))


@model("dcn_multitask", clicks)
class CrossMultiTask(nn.Layer):
    """Cross layers and a gated mixture for two tasks; a dict."""

    def __init__(self, features=40, dim=4, tasks=("click", "buy")):
        super().__init__()
        self.embedding = nn.Embedding(features, dim)
        width = 5 * dim + 4
        self.cross = nn.LayerList([nn.Linear(width, width) for _ in range(2)])
        self.experts = nn.LayerList([nn.Linear(width, 8) for _ in range(3)])
        self.gates = nn.LayerDict({t: nn.Linear(width, 3) for t in tasks})
        self.towers = nn.LayerDict({t: nn.Linear(8, 1) for t in tasks})

    def forward(self, ids, dense):
        x0 = x = paddle.concat([self.embedding(ids).reshape([ids.shape[0], -1]), dense], axis=-1)
        for layer in self.cross:
            x = x0 * layer(x) + x
        experts = paddle.stack([F.relu(e(x)) for e in self.experts], axis=1)
        results = {}
        for task, gate in self.gates.items():
            w = F.softmax(gate(x), axis=-1)
            results[task] = F.sigmoid(self.towers[task]((w.unsqueeze(-1) * experts).sum(1)))
        return results
