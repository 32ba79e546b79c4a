"""parallelize: a model written for one process, cut by plans; values and training as in one process."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402

R, S = dist.Replicate, dist.Shard


def numbers(*shape, seed=0):
    return np.random.default_rng(sum(shape) + seed).standard_normal(shape).astype("float32")


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(4), nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x, scale):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x)))) * scale


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 4)
        self.layers = nn.LayerList([Block() for _ in range(4)])
        self.final = nn.LayerNorm(4)
        self.head = nn.Linear(4, 6, bias_attr=False)
        for k, p in enumerate(self.parameters()):
            p.set_value(numbers(*p.shape, seed=k) / 2)

    def forward(self, x):
        h = self.embed(x)
        scale = (h * 0 + 1.0).mean()  # made on the first stage, used on all
        for block in self.layers:
            h = block(h, scale)
        return self.head(self.final(h))


X, LABEL = np.arange(24).reshape(4, 6) % 6, (np.arange(24).reshape(4, 6) * 5 + 1) % 6
PLAN = {
    "embed": lambda: dist.RowWiseParallel(), r"layers\.\d+\.up": lambda: dist.ColWiseParallel(),
    r"layers\.\d+\.down": lambda: dist.RowWiseParallel(), "head": lambda: dist.ColWiseParallel(gather_output=True),
}  # fmt: skip


def loss_fn(logits, label):
    return nn.functional.cross_entropy(logits, label)


def adam(net):
    return paddle.optimizer.AdamW(0.02, parameters=net.parameters())


def alone(rank):
    net = Net()
    opt = adam(net)
    losses = []
    for _ in range(3):
        loss = loss_fn(net(paddle.to_tensor(X)), paddle.to_tensor(LABEL))
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(float(loss))
    return losses, {n: p.numpy() for n, p in net.named_parameters()}


MESHES = {
    "mp": ([0, 1], ["mp"], {}),
    "dp and mp": ([[0, 1], [2, 3]], ["dp", "mp"], {"dp_config": {"sharding_level": 1}}),
    "stage 3": ([[0, 1], [2, 3]], ["dp", "mp"], {"dp_config": {"sharding_level": 3}}),
    "pp": ([0, 1], ["pp"], {"pp_config": {"split_spec": "layers"}}),
    "pp at a point": ([0, 1], ["pp"], {"pp_config": {"split_spec": {"layers.0": dist.SplitPoint.END}}}),
    "pp and mp": ([[0, 1], [2, 3]], ["pp", "mp"], {"pp_config": {"split_spec": "layers"}}),
}


@pytest.mark.parametrize("captured", [False, True], ids=["eager", "captured"])
@pytest.mark.parametrize("case", MESHES)
def test_trains_as_in_one_process(case, captured):
    ids, names, config = MESHES[case]
    want_losses, want = run(1, alone)[0]

    def body(rank):
        mesh = dist.ProcessMesh(ids, names)
        plan = {"mp_config": {"parallelize_plan": {k: v() for k, v in PLAN.items()}}} if "mp" in names else {}
        net = Net()
        net, opt = dist.parallelize(net, adam(net), mesh, {**config, **plan})
        if "mp" in names:
            assert net.layers[0].up.weight._local_shape in ([4, 4], [2, 4], [0]) and net.embed.weight._local_shape[
                0
            ] in (3, 0)
        inner = mesh if "pp" not in names else mesh.get_mesh_with_dim("pp", 0)
        last = mesh if "pp" not in names else mesh.get_mesh_with_dim("pp", 1)
        cut = lambda v, m: dist.shard_tensor(v, m, [S(0) if n == "dp" else R() for n in m.dim_names])  # noqa: E731
        x, label = cut(X, inner), cut(LABEL, last)
        losses = []
        if captured:
            model = dist.to_static(net, None, loss_fn, opt)
            losses = [float(model(x, label)) for _ in range(3)]
        else:
            for _ in range(3):
                loss = loss_fn(net(x), label)
                loss.backward()
                opt.step()
                opt.clear_grad()
                if last.contains(rank):
                    losses.append(float(loss))
        here = {n: p for n, p in net.named_parameters() if p.process_mesh.contains(rank)}
        return losses, {n: dist.unshard_dtensor(p).numpy() for n, p in here.items()}

    for losses, got in run(int(np.size(ids)), body):
        if losses:
            np.testing.assert_allclose(losses, want_losses, rtol=1e-4)
        for name, value in got.items():
            np.testing.assert_allclose(value, want[name], rtol=2e-3, atol=2e-4, err_msg=name)


@pytest.mark.parametrize("captured", [False, True], ids=["eager", "captured"])
def test_sequence_plans(captured):
    class Two(nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.last = nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4)
            for k, p in enumerate(self.parameters()):
                p.set_value(numbers(*p.shape, seed=k))

        def forward(self, x):
            return self.last(self.norm(self.first(x)))

    x = numbers(2, 6, 4)

    def whole(rank):
        net, t = Two(), paddle.to_tensor(x, stop_gradient=False)
        y = net(t)
        (y * y).sum().backward()
        return y.numpy(), t.grad.numpy()

    want = run(1, whole)[0]

    def body(rank):
        mesh = dist.ProcessMesh([[0, 1], [2, 3]], ["dp", "mp"])
        seen = []
        net = Two()
        net.norm.register_forward_post_hook(
            lambda layer, i, o: seen.append(list(o._local_shape)) if o.is_dist() else None
        )
        plan = {"first": dist.SequenceParallelBegin(), "last": dist.SequenceParallelEnd()}
        net, _ = dist.parallelize(net, None, mesh, {"mp_config": {"parallelize_plan": plan}})
        t = dist.shard_tensor(x, mesh, [S(0), R()], stop_gradient=False)
        y = (paddle.jit.to_static(net) if captured else net)(t)
        (y * y).sum().backward()
        if not captured:
            assert seen[0] == [3, 1, 4]  # the sequence over mp, the batch over dp
        whole_of = lambda v: (dist.unshard_dtensor(v) if v.is_dist() else v).numpy()  # noqa: E731
        return whole_of(y), whole_of(t.grad)

    for y, grad in run(4, body):
        np.testing.assert_allclose(y, want[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(grad, want[1], rtol=1e-4, atol=1e-4)


def test_what_does_not_fit():
    def body(rank):
        mesh = dist.ProcessMesh([0], ["mp"])
        with pytest.raises(ValueError, match="no layer or parameter"):
            dist.parallelize(
                Net(), None, mesh, {"mp_config": {"parallelize_plan": {"nothing": dist.ColWiseParallel()}}}
            )
        with pytest.raises(NotImplementedError, match="expected a Linear or an Embedding"):
            dist.parallelize(Net(), None, mesh, {"mp_config": {"parallelize_plan": {"final": dist.ColWiseParallel()}}})
        with pytest.raises(NotImplementedError, match="cp_config"):
            dist.parallelize(Net(), None, mesh, {"cp_config": {}})
        with pytest.raises(ValueError, match="sharding_level"):
            net = Net()
            dist.parallelize(net, adam(net), mesh, {"dp_config": {"sharding_level": 7}})

    run(1, body)
    from paddle.distributed.auto_parallel.intermediate.pipeline_parallel import stages_by_layer

    with pytest.raises(ValueError, match="at least 8 layers"):
        stages_by_layer(Net(), "layers", 8)
    with pytest.raises(ValueError, match="name 1 layers"):
        stages_by_layer(Net(), {"layers.9": dist.SplitPoint.END}, 2)
