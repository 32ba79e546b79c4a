"""Distributed tensors: making, moving, gradients, random numbers, optimizers, checkpoints."""

import itertools

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402

R, S, P = dist.Replicate, dist.Shard, dist.Partial


def mesh2():
    return dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def test_shards_lie_where_they_should():
    def body(rank):
        x = dist.shard_tensor(numbers(5, 4), mesh2(), [S(0), S(1)])
        assert x.shape == [5, 4] and x.is_dist() and x.placements == [S(0), S(1)] and x.process_mesh == mesh2()
        return x._local_value().numpy().tolist()

    whole = numbers(5, 4)
    parts = [whole[:3, :2], whole[:3, 2:], whole[3:, :2], whole[3:, 2:]]
    assert run(4, body) == [p.tolist() for p in parts]


def test_reshard_every_way_keeps_the_value():
    one = [R(), S(0), S(1), P()]
    value = numbers(5, 3)

    def body(rank):
        mesh = mesh2()
        for start, end in itertools.product(itertools.product(one, repeat=2), repeat=2):
            x = dist.reshard(dist.shard_tensor(value, mesh, list(start)), mesh, list(end))
            assert x.placements == list(end)
            np.testing.assert_array_equal(x.numpy(), value, err_msg=f"{start} -> {end}")

    run(4, body)


def test_reshard_to_another_mesh():
    def body(rank):
        a, b = dist.ProcessMesh([0, 1]), dist.ProcessMesh([2, 3])
        x = dist.shard_tensor(numbers(4, 3), a, [S(0)])
        y = dist.reshard(x, b, [S(1)])
        assert (rank in (2, 3)) == (y._local_value() is not None)
        return None if rank < 2 else y._local_value().numpy().tolist()

    whole = numbers(4, 3)
    assert run(4, body) == [None, None, whole[:, :2].tolist(), whole[:, 2:].tolist()]


def test_gradients_of_moves():
    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        x = paddle.to_tensor(numbers(4, 2), stop_gradient=False)
        w = paddle.to_tensor(numbers(4, 2) + 1)
        d = dist.shard_tensor(x * 1.0, mesh, [S(0)])
        y = dist.reshard(d * w, mesh, [R()])
        (dist.unshard_dtensor(y) * 2).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), 2 * w.numpy())
        assert not x.grad.is_dist()
        local = paddle.to_tensor(numbers(2, 2) + rank, stop_gradient=False)
        g = dist.dtensor_from_local(local * 1.0, mesh, [S(0)])
        assert g.shape == [4, 2]
        (g * w).sum().backward()
        np.testing.assert_array_equal(local.grad.numpy(), w.numpy()[2 * rank : 2 * rank + 2])
        back = dist.auto_parallel.api.dtensor_to_local(g)
        np.testing.assert_array_equal(back.numpy(), local.numpy())

    run(2, body)


def test_dropout_is_the_same_however_it_is_sharded():
    def whole(rank):
        paddle.seed(7)
        x = paddle.ones([6, 8])
        return nn.functional.dropout(x, 0.4).numpy(), paddle.bernoulli(paddle.full([5, 3], 0.5)).numpy()

    want, coins = run(1, whole)[0]
    assert 0 < (want == 0).sum() < want.size

    def body(rank):
        mesh = mesh2()
        for placements in itertools.product([R(), S(0), S(1)], repeat=2):
            paddle.seed(7)
            x = dist.shard_tensor(np.ones([6, 8], "float32"), mesh, list(placements), stop_gradient=False)
            y = nn.functional.dropout(x, 0.4)
            c = paddle.bernoulli(dist.shard_tensor(np.full([5, 3], 0.5, "float32"), mesh, list(placements)))
            np.testing.assert_array_equal(y.numpy(), want)
            np.testing.assert_array_equal(c.numpy(), coins)
            y.sum().backward()
            np.testing.assert_array_equal(x.grad.numpy(), want)

    run(4, body)


def test_vocabulary_sharded_embedding():
    ids = np.array([[0, 5, 9], [3, 9, 1]])
    table = numbers(10, 4)

    def body(rank):
        mesh = dist.ProcessMesh([0, 1, 2])
        w = dist.shard_tensor(table, mesh, [S(0)], stop_gradient=False)
        y = nn.functional.embedding(paddle.to_tensor(ids), w)
        assert y.placements == [P()]
        np.testing.assert_array_equal(y.numpy(), table[ids])
        y.sum().backward()
        want = np.zeros_like(table)
        np.add.at(want, ids.reshape(-1), 1)
        np.testing.assert_array_equal(w.grad.numpy(), want)

    run(3, body)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.down(nn.functional.relu(self.up(x)))


