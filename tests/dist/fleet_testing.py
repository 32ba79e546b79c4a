"""What the tests of fleet share: numbers, the start of a rank, and one net trained alone, against which the others are held."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402


def numbers(*shape, seed=0):
    return np.random.default_rng(sum(shape) + seed).standard_normal(shape).astype("float32")


def start(**degrees):
    strategy = fleet.DistributedStrategy()
    configs = {"dp_degree": 1, **{f"{k}_degree": v for k, v in degrees.items() if isinstance(v, int)}}
    strategy.hybrid_configs = configs
    for key, value in degrees.items():
        if not isinstance(value, int):
            setattr(strategy, key, value)
    fleet.init(is_collective=True, strategy=strategy)
    return fleet.get_hybrid_communicate_group()


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 2)
        for k, p in enumerate(self.parameters()):
            p.set_value(numbers(*p.shape, seed=k))

    def forward(self, x):
        return self.b(paddle.tanh(self.a(x)))


BATCH, TARGET = numbers(8, 4), numbers(8, 2)


def trained(net, opt, rows=slice(None), steps=3):
    for _ in range(steps):
        loss = ((net(paddle.to_tensor(BATCH[rows])) - paddle.to_tensor(TARGET[rows])) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()


def optimizer(net, clip=None):
    return paddle.optimizer.AdamW(0.05, parameters=net.parameters(), grad_clip=clip and nn.ClipGradByGlobalNorm(clip))


def alone(clip=None, steps=3):
    def body(rank):
        net = Net()
        trained(net, optimizer(net, clip), steps=steps)
        return [p.numpy() for p in net.parameters()]

    return run(1, body)[0]


def assert_near(got, want):
    assert len(got) == len(want) > 0
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)
