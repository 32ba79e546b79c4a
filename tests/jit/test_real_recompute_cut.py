"""What compiled training steps keep for the gradient: a minimum cut changes no bit, and what is kept is given up only if nobody else holds it."""

from __future__ import annotations

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

from paddle import nn


@pytest.fixture(autouse=True)
def cut_again():
    budget = paddle.get_flags("FLAGS_cinn_total_budget_ms")
    yield
    paddle.set_flags({"FLAGS_recompute_cut": True, **budget})


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("float32")


class Gated(nn.Layer):
    """Norms, gates, casts, residuals: what a cut is about."""

    def __init__(self, width=24):
        super().__init__()
        self.norm, self.rms = nn.LayerNorm(width), self.create_parameter([width])
        self.gate, self.up, self.down = nn.Linear(width, 40), nn.Linear(width, 40), nn.Linear(40, width)
        self.head = nn.Linear(width, 50)

    def forward(self, x, labels):
        h = self.norm(x)
        x = x + self.down(F.silu(self.gate(h)) * self.up(h))
        h = x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.rms
        h = F.gelu(h) + paddle.tanh(h.astype("float64")).astype("float32")
        return F.cross_entropy(self.head(h), labels)


class Drops(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(24, 24), nn.Linear(24, 50)

    def forward(self, x, labels):
        x = F.dropout(F.relu(self.a(x)), 0.3) * paddle.rand([24])
        return F.cross_entropy(self.b(F.dropout(F.softmax(x), 0.1)), labels)


class Convolutions(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.Linear(4, 50)

    def forward(self, x, labels):
        x = F.relu(self.norm(self.conv(x.reshape([-1, 1, 4, 6]))))
        return F.cross_entropy(self.head(F.max_pool2d(x, 2).mean([2, 3])), labels)


class Branches(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.head = nn.Linear(24, 24), nn.Linear(24, 50)

    def forward(self, x, labels):
        h = F.sigmoid(self.a(x))
        if h.mean() > 0.4:
            h = paddle.tanh(h) * h
        else:
            h = paddle.exp(h)
        for _ in range(3):
            h = paddle.sin(self.a(h)) + h
        return F.cross_entropy(self.head(h), labels)


class Attends(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.kv, self.head = nn.Linear(24, 24), nn.Linear(24, 48), nn.Linear(24, 50)

    def forward(self, x, labels):
        q = self.q(x).reshape([2, -1, 3, 8])
        k, v = paddle.chunk(self.kv(x).reshape([2, -1, 3, 16]), 2, axis=-1)
        a, b = paddle.chunk(q, 2, axis=-1)
        q = paddle.concat([a * 0.5 - b, b * 0.5 + a], axis=-1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.cross_entropy(self.head(F.swiglu(out.reshape([-1, 24]), x)), labels)


class Replays(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(24, 24), nn.GELU(), nn.Dropout(0.2), nn.Linear(24, 24))
        self.head = nn.Linear(24, 50)

    def forward(self, x, labels):
        from paddle.distributed.fleet.utils import recompute

        return F.cross_entropy(self.head(recompute(self.inner, x) + x), labels)


def train(make, compiled, cut=True, steps=3, spec=None):
    """Losses, gradients of the last step, and weights."""
    paddle.set_flags({"FLAGS_recompute_cut": cut})
    paddle.seed(7)
    net = make()
    for k, p in enumerate(net.parameters()):
        p.set_value(numbers(*p.shape, seed=k) * 0.3)
    optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
    step = paddle.jit.to_static(net, full_graph=True, input_spec=spec) if compiled else net
    paddle.seed(11)
    losses = []
    for k in range(steps):
        labels = paddle.to_tensor(np.random.RandomState(k).randint(0, 50, [8]))
        x = paddle.to_tensor(numbers(8, 24, seed=20 + k))
        x.stop_gradient = False
        loss = step(x, labels)
        loss.backward()
        grads = [x.grad.numpy()] + [p.grad.numpy() for p in net.parameters() if p.grad is not None]
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.numpy())
    return losses + grads + [p.numpy() for p in net.parameters()]


@pytest.mark.parametrize("make", [Gated, Drops, Convolutions, Branches, Attends, Replays])
def test_a_cut_changes_no_bit(make):
    """Operator by operator: compiled groups round by what they hold, a quotient by a row's sum as a product with its reciprocal."""
    paddle.set_flags({"FLAGS_cinn_total_budget_ms": -1})
    with_cut, without = train(make, True), train(make, True, cut=False)
    for a, b in zip(with_cut, without):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("make", [Gated, Drops, Convolutions, Branches, Attends, Replays])
def test_compiled_steps_with_a_cut_are_those_without(make):
    for a, b in zip(train(make, True), train(make, True, cut=False)):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("make", [Gated, Drops, Convolutions, Branches, Attends, Replays])
def test_compiled_steps_are_eager_steps(make):
    for a, b in zip(train(make, True), train(make, False)):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_open_sizes():
    spec = [paddle.static.InputSpec([None, 24], "float32"), paddle.static.InputSpec([None], "int64")]
    for a, b in zip(train(Gated, True, spec=spec), train(Gated, False)):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def gated_step(**kwargs):
    net = Gated()
    return net, paddle.jit.to_static(net, full_graph=True, **kwargs)


def test_less_is_kept():
    def kept(cut):
        paddle.set_flags({"FLAGS_recompute_cut": cut})
        _, step = gated_step()
        x, labels = paddle.to_tensor(numbers(64, 24)), paddle.zeros([64], "int64")
        return paddle.jit.explain(step, x, labels)

    rows = kept(True).cut
    total = sum(size for is_kept, _, size, _ in rows if is_kept)
    # What must be: the sum after x, both products before the gate, logits or what they are made of; numbers for each row
    # beside. Neither what norms and activations make, nor what is converted from them.
    must = 64 * 4 * (24 + 40 + 40 + 50)
    assert total <= must + 64 * 4 * 12, [row for row in rows if row[0]]
    assert any("gelu" in what or "tanh" in what or "erf" in what for is_kept, what, *_ in rows if not is_kept)
    assert all(why for *_, why in rows)
    assert not kept(False).cut  # there is no cut to speak of


def test_what_others_hold_is_not_given_up():
    weight = paddle.to_tensor(numbers(24, 50))
    weight.stop_gradient = False

    @paddle.jit.to_static(full_graph=True)
    def step(x, labels):
        logits = paddle.matmul(x, weight)
        p = F.softmax(logits)
        return logits, p, F.cross_entropy(logits * 2.0, labels) + (p * p).sum()

    x, labels = paddle.to_tensor(numbers(8, 24)), paddle.zeros([8], "int64")
    x.stop_gradient = False
    logits, p, loss = step(x, labels)
    before = logits.numpy().copy(), p.numpy().copy(), x.numpy().copy()
    loss.backward()
    for now, then in zip((logits, p, x), before):
        np.testing.assert_array_equal(now.numpy(), then)


def test_a_retained_graph_gives_the_same_again():
    net, step = gated_step()
    x, labels = paddle.to_tensor(numbers(8, 24)), paddle.zeros([8], "int64")
    grads = []
    loss = step(x, labels)
    for retain in (True, True, False):
        loss.backward(retain_graph=retain)
        grads.append([p.grad.numpy().copy() for p in net.parameters()])
        net.clear_gradients()
    for other in grads[1:]:
        for a, b in zip(grads[0], other):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(RuntimeError, match="run backward already"):
        loss.backward()


def test_memory_from_elsewhere_is_not_written():
    array = numbers(64, 64)
    then = array.copy()

    @paddle.jit.to_static(full_graph=True)
    def step(x, w):
        return (paddle.exp(x) * paddle.tanh(x) * w).sum()

    w = paddle.ones([64, 64])
    w.stop_gradient = False
    for _ in range(2):
        x = paddle.utils.dlpack.from_dlpack(array)
        x.stop_gradient = False
        loss = step(x, w)
        del x
        loss.backward()
    np.testing.assert_array_equal(array, then)


def test_gradients_may_be_kept():
    net, step = gated_step()
    labels = paddle.zeros([8], "int64")
    seen, values = [], []
    for k in range(3):
        x = paddle.to_tensor(numbers(8, 24, seed=k))
        x.stop_gradient = False
        step(x, labels).backward()
        seen.append(x.grad)
        values.append(x.grad.numpy().copy())
    for grad, value in zip(seen, values):
        np.testing.assert_array_equal(grad.numpy(), value)


def test_the_cut_is_the_same_every_time():
    rows = []
    for _ in range(2):
        _, step = gated_step()
        cut = paddle.jit.explain(step, paddle.ones([8, 24]), paddle.zeros([8], "int64")).cut
        rows.append([(kept, size, why) for kept, _, size, why in cut])  # names of parameters count on
    assert rows[0] and rows[0] == rows[1]


def test_explains_memory(tmp_path):
    _, step = gated_step()
    page = tmp_path / "page.html"
    result = paddle.jit.explain(step, paddle.ones([64, 24]), paddle.zeros([64], "int64"), path=str(page))
    assert [part["name"] for part in result.memory] == ["forward", "backward"]
    for part in result.memory:
        assert part["arena"] >= part["least"]
        alive = [r for r in part["rows"] if r[4] <= part["peak"] <= r[5]]
        at = lambda k: sum(r[2] for r in part["rows"] if r[4] <= k <= r[5])  # noqa: E731
        assert sum(r[2] for r in alive) == max(at(k) for k in range(len(part["operations"])))
    text = str(result)
    assert "memory of backward: arena" in text and "kept for the gradient" in text
    assert page.read_text().count("<svg") == 2


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 3, 4, 6)])
def test_a_weights_gradient_is_one_product(shape, turned):
    x, w = numbers(*shape), numbers(*((9, shape[-1]) if turned else (shape[-1], 9)))

    @paddle.jit.to_static(full_graph=True)
    def step(x, w):
        return (paddle.matmul(x, w, transpose_y=turned) ** 2).sum()

    a, b = paddle.to_tensor(x), paddle.to_tensor(w)
    b.stop_gradient = False
    loss = step(a, b)
    loss.backward()
    rows = x.reshape([-1, shape[-1]]).astype("float64")
    out = rows @ (w.T if turned else w).astype("float64")
    want = 2 * rows.T @ out
    np.testing.assert_allclose(b.grad.numpy(), want.T if turned else want, rtol=1e-4, atol=1e-4)
    (backward,) = [p for p in paddle._core.profile.memory(step._last.runner.program) if p["name"] == "backward"]
    # Nothing as large as one gradient for each matrix.
    assert max((r[2] for r in backward["rows"]), default=0) <= max(4 * x.size, 4 * out.size, 4 * w.size)
