"""Compiled programs with sharded parameters: results, and which collectives they hold."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402

R, S = dist.Replicate, dist.Shard
COLLECTIVES = ("all_gather", "all_reduce", "reduce_scatter", "all_to_all")


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape) / np.float32(np.prod(shape))


def collectives(text):
    return {c: n for c in COLLECTIVES if (n := text.count(f'"pd_op.{c}"'))}


class Demo(nn.Layer):
    """A column-sharded product, a plain bias, softmax."""

    def __init__(self, mesh):
        super().__init__()
        self.w = dist.shard_tensor(paddle.to_tensor(numbers(2, 4)), mesh, [S(1)])
        self.b = paddle.to_tensor([0.1, 0.2, 0.3, 0.4])

    def forward(self, x):
        return nn.functional.softmax(paddle.matmul(x, self.w) + self.b)


def test_the_demonstration_gathers_once_and_decomposes_softmax():
    before = paddle.get_flags(["FLAGS_prim_all", "FLAGS_use_cinn"])
    paddle.set_flags({"FLAGS_prim_all": True, "FLAGS_use_cinn": True})
    x, label = numbers(1, 3, 2), np.array([[1.0]])
    logits = x @ numbers(2, 4) + np.array([0.1, 0.2, 0.3, 0.4])
    soft = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    want = float(((soft.sum((1, 2)) - label) ** 2).sum())

    def loss_fn(out, label):
        return nn.MSELoss(reduction="sum")(paddle.sum(out, axis=[1, 2]), label)

    def body(rank):
        layer = Demo(dist.ProcessMesh([0, 1], ["x"]))
        model = dist.to_static(layer, None, loss_fn)
        model.eval()
        loss = model(paddle.to_tensor(x), paddle.to_tensor(label))
        return float(loss), model.dist_main_program("eval").compiled()

    try:
        for loss, text in run(2, body):
            assert abs(loss - want) < 1e-5
            assert collectives(text) == {"all_gather": 1} and "softmax" not in text
            for op in ("max", "subtract", "exp", "sum", "divide"):
                assert f"pd_op.{op}" in text
            assert "tensor<2x2xf32>" in text  # the weight's shard
    finally:
        paddle.set_flags(before)


class Pair(nn.Layer):
    """Column- then row-sharded: one all-reduce forward (Megatron, Shoeybi et al. 2019)."""

    def __init__(self, mesh=None):
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 2, bias_attr=False)
        for p, seed in ((self.up.weight, 1), (self.up.bias, 2), (self.down.weight, 3)):
            p.set_value(np.random.default_rng(seed).standard_normal(p.shape).astype("float32"))
        if mesh is not None:
            self.up.weight = dist.shard_tensor(self.up.weight, mesh, [S(1)])
            self.up.bias = dist.shard_tensor(self.up.bias, mesh, [S(0)])
            self.down.weight = dist.shard_tensor(self.down.weight, mesh, [S(0)])

    def forward(self, x):
        return self.down(nn.functional.relu(self.up(x)))


def test_tensor_parallel_pair_needs_one_all_reduce():
    want = run(1, lambda rank: Pair()(paddle.to_tensor(numbers(3, 4))).numpy())[0]

    def body(rank):
        net = Pair(dist.ProcessMesh([0, 1]))
        net.eval()
        f = paddle.jit.to_static(net)
        with paddle.no_grad():
            y = f(paddle.to_tensor(numbers(3, 4)))
        return y.numpy(), f.forward.concrete_program.main_program.compiled()

    for y, text in run(2, body):
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)
        assert collectives(text) == {"all_reduce": 1}


def train(net, steps=4):
    opt = paddle.optimizer.AdamW(0.05, parameters=net.parameters())
    model = dist.to_static(net, None, nn.MSELoss(), opt)
    assert model.mode == "train"
    return model, [float(model(paddle.to_tensor(numbers(6, 4)), paddle.to_tensor(numbers(6, 2)))) for _ in range(steps)]


def test_training_steps_equal_those_of_one_process():
    want = run(1, lambda rank: train(Pair())[1])[0]
    assert want[-1] < want[0]

    def body(rank):
        model, losses = train(Pair(dist.ProcessMesh([0, 1])))
        state = model.state_dict("params")
        other = Pair(dist.ProcessMesh([0, 1]))
        again = dist.to_static(other, None, nn.MSELoss())
        again.set_state_dict(state)
        after = float(again(paddle.to_tensor(numbers(6, 4)), paddle.to_tensor(numbers(6, 2))))
        model.eval()
        assert abs(float(model(paddle.to_tensor(numbers(6, 4)), paddle.to_tensor(numbers(6, 2)))) - after) < 1e-7
        return losses

    for losses in run(2, body):
        np.testing.assert_allclose(losses, want, rtol=2e-5)


def test_compiled_dropout_draws_what_the_whole_does():
    def forward(x):
        return nn.functional.dropout(x * 1.0, 0.4)

    def whole(rank):
        paddle.seed(5)
        return nn.functional.dropout(paddle.ones([6, 4]), 0.4).numpy()

    want = run(1, whole)[0]

    def body(rank):
        x = dist.shard_tensor(np.ones([6, 4], "float32"), dist.ProcessMesh([[0, 1], [2, 3]]), [S(0), S(1)])
        f = paddle.jit.to_static(lambda: forward(x), full_graph=True)
        paddle.seed(5)
        return f().numpy()

    for y in run(4, body):
        np.testing.assert_array_equal(y, want)


def test_modes_and_strategy():
    def body(rank):
        net = Pair()
        with pytest.raises(RuntimeError, match="train mode"):
            dist.to_static(net, None, nn.MSELoss()).train()
        model = dist.to_static(net)
        out = model(paddle.to_tensor(numbers(3, 4)))
        np.testing.assert_allclose(out, net(paddle.to_tensor(numbers(3, 4))).numpy(), rtol=1e-6)
        with pytest.raises(ValueError, match="no option"):
            dist.Strategy({"amp": {"nonsense": 1}})
        s = dist.Strategy({"sharding": {"enable": True, "stage": 2}})
        assert s.sharding.stage == 2 and not s.amp.enable

    run(1, body)
