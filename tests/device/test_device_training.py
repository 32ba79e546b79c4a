"""Training on a device without kernels of its own: eager, compiled, and equal to the CPU."""

import sys

import numpy as np
import pytest
from opencl_plugin import ROOT, why_not

sys.path.insert(0, str(ROOT / "examples" / "demo"))


@pytest.fixture(autouse=True)
def device():
    if reason := why_not():
        pytest.skip(reason)


def train(device, compiled, make, batch, steps, optimizer):
    import paddle

    paddle.device.set_device(device)
    try:
        rng = np.random.default_rng(0)
        net = make()
        for p in net.parameters():
            p.set_value((rng.standard_normal(p.shape) * 0.2).astype("float32"))
        step = optimizer(net.parameters())
        loss_of = paddle.jit.to_static(net) if compiled else net
        losses = []
        for _ in range(steps):
            loss = loss_of(*(paddle.to_tensor(a) for a in batch))
            loss.backward()
            step.step()
            step.clear_grad()
            losses.append(loss.item())
        assert loss.place.is_cpu_place() == (device == "cpu")
        return np.array(losses), [p.numpy() for p in net.parameters()]
    finally:
        paddle.device.set_device("cpu")


def mlp():
    import paddle
    from paddle import nn

    class Mlp(nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(6, 16), nn.Linear(16, 3)

        def forward(self, x, y):
            return nn.functional.cross_entropy(self.b(paddle.tanh(self.a(x))), y)

    return Mlp()


def optimizers():
    import paddle

    return {
        "sgd": lambda p: paddle.optimizer.SGD(0.5, parameters=p),
        "momentum": lambda p: paddle.optimizer.Momentum(0.1, 0.9, parameters=p, use_nesterov=True),
        "adamw": lambda p: paddle.optimizer.AdamW(0.05, parameters=p),
    }


@pytest.mark.parametrize(("optimizer", "compiled"), [("adamw", False), ("sgd", True), ("momentum", True)])
def test_mlp(optimizer, compiled):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((32, 6)).astype("float32")
    batch = (x, (x[:, :3].argmax(1)).astype("int64"))
    want, parameters = train("cpu", False, mlp, batch, 5, optimizers()[optimizer])
    got, there = train("opencl", compiled, mlp, batch, 5, optimizers()[optimizer])
    assert got[-1] < got[0]
    np.testing.assert_allclose(got, want, rtol=1e-5)
    for a, b in zip(there, parameters, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_step_of_a_small_llama():
    import paddle
    from llama import Llama

    def make():
        return Llama(vocabulary=32, width=16, layers=2, heads=2, hidden=32, context=12)

    rng = np.random.default_rng(2)
    tokens = rng.integers(0, 32, (2, 13))
    batch = (tokens[:, :-1], tokens[:, 1:])
    adam = lambda p: paddle.optimizer.AdamW(0.01, parameters=p)  # noqa: E731
    want, parameters = train("cpu", True, make, batch, 2, adam)
    got, there = train("opencl", True, make, batch, 2, adam)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    for a, b in zip(there, parameters, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
