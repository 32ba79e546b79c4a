"""Data and sharding parallel, clipping, scalers: each against one process's training."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402
from paddle.distributed.fleet import meta_parallel as mp  # noqa: E402
from fleet_testing import BATCH, start, Net, alone, assert_near, optimizer, trained  # noqa: E402


@pytest.mark.parametrize("kind", ["dp", "sharding"])
@pytest.mark.parametrize("clip", [None, 0.1])
def test_data_and_sharding_parallel(kind, clip):
    want = alone(clip)

    def body(rank):
        start(**{kind: 2})
        paddle.seed(rank)
        net = Net()
        if rank:
            net.a.bias.set_value(np.zeros(8, "float32"))  # becomes the first rank's
        model, opt = fleet.distributed_model(net), fleet.distributed_optimizer(optimizer(net, clip))
        trained(model, opt, slice(4 * rank, 4 * rank + 4))
        states = [k for k in opt.state_dict() if "moment1" in k]
        return [p.numpy() for p in net.parameters()], len(states)

    results = run(2, body)
    for got, _ in results:
        assert_near(got, want)
    if kind == "sharding":
        assert sum(n for _, n in results) == 4 and all(0 < n < 4 for _, n in results)


def test_tensor_parallel_clip_and_data_parallel_together():
    want = alone(0.1)

    def body(rank):
        hcg = start(dp=2, mp=2)
        place = hcg.get_model_parallel_rank()
        whole = Net()
        net = nn.Sequential(mp.ColumnParallelLinear(4, 8, has_bias=True, gather_output=False), nn.Tanh(),
                            mp.RowParallelLinear(8, 2, input_is_parallel=True))  # fmt: skip
        cut = lambda t, axis: np.split(t.numpy(), 2, axis)[place]  # noqa: E731
        net[0].weight.set_value(cut(whole.a.weight, 1))
        net[0].bias.set_value(cut(whole.a.bias, 0))
        net[2].weight.set_value(cut(whole.b.weight, 0))
        net[2].bias.set_value(whole.b.bias)
        model, opt = fleet.distributed_model(net), fleet.distributed_optimizer(optimizer(net, 0.1))
        half = hcg.get_data_parallel_rank()
        trained(model, opt, slice(4 * half, 4 * half + 4))
        return place, [p.numpy() for p in net.parameters()]

    results = run(4, body)
    assert sorted(place for place, _ in results) == [0, 0, 1, 1]
    assert np.abs(want[0] - alone(None)[0]).max() > 1e-3, "clipping must matter here"
    for place, got in results:
        assert_near(
            got,
            [np.split(want[0], 2, 1)[place], np.split(want[1], 2, 0)[place], np.split(want[2], 2, 0)[place], want[3]],
        )


def test_scaler_skips_everywhere():
    def body(rank):
        start(dp=2)
        net = Net()
        model, opt = fleet.distributed_model(net), fleet.distributed_optimizer(optimizer(net))
        scaler = fleet.distributed_scaler(paddle.amp.GradScaler(init_loss_scaling=4.0, decr_every_n_nan_or_inf=1))
        before = net.a.weight.numpy()
        with model.no_sync():
            loss = model(paddle.to_tensor(BATCH)).mean()
            scaler.scale(loss).backward()
        if rank == 1:
            with paddle.no_grad():
                net.a.weight.grad[0, 0] = float("inf")
        scaler.step(opt)
        scaler.update()
        return bool((net.a.weight.numpy() == before).all()), float(scaler._scale)

    assert run(2, body) == [(True, 2.0), (True, 2.0)]


# ---- pipelines


@pytest.mark.parametrize("level", ["os", "os_g", "p_g_os"])
def test_group_sharded_parallel(level, tmp_path):
    want = alone()

    def body(rank):
        dist.init_parallel_env()
        net = Net()
        if rank:
            net.a.bias.set_value(np.zeros(8, "float32"))
        model, opt, _ = dist.sharding.group_sharded_parallel(net, optimizer(net), level)
        trained(model, opt, slice(4 * rank, 4 * rank + 4))
        dist.sharding.save_group_sharded_model(model, str(tmp_path / "out"), opt)
        dist.barrier()
        part = {k: v._local_shape for k, v in opt.state_dict().items() if "moment1" in k and v.shape == [4, 8]}
        assert list(part.values()) == [[2, 8]]
        cut = [p._local_shape for p in model.parameters() if p.shape == [4, 8]]
        assert cut == [[2, 8] if level == "p_g_os" else [4, 8]]
        return [dist.unshard_dtensor(p).numpy() for p in model.parameters()]

    for got in run(2, body):
        assert_near(got, want)
    saved = paddle.load(str(tmp_path / "out" / "model.pdmodel"))
    assert_near([v.numpy() for v in saved.values()], want)
