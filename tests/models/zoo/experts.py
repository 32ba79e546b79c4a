"""Mixtures of experts."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


class Expert(nn.Layer):
    def __init__(self, dim, inner):
        super().__init__()
        self.up, self.down = nn.Linear(dim, inner), nn.Linear(inner, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


@model("moe_top_k", lambda n, draw: [draw.image(n, 6, 16)])
class TopKMoE(nn.Layer):
    """Tokens of each expert by nonzero, gathered, computed, scattered back; empty experts are skipped."""

    def __init__(self, dim=16, experts=4, k=2):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(dim, experts, bias_attr=False)
        self.experts = nn.LayerList([Expert(dim, 32) for _ in range(experts)])

    def forward(self, x):
        shape = x.shape
        tokens = x.reshape([-1, shape[-1]])
        scores = F.softmax(self.gate(tokens), axis=-1)
        weight, chosen = paddle.topk(scores, self.k, axis=-1)
        weight = weight / weight.sum(axis=-1, keepdim=True)
        result = paddle.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            hit = (chosen == i).astype("float32")
            rows = paddle.nonzero(hit.sum(-1)).flatten()
            if rows.shape[0] == 0:
                continue
            part = expert(paddle.gather(tokens, rows))
            w = paddle.gather((weight * hit).sum(-1, keepdim=True), rows)
            result = paddle.scatter_nd_add(result, rows.unsqueeze(-1), part * w)
        return result.reshape(shape)


@model("moe_switch", lambda n, draw: [draw.image(n, 8, 16)])
class SwitchMoE(nn.Layer):
    """Top-1 routing with capacity and a balance loss; dispatch by einsum; a dict."""

    def __init__(self, dim=16, experts=4, capacity=6):
        super().__init__()
        self.experts, self.capacity = experts, capacity
        self.router = nn.Linear(dim, experts)
        self.w1 = self.create_parameter([experts, dim, 32])
        self.w2 = self.create_parameter([experts, 32, dim])

    def forward(self, x):
        b, n, d = x.shape
        tokens = x.reshape([b * n, d])
        probs = F.softmax(self.router(tokens), axis=-1)
        gate, index = probs.max(axis=-1), probs.argmax(axis=-1)
        mask = F.one_hot(index, self.experts)
        position = (paddle.cumsum(mask, axis=0) - 1) * mask
        mask = mask * (position < self.capacity).astype("float32")
        slot = F.one_hot((position * mask).sum(-1).astype("int64"), self.capacity)
        dispatch = mask.unsqueeze(-1) * slot.unsqueeze(1)
        inputs = paddle.einsum("tec,td->ecd", dispatch, tokens)
        hidden = F.relu(paddle.bmm(inputs, self.w1))
        outputs = paddle.bmm(hidden, self.w2)
        y = paddle.einsum("tec,ecd->td", dispatch * gate.unsqueeze(-1).unsqueeze(-1), outputs)
        balance = (mask.mean(0) * probs.mean(0)).sum() * self.experts
        return {"output": x + y.reshape([b, n, d]), "balance": balance}


@model("moe_expert_choice", lambda n, draw: [draw.image(n, 8, 16)])
class ExpertChoice(nn.Layer):
    """Each expert picks its tokens; a heavy expert is used only when the batch is confident."""

    def __init__(self, dim=16, experts=3, per_expert=5):
        super().__init__()
        self.take = per_expert
        self.router = nn.Linear(dim, experts)
        self.experts = nn.LayerList([Expert(dim, 24) for _ in range(experts)])
        self.heavy = Expert(dim, 64)

    def forward(self, x):
        b, n, d = x.shape
        scores = F.softmax(self.router(x), axis=-1).transpose([0, 2, 1])
        weight, index = paddle.topk(scores, self.take, axis=-1)
        out = paddle.zeros_like(x)
        for e, expert in enumerate(self.experts):
            spread = F.one_hot(index[:, e], n)
            picked = paddle.matmul(spread, x)
            out = out + paddle.matmul(spread, expert(picked) * weight[:, e].unsqueeze(-1), transpose_x=True)
        if weight[:, 0].mean() > 0.4:
            out = out + self.heavy(x)
        return out