def make(mesh, placements):
    paddle.seed(3)
    net = Net()
    if placements:
        net.up.weight = dist.shard_tensor(net.up.weight, mesh, placements[0])
        net.up.bias = dist.shard_tensor(net.up.bias, mesh, placements[1])
        net.down.weight = dist.shard_tensor(net.down.weight, mesh, placements[2])
    return net


def train(net, opt, steps=4):
    x, y = paddle.to_tensor(numbers(6, 4) / 24), paddle.to_tensor(numbers(6, 2) / 12)
    losses = []
    for _ in range(steps):
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(float(loss))
    return losses


OPTIMIZERS = {
    "sgd": lambda p: paddle.optimizer.SGD(0.1, parameters=p),
    "momentum": lambda p: paddle.optimizer.Momentum(0.1, parameters=p),
    "adamw": lambda p: paddle.optimizer.AdamW(0.05, parameters=p, weight_decay=0.1),
    "clipped": lambda p: paddle.optimizer.Adam(0.05, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_with_sharded_parameters(name):
    def whole(rank):
        net = make(None, None)
        return train(net, OPTIMIZERS[name](net.parameters()))

    want = run(1, whole)[0]

    def body(rank):
        mesh = mesh2()
        net = make(mesh, [[S(1), R()], [S(0), R()], [S(0), S(1)]])
        assert isinstance(net.up.weight, paddle.base.framework.EagerParamBase)
        return train(net, OPTIMIZERS[name](net.parameters()))

    for losses in run(4, body):
        np.testing.assert_allclose(losses, want, rtol=2e-5)


def test_sharded_optimizer_states():
    def whole(rank):
        net = make(None, None)
        return train(net, OPTIMIZERS["adamw"](net.parameters()))

    want = run(1, whole)[0]

    def body(rank):
        mesh = dist.ProcessMesh([0, 1], ["dp"])
        net = make(None, None)
        dist.shard_layer(net, mesh)
        opt = dist.shard_optimizer(OPTIMIZERS["adamw"](net.parameters()), dist.ShardingStage1(mesh, "dp"))
        losses = train(net, opt)
        moment = opt._accumulators["moment1"][net.up.weight.name]
        assert moment.placements == [S(0)] and net.up.weight.placements == [R()]
        return losses

    for losses in run(2, body):
        np.testing.assert_allclose(losses, want, rtol=2e-5)


def test_a_batch_over_ranks():
    from paddle.io import DataLoader, TensorDataset

    def body(rank):
        mesh = dist.ProcessMesh([0, 1], ["dp"])
        data = TensorDataset([paddle.to_tensor(numbers(6, 4)), paddle.to_tensor(numbers(6, 1))])
        loader = dist.shard_dataloader(DataLoader(data, batch_size=4), mesh, shard_dims="dp")
        batches = list(loader)
        assert len(loader) == len(batches) == 2 and batches[0][0].placements == [S(0)]
        return [b[0]._local_value().numpy().tolist() for b in batches]

    whole = numbers(6, 4)
    assert run(2, body) == [[whole[:2].tolist(), whole[4:5].tolist()], [whole[2:4].tolist(), whole[5:].tolist()]]


def test_checkpoint_loads_under_other_placements(tmp_path):
    value, bias = numbers(6, 4), numbers(4)

    def save(rank):
        mesh = dist.ProcessMesh([0, 1])
        state = {"w": dist.shard_tensor(value, mesh, [S(0)]), "b": dist.shard_tensor(bias, mesh, [R()])}
        dist.save_state_dict(state, str(tmp_path))

    run(2, save)

    def load(rank):
        state = {
            "w": dist.shard_tensor(np.zeros_like(value), mesh2(), [S(1), S(0)]),
            "b": dist.shard_tensor(np.zeros_like(bias), mesh2(), [R(), S(0)]),
        }
        dist.load_state_dict(state, str(tmp_path))
        np.testing.assert_array_equal(state["w"].numpy(), value)
        np.testing.assert_array_equal(state["b"].numpy(), bias)

    run(4, load)


def test_in_place_and_printing():
    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        x = dist.shard_tensor(numbers(4, 2), mesh, [S(0)])
        handle = x._local_value()
        x.add_(paddle.ones([4, 2]))
        np.testing.assert_array_equal(x.numpy(), numbers(4, 2) + 1)
        np.testing.assert_array_equal(handle.numpy(), x._local_value().numpy())  # the same memory
        x.set_value(numbers(4, 2) * 3)
        np.testing.assert_array_equal(x.numpy(), numbers(4, 2) * 3)
        x[1] = 0.0
        assert float(x[1].sum()) == 0 and "Shard(dim=0)" in repr(x)
        assert float(x.sum()) == float((numbers(4, 2) * 3).sum() - 6 - 9)

    run(2, body)
