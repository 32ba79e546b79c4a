"""Hybrid parallelism as processes on two machines: pipelines over Gloo, data parallelism through shared memory and the other way."""

import json

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")

from processes import run_script  # noqa: E402
from ranks import run  # noqa: E402

COMMON = """
    import json, os
    import numpy as np
    import paddle
    import paddle.distributed as dist
    from paddle import nn
    from paddle.distributed import fleet

    def numbers(*shape, seed=0):
        return np.random.default_rng(sum(shape) + seed).standard_normal(shape).astype("float32")

    class Block(nn.Layer):
        def __init__(self, seed, width=64):
            super().__init__()
            self.fc, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
            self.fc.weight.set_value(numbers(width, width, seed=seed) / 8)

        def forward(self, h):
            return h + paddle.tanh(self.fc(self.norm(h)))

    X, Y = numbers(16, 64), numbers(16, 64, seed=1)
    mse = nn.MSELoss()
"""
FLEET = (
    COMMON
    + """
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 2, "pp_degree": 2, "order": json.loads(os.environ["ORDER"])}
    strategy.pipeline_configs = {"accumulate_steps": 4, "micro_batch_size": 2}
    fleet.init(is_collective=True, strategy=strategy)
    hcg = fleet.get_hybrid_communicate_group()
    net = fleet.meta_parallel.PipelineLayer([fleet.meta_parallel.LayerDesc(Block, s) for s in range(4)],
                                            topology=hcg.topology(), loss_fn=mse)
    model = fleet.distributed_model(net)
    opt = fleet.distributed_optimizer(paddle.optimizer.AdamW(0.01, parameters=net.parameters(),
                                                             grad_clip=nn.ClipGradByGlobalNorm(0.5)))
    half = hcg.get_data_parallel_rank()
    rows = slice(8 * half, 8 * half + 8)
    losses = []
    for _ in range(3):
        loss = model.train_batch((paddle.to_tensor(X[rows]), paddle.to_tensor(Y[rows])), opt)
        dist.all_reduce(loss, op=dist.ReduceOp.AVG, group=hcg.get_data_parallel_group())
        losses.append(float(loss))
    print("got", json.dumps([losses, hcg.get_pipe_parallel_group().backend, hcg.get_data_parallel_group().backend]))
"""
)
PIPELINE = (
    COMMON
    + """
    class Net(nn.Layer):
        def __init__(self, meshes):
            super().__init__()
            self.blocks, self.meshes = nn.LayerList([Block(s) for s in range(4)]), meshes
            for i, block in enumerate(self.blocks):
                dist.shard_layer(block, meshes[i // 2])

        def forward(self, x):
            for i, block in enumerate(self.blocks):
                if i == 2:
                    x = dist.reshard(x, self.meshes[1], [dist.Shard(0)])
                x = block(x)
            return x

    dist.init_parallel_env()
    meshes = [dist.ProcessMesh([0, 1]), dist.ProcessMesh([2, 3])]
    net = Net(meshes)
    opt = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
    strategy = dist.Strategy({"pipeline": {"enable": True, "schedule_mode": "1F1B", "accumulate_steps": 4}})
    model = dist.to_static(net, None, mse, opt, strategy)
    losses = [float(model(paddle.to_tensor(X), paddle.to_tensor(Y))) for _ in range(3)]
    print("got", json.dumps([losses]))
"""
)


def alone(clip):
    scope: dict = {}
    exec("\n".join(line[4:] for line in COMMON.splitlines()), scope)

    def body(rank):
        nn = paddle.nn
        net = nn.Sequential(*(scope["Block"](s) for s in range(4)))
        opt = paddle.optimizer.AdamW(
            0.01, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5) if clip else None
        )
        losses = []
        for _ in range(3):
            loss = scope["mse"](net(paddle.to_tensor(scope["X"])), paddle.to_tensor(scope["Y"]))
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(float(loss))
        return losses

    return run(1, body)[0]


def results(tmp_path, script, **variables):
    out = []
    for status, text in run_script(tmp_path, script, ["a", "a", "b", "b"], **variables).values():
        assert status == 0, text
        out.append(json.loads(text.split("got ", 1)[1].splitlines()[0]))
    return out


@pytest.mark.parametrize("order, backends", [
    (["pp", "dp", "sharding", "sep", "mp"], ["gloo", "shared_memory"]),  # stages on two machines
    (["dp", "pp", "sharding", "sep", "mp"], ["shared_memory", "gloo"]),  # replicas on two machines
], ids=["pipeline across", "data across"])  # fmt: skip
def test_fleet(tmp_path, order, backends):
    want = alone(clip=True)
    for losses, *got in results(tmp_path, FLEET, ORDER=json.dumps(order)):
        np.testing.assert_allclose(losses, want, rtol=1e-4)
        assert got == backends


def test_pipeline_of_meshes(tmp_path):
    want = alone(clip=False)
    for (losses,) in results(tmp_path, PIPELINE):
        np.testing.assert_allclose(losses, want, rtol=1e-4)
