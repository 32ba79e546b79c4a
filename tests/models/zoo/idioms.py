"""Ways of writing models that client code has: state in layers, named results, helpers, comprehensions."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from functools import partial

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model

Output = namedtuple("Output", ["logits", "hidden"])


@dataclass
class Config:
    size: int = 8
    hidden: int = 16
    layers: int = 3
    activation: str = "gelu"
    residual: bool = True


@model("config_mlp", lambda n, draw: [draw.image(n, 8)])
class ConfigMLP(nn.Layer):
    """A dataclass of options, activations from a table, a named tuple as result."""

    ACTIVATIONS = {"gelu": partial(F.gelu, approximate=True), "relu": F.relu}

    def __init__(self, config=None):
        super().__init__()
        self.config = config or Config()
        c = self.config
        widths = [c.size] + [c.hidden] * c.layers
        self.layers = nn.LayerList([nn.Linear(a, b) for a, b in zip(widths[:-1], widths[1:])])
        self.head = nn.Linear(c.hidden, 3)

    def forward(self, x):
        act = self.ACTIVATIONS[self.config.activation]
        hidden = []
        for i, layer in enumerate(self.layers):
            y = act(layer(x))
            x = x + y if self.config.residual and i > 0 else y
            hidden.append(x)
        return Output(logits=self.head(x), hidden=tuple(hidden))


@model("running_statistics", lambda n, draw: [draw.image(n, 6)])
class RunningStatistics(nn.Layer):
    """Buffers that training updates by assignment, clipped where the statistics say so."""

    def __init__(self, size=6):
        super().__init__()
        self.register_buffer("mean", paddle.zeros([size]))
        self.register_buffer("count", paddle.zeros([], dtype="float32"))
        self.fc = nn.Linear(size, 4)

    def forward(self, x):
        if self.training:
            with paddle.no_grad():
                self.count = self.count + 1
                self.mean = self.mean + (x.mean(0) - self.mean) / self.count
        y = x - self.mean
        if self.count > 0.5 and y.abs().max() > 1.0:
            y = paddle.clip(y, -1.0, 1.0)
        return self.fc(y)


@model("comprehensions", lambda n, draw: [draw.image(n, 4, 6)])
class Comprehensions(nn.Layer):
    """Heads in dicts, comprehensions over tensors, sums of generators, sorted names."""

    def __init__(self, size=6):
        super().__init__()
        self.heads = nn.LayerDict(OrderedDict((name, nn.Linear(size, 3)) for name in ("left", "right", "up")))
        self.scale = nn.ParameterList([self.create_parameter([1]) for _ in range(3)])

    def forward(self, x):
        rows = [row for row in paddle.unbind(x, axis=1)]
        outs = {name: [self.heads[name](row) for row in rows] for name in sorted(self.heads.keys())}
        sums = {name: sum(v) * s for (name, v), s in zip(outs.items(), self.scale)}
        total = sum(v.mean() for v in sums.values())
        return {"sums": sums, "total": total, "pairs": [(a, b) for a, b in zip(rows, rows[1:])][0]}


class Memory(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.state = None

    def reset(self, batch):
        self.state = paddle.zeros([batch, self.size])

    def forward(self, x, gate):
        self.state = gate * self.state + (1 - gate) * x
        return self.state


@model("stateful_module", lambda n, draw: [draw.image(n, 5, 6)])
class StatefulModule(nn.Layer):
    """A sublayer whose attribute carries a tensor from step to step within one call."""

    def __init__(self, size=6):
        super().__init__()
        self.memory = Memory(size)
        self.gate = nn.Linear(size, 1)

    def forward(self, x):
        self.memory.reset(x.shape[0])
        outs = []
        for t in range(x.shape[1]):
            g = F.sigmoid(self.gate(x[:, t]))
            outs.append(self.memory(x[:, t], g))
        self.memory.state = None
        return paddle.stack(outs, 1)


@model("nested_functions", lambda n, draw: [draw.image(n, 5), draw.randint(0, 3, [1]).astype("int64")], dynamic=((0,), ()))
class NestedFunctions(nn.Layer):
    """Closures with nonlocal counters, paddle.static.nn.cond, switch_case and while_loop called by hand."""

    def __init__(self, size=5):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x, choice):
        calls = 0

        def apply(v):
            nonlocal calls
            calls += 1
            return F.tanh(self.fc(v))

        y = paddle.static.nn.cond(x.mean() > 0, lambda: apply(x), lambda: x * 0.5)
        y = paddle.static.nn.switch_case(choice, {0: lambda: y + 1, 1: lambda: y * 2}, default=lambda: y - 1)

        def go_on(i, v):
            return i < 3

        def body(i, v):
            return i + 1, apply(v) + v

        i, y = paddle.static.nn.while_loop(go_on, body, [paddle.zeros([], "int64"), y])
        return y, i


@model("in_place_masks", lambda n, draw: [draw.image(n, 6, 5), draw.randint(1, 7, [n]).astype("int64")])
class InPlaceMasks(nn.Layer):
    """Writes by slices, by masks and by indices into tensors made inside."""

    def __init__(self, size=5):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x, lengths):
        b, n, c = x.shape
        mask = paddle.zeros([b, n])
        mask[:, 0] = 1.0
        mask[:, 1:3] += 0.5
        y = self.fc(x).clone()
        y[:, -1] = y[:, 0] * 2
        y[:, ::2, 1] = 0.0
        far = paddle.arange(n).unsqueeze(0) >= lengths.unsqueeze(1)
        y = paddle.where(far.unsqueeze(-1), paddle.zeros_like(y), y)
        y[paddle.arange(b), lengths - 1] = 1.0
        z = paddle.masked_fill(mask, far, -1.0)
        if not far.any():
            z = z * 2
        return y, z


@model("ragged_sequences", lambda n, draw: [draw.tokens(20, n, 8), draw.randint(0, 2, [n, 8]).astype("int64")], trains=False, why="masks choose rows")
class RaggedSequences(nn.Layer):
    """Rows chosen by a mask: sizes that only running tells, unique values, their counts, a loop over the rows found."""

    def __init__(self, vocab=20, size=6):
        super().__init__()
        self.embedding = nn.Embedding(vocab, size)
        self.fc = nn.Linear(size, 2)

    def forward(self, ids, marks):
        chosen = paddle.masked_select(ids, marks == 1)
        x = self.embedding(chosen)
        n = chosen.shape[0]
        mean = x.sum(0) / (n + 1)
        values, counts = paddle.unique(chosen, return_counts=True)
        last = paddle.zeros([6])
        for row in x:
            if row.max() < 0:
                continue
            last = 0.5 * last + row
        return self.fc(mean), self.fc(last), values, counts


@model("assertions", lambda n, draw: [draw.uniform32(n, 4) + 0.1])
class Assertions(nn.Layer):
    """Checks that raise: assert on tensors, if-raise, isinstance, try around a static choice."""

    def __init__(self, size=4):
        super().__init__()
        self.fc = nn.Linear(size, 3)

    def forward(self, x, scale=None):
        assert x.ndim == 2, f"expected rows, got {x.shape}"
        assert (x > 0).all(), "expected positive numbers"
        if x.shape[-1] != self.fc.weight.shape[0]:
            raise ValueError(f"expected {self.fc.weight.shape[0]} features")
        if paddle.isnan(x).any():
            raise ValueError("a NaN came in")
        try:
            factor = float(scale)
        except TypeError:
            factor = 1.5
        y = self.fc(paddle.log(x)) * factor
        return y if isinstance(y, paddle.Tensor) else None


@model("mixed_precision", lambda n, draw: [draw.image(n, 8)], tolerance=2e-2, why="bfloat16 inside")
class MixedPrecision(nn.Layer):
    """auto_cast in forward, products in bfloat16, the loss's part in float32."""

    def __init__(self, size=8):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(size, 16), nn.Linear(16, 4)

    def forward(self, x):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            h = F.relu(self.fc1(x))
            y = self.fc2(h)
        return F.softmax(y.astype("float32"), axis=-1)
