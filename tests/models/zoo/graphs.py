"""Graph networks: nodes, edges, messages."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


def graph(n, draw):
    nodes, edges = 5 * n, 14 * n
    source, target = draw.randint(0, nodes, edges), draw.randint(0, nodes, edges)
    return [draw.image(nodes, 8), np.stack([source, target]).astype("int64")]


OPEN = ((0,), (1,))


@model("gcn", graph, dynamic=OPEN)
class GCN(nn.Layer):
    """Symmetric normalisation by degrees, messages by gather and scatter; open nodes and edges."""

    def __init__(self, size=8, hidden=16, classes=3):
        super().__init__()
        self.w1, self.w2 = nn.Linear(size, hidden), nn.Linear(hidden, classes)

    def propagate(self, x, source, target, norm):
        messages = paddle.gather(x, source) * norm.unsqueeze(-1)
        return paddle.scatter(paddle.zeros_like(x), target, messages, overwrite=False)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        ones = paddle.ones([source.shape[0]])
        degree = paddle.scatter(paddle.zeros([x.shape[0]]), target, ones, overwrite=False) + 1
        norm = degree.rsqrt()
        weight = paddle.gather(norm, source) * paddle.gather(norm, target)
        h = self.w1(x)
        h = F.relu(self.propagate(h, source, target, weight) + h * (norm * norm).unsqueeze(-1))
        h = self.w2(F.dropout(h, 0.5, training=self.training))
        return self.propagate(h, source, target, weight) + h * (norm * norm).unsqueeze(-1)


@model("gat", graph, dynamic=OPEN)
class GAT(nn.Layer):
    """Attention over edges: softmax by segments, two heads."""

    def __init__(self, size=8, hidden=8, heads=2, classes=3):
        super().__init__()
        self.heads, self.hidden = heads, hidden
        self.w = nn.Linear(size, heads * hidden, bias_attr=False)
        self.a_source = self.create_parameter([heads, hidden])
        self.a_target = self.create_parameter([heads, hidden])
        self.out = nn.Linear(heads * hidden, classes)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        h = self.w(x).reshape([-1, self.heads, self.hidden])
        score = paddle.gather((h * self.a_source).sum(-1), source) + paddle.gather((h * self.a_target).sum(-1), target)
        score = F.leaky_relu(score, 0.2)
        score = paddle.exp(score - score.max())
        total = paddle.geometric.send_ue_recv(
            paddle.zeros([x.shape[0], self.heads]), score, source, target, "add", "sum", out_size=x.shape[0]
        )
        alpha = score / (paddle.gather(total, target) + 1e-9)
        messages = paddle.gather(h, source) * alpha.unsqueeze(-1)
        y = paddle.zeros_like(h)
        y = paddle.index_add(y, target, 0, messages)
        return self.out(F.elu(y.flatten(1)))


@model("graphsage", graph, dynamic=OPEN)
class GraphSAGE(nn.Layer):
    """Mean of neighbours by paddle.geometric, normalised."""

    def __init__(self, size=8, hidden=16, classes=3):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(2 * size, hidden), nn.Linear(2 * hidden, classes)])

    def forward(self, x, edges):
        for i, layer in enumerate(self.layers):
            around = paddle.geometric.send_u_recv(x, edges[0], edges[1], reduce_op="mean", out_size=x.shape[0])
            x = layer(paddle.concat([x, around], axis=-1))
            if i + 1 < len(self.layers):
                x = F.normalize(F.relu(x), axis=-1)
        return x


def molecules(n, draw):
    x, edges = graph(n, draw)
    ids = np.repeat(np.arange(n), 5)
    return [x, edges, draw.image(edges.shape[1], 4), ids.astype("int64")]


@model("message_passing", molecules, dynamic=((0,), (1,), (0,), (0,)))
class MPNN(nn.Layer):
    """Edge networks, GRU updates, a graph's nodes summed by segments."""

    def __init__(self, size=8, edge=4, rounds=3):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(edge, 16), nn.ReLU(), nn.Linear(16, size * size))
        self.gru = nn.GRUCell(size, size)
        self.head = nn.Linear(size, 2)
        self.size, self.rounds = size, rounds

    def forward(self, x, edges, features, graph_ids):
        source, target = edges[0], edges[1]
        weights = self.edge(features).reshape([-1, self.size, self.size])
        h = x
        for _ in range(self.rounds):
            message = paddle.bmm(weights, paddle.gather(h, source).unsqueeze(-1)).squeeze(-1)
            pooled = paddle.scatter_nd_add(paddle.zeros_like(h), target.unsqueeze(-1), message)
            _, h = self.gru(pooled, h)
        return self.head(paddle.geometric.segment_sum(h, graph_ids)), paddle.geometric.segment_max(h, graph_ids)


@model("label_propagation", graph, dynamic=OPEN)
class LabelPropagation(nn.Layer):
    """Predictions are smoothed over the edges until they no longer change."""

    def __init__(self, size=8, classes=3):
        super().__init__()
        self.fc = nn.Linear(size, classes)

    def forward(self, x, edges):
        y0 = F.softmax(self.fc(x), axis=-1)
        y, change, rounds = y0, paddle.ones([]), paddle.zeros([], dtype="int32")
        while change > 1e-2 and rounds < 20:
            spread = paddle.geometric.send_u_recv(y, edges[0], edges[1], reduce_op="sum", out_size=x.shape[0])
            spread = spread + 1e-3
            new = 0.5 * y0 + 0.5 * spread / spread.sum(-1, keepdim=True)
            change = (new - y).abs().max()
            y = new
            rounds += 1
        return y, rounds
