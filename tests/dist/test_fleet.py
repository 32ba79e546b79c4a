"""paddle.distributed.fleet: groups, layers cut over ranks, wrappers and optimizers, each against one process."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402
from paddle.distributed.fleet import meta_parallel as mp  # noqa: E402


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


def test_topology():
    """Values of official Paddle for the same topology."""
    t = fleet.CommunicateTopology(["data", "pipe", "sharding", "sep", "model"], [2, 2, 1, 1, 2])
    assert t.world_size() == 8 and t.get_dim("pipe") == 2
    assert t.get_comm_list("model") == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert t.get_comm_list("pipe") == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert t.get_comm_list("data") == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert t.get_axis_list("pipe", 1) == [2, 3, 6, 7]
    assert t.get_rank(data=1, pipe=0, sharding=0, sep=0, model=1) == 5 and tuple(t.get_coord(6)) == (1, 1, 0, 0, 0)
    assert t.get_rank_from_stage(5, pipe=1) == 7
    assert sorted(t.get_fused_ranks(["data", "model"])) == [[0, 1, 4, 5], [2, 3, 6, 7]]


def test_hybrid_communicate_group():
    def body(rank):
        hcg = start(dp=2, mp=2)
        assert fleet.worker_index() == rank and fleet.worker_num() == 4 and fleet.is_first_worker() == (rank == 0)
        x = paddle.to_tensor([float(rank)])
        dist.all_reduce(x, group=hcg.get_model_parallel_group())
        return {
            "mp": (hcg.get_model_parallel_rank(), hcg.get_model_parallel_world_size(), hcg.get_model_parallel_group().ranks,
                   hcg.get_model_parallel_group_src_rank()),
            "dp": (hcg.get_data_parallel_rank(), hcg.get_data_parallel_world_size(), hcg.get_data_parallel_group().ranks),
            "pp": (hcg.get_stage_id(), hcg.get_pipe_parallel_world_size(), hcg.get_pipe_parallel_group().ranks),
            "sharding": (hcg.get_sharding_parallel_rank(), hcg.get_sharding_parallel_world_size()),
            "sep": (hcg.get_sep_parallel_rank(), hcg.get_sep_parallel_world_size()),
            "check": hcg.get_check_parallel_group().ranks, "mode": hcg.get_parallel_mode(), "sum": float(x),
        }  # fmt: skip

    for rank, got in enumerate(run(4, body)):
        d, m = divmod(rank, 2)
        assert got["mp"] == (m, 2, [2 * d, 2 * d + 1], 2 * d) and got["dp"] == (d, 2, [m, m + 2])
        assert got["pp"] == (0, 1, [rank]) and got["sharding"] == got["sep"] == (0, 1)
        assert got["check"] == [2 * d, 2 * d + 1] and got["mode"] == dist.ParallelMode.TENSOR_PARALLEL
        assert got["sum"] == 4 * d + 1

    def wrong(rank):
        with pytest.raises(ValueError, match="product is the number of ranks"):
            start(dp=2, mp=2)

    run(2, wrong)


def test_strategy_fields():
    s = fleet.DistributedStrategy()
    assert s.hybrid_configs["dp_degree"] == -1 and s.pipeline_configs["schedule_mode"] == "1F1B" and not s.amp
    s.amp, s.amp_configs = True, {"init_loss_scaling": 64.0}
    assert s.amp and s.amp_configs["init_loss_scaling"] == 64.0 and s.amp_configs["incr_ratio"] == 2.0
    s.hybrid_configs = {"mp_degree": 2, "pp_configs": {"delay_scale_loss": True}}
    assert s.hybrid_configs["pp_configs"].delay_scale_loss and not s.hybrid_configs["pp_configs"].enable_timer
    with pytest.raises(ValueError, match="no options"):
        s.amp_configs = {"nonsense": 1}
    with pytest.raises(ValueError, match="no options"):
        s.hybrid_configs = {"xp_degree": 1}
    for field in ("dgc", "localsgd", "lars", "asp", "fp16_allreduce"):
        with pytest.raises(NotImplementedError, match="no effect"):
            setattr(s, field, True)


# ---- tensor parallelism
class Whole(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.up, self.down = nn.Embedding(8, 4), nn.Linear(4, 6), nn.Linear(6, 8)
        for k, p in enumerate(self.parameters()):
            p.set_value(numbers(*p.shape, seed=k))

    def forward(self, x, label):
        h = self.down(nn.functional.gelu(self.up(self.embed(x))))
        return nn.functional.cross_entropy(h, label, reduction="none", ignore_index=-100)


class Cut(nn.Layer):
    """The same, cut over two ranks; the logits stay cut."""

    def __init__(self, whole, rank, ranks):
        super().__init__()
        self.embed = mp.VocabParallelEmbedding(8, 4)
        self.up = mp.ColumnParallelLinear(4, 6, has_bias=True, gather_output=False)
        self.down = mp.RowParallelLinear(6, 8, input_is_parallel=True)
        self.head = mp.ColumnParallelLinear(8, 8, has_bias=False, gather_output=False)
        self.loss = mp.ParallelCrossEntropy()
        cut = lambda t, axis: np.split(t.numpy(), ranks, axis)[rank]  # noqa: E731
        self.embed.weight.set_value(cut(whole.embed.weight, 0))
        self.up.weight.set_value(cut(whole.up.weight, 1))
        self.up.bias.set_value(cut(whole.up.bias, 0))
        self.down.weight.set_value(cut(whole.down.weight, 0))
        self.down.bias.set_value(whole.down.bias.numpy())
        self.head.weight.set_value(np.split(np.eye(8, dtype="float32"), ranks, 1)[rank])

    def forward(self, x, label):
        return self.loss(self.head(self.down(nn.functional.gelu(self.up(self.embed(x))))), label)


X, LABEL = np.array([[0, 3, 7], [5, 4, 1]]), np.array([[2, 7, -100], [0, 4, 3]])


@pytest.mark.parametrize("captured", [False, True], ids=["eager", "captured"])
def test_tensor_parallel_layers(captured):
    def whole(rank):
        net = Whole()
        loss = net(paddle.to_tensor(X), paddle.to_tensor(LABEL))
        loss.sum().backward()
        return loss.numpy(), {n: p.grad.numpy() for n, p in net.named_parameters()}

    want, grads = run(1, whole)[0]

    def body(rank):
        hcg = start(mp=2)
        net = Cut(Whole(), rank, 2)
        assert net.up.weight.is_distributed and not net.down.bias.is_distributed and net.up.weight.shape == [4, 3]
        f = paddle.jit.to_static(net) if captured else fleet.distributed_model(net)
        loss = f(paddle.to_tensor(X), paddle.to_tensor(LABEL))
        loss.sum().backward()
        assert hcg.get_model_parallel_world_size() == 2
        return loss.numpy(), {n: p.grad.numpy() for n, p in net.named_parameters()}

    for rank, (loss, got) in enumerate(run(2, body)):
        np.testing.assert_allclose(loss[..., 0], want.reshape(2, 3), rtol=1e-5, atol=1e-6)
        for name, axis in (
            ("embed.weight", 0),
            ("up.weight", 1),
            ("up.bias", 0),
            ("down.weight", 0),
            ("down.bias", None),
        ):
            w = grads[name] if axis is None else np.split(grads[name], 2, axis)[rank]
            np.testing.assert_allclose(got[name], w, rtol=1e-4, atol=1e-5, err_msg=name)


def test_gathering_and_cutting_layers():
    x, w, r = numbers(3, 4), numbers(4, 6), numbers(6, 5)

    def body(rank):
        start(mp=2)
        up, down = mp.ColumnParallelLinear(4, 6, has_bias=False), mp.RowParallelLinear(6, 5, has_bias=False)
        up.weight.set_value(np.split(w, 2, 1)[rank])
        down.weight.set_value(np.split(r, 2, 0)[rank])
        t = paddle.to_tensor(x, stop_gradient=False)
        h = up(t)
        y = down(h)
        (y * y).sum().backward()
        return h.numpy(), y.numpy(), t.grad.numpy()

    y = x @ w @ r
    for h, out, grad in run(2, body):
        np.testing.assert_allclose(h, x @ w, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(out, y, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(grad, 2 * y @ r.T @ w.T, rtol=1e-4, atol=1e-4)


def test_split():
    x, w = numbers(3, 4), numbers(4, 6)

    def body(rank):
        dist.init_parallel_env()
        part = paddle.nn.initializer.Assign(np.split(w, 2, 1)[rank])
        rows = paddle.nn.initializer.Assign(np.split(w, 2, 0)[rank])
        col = dist.split(paddle.to_tensor(x), (4, 6), "linear", axis=1, num_partitions=2, bias_attr=False,
                         weight_attr=paddle.ParamAttr(initializer=part))  # fmt: skip
        row = dist.split(paddle.to_tensor(x), (4, 6), "linear", axis=0, num_partitions=2, bias_attr=False,
                         weight_attr=paddle.ParamAttr(initializer=rows))  # fmt: skip
        found = dist.split(paddle.to_tensor([3, 0, 2]), (4, 6), "embedding", num_partitions=2,
                           weight_attr=paddle.ParamAttr(initializer=rows))  # fmt: skip
        with pytest.raises(ValueError, match="num_partitions"):
            dist.split(paddle.to_tensor(x), (4, 6), "linear", axis=1, num_partitions=3)
        return col.numpy(), row.numpy(), found.numpy()

    for col, row, found in run(2, body):
        np.testing.assert_allclose(col, x @ w, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(row, x @ w, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(found, w[[3, 0, 2]])


def test_random_states():
    def body(rank):
        start(mp=2)
        mp.model_parallel_random_seed(7)
        tracker = mp.get_rng_state_tracker()
        alike = paddle.rand([4]).numpy()
        with tracker.rng_state():
            apart = paddle.rand([4]).numpy()
        again = paddle.rand([4]).numpy()
        with tracker.rng_state():
            on = paddle.rand([4]).numpy()
        with pytest.raises(ValueError, match="does not exist"), tracker.rng_state("other"):
            pass
        with pytest.raises(ValueError, match="already exists"):
            tracker.add("model_parallel_rng", 3)
        paddle.seed(7)
        return alike, apart, again, on, paddle.rand([4]).numpy(), paddle.rand([4]).numpy()

    first, second = run(2, body)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[2], second[2])
    assert (first[1] != second[1]).all() and (first[1] != first[3]).all()
    np.testing.assert_array_equal(first[0], first[4])  # drawing from the tracker leaves the generator alone
    np.testing.assert_array_equal(first[2], first[5])


def test_sequence_parallel_layers():
    from paddle.distributed.fleet.utils import sequence_parallel_utils as sp

    x, w, r, b = numbers(4, 3), numbers(3, 6), numbers(6, 5), numbers(5)

    def body(rank):
        start(mp=2)
        up = sp.ColumnSequenceParallelLinear(3, 6, has_bias=False, gather_output=False)
        down = sp.RowSequenceParallelLinear(6, 5, input_is_parallel=True)
        up.weight.set_value(np.split(w, 2, 1)[rank])
        down.weight.set_value(np.split(r, 2, 0)[rank])
        down.bias.set_value(b)
        assert sp.is_sequence_parallel_parameter(down.bias)
        sp.register_sequence_parallel_allreduce_hooks(down, 1, False)
        t = paddle.to_tensor(x, stop_gradient=False)
        y = down(up(sp.ScatterOp.apply(t)))
        assert y.shape == [2, 5]
        whole = sp.GatherOp.apply(y)
        (whole * whole).sum().backward()
        return whole.numpy(), t.grad.numpy(), down.bias.grad.numpy()

    y = x @ w @ r + b
    for whole, grad, bias_grad in run(2, body):
        np.testing.assert_allclose(whole, y, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(grad, 2 * y @ r.T @ w.T, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(bias_grad, 2 * y.sum(0), rtol=1e-4, atol=1e-4)


# ---- wrappers and optimizers
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
class Embed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([6, 4])
        self.weight.set_value(numbers(6, 4))

    def forward(self, x):
        return nn.functional.embedding(x, self.weight)


def logits(layer, h):
    return paddle.matmul(h, layer.weight, transpose_y=True)


class Block(nn.Layer):
    def __init__(self, seed):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        for k, p in enumerate(self.parameters()):
            p.set_value(numbers(*p.shape, seed=10 * seed + k))

    def forward(self, h):
        return paddle.tanh(self.fc(h))


def descriptions():
    return [
        mp.SharedLayerDesc("embed", Embed), *(mp.LayerDesc(Block, seed) for seed in range(4)), lambda h: h * 1.0,
        mp.SharedLayerDesc("embed", Embed, forward_func=logits),
    ]  # fmt: skip


TOKENS, NEXT = np.arange(8).reshape(8, 1) % 6, (np.arange(8).reshape(8, 1) + 1) % 6


def token_loss(out, label):
    return nn.functional.cross_entropy(out, label.squeeze(-1).unsqueeze(-1))


def pipeline_steps(model, opt, steps=3):
    data = paddle.to_tensor(TOKENS), paddle.to_tensor(NEXT)
    return [float(model.train_batch(data, opt)) for _ in range(steps)]


def pipeline_reference():
    def body(rank):
        fleet.init(is_collective=True)
        net = mp.PipelineLayer(descriptions(), num_stages=1, loss_fn=token_loss)
        opt = paddle.optimizer.AdamW(0.05, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5))
        losses = []
        for _ in range(3):
            loss = token_loss(net(paddle.to_tensor(TOKENS)), paddle.to_tensor(NEXT))
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(float(loss))
        return losses, [p.numpy() for p in net.parameters()]

    return run(1, body)[0]


@pytest.mark.parametrize("mode", ["1F1B", "FThenB"])
@pytest.mark.parametrize("stages, seg_method", [(2, "uniform"), (4, "layer:Block"), (2, [0, 3])])
def test_pipeline_layer(mode, stages, seg_method):
    want_losses, want = pipeline_reference()

    def body(rank):
        hcg = start(pp=stages, pipeline_configs={"accumulate_steps": 4, "micro_batch_size": 2, "schedule_mode": mode})
        assert hcg.get_stage_id() == rank and hcg.is_first_stage == (rank == 0)
        net = mp.PipelineLayer(descriptions(), topology=hcg.topology(), loss_fn=token_loss, seg_method=seg_method)
        model = fleet.distributed_model(net)
        opt = paddle.optimizer.AdamW(0.05, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5))
        opt = fleet.distributed_optimizer(opt)
        losses = pipeline_steps(model, opt)
        loss = float(model.eval_batch((paddle.to_tensor(TOKENS), paddle.to_tensor(NEXT)), compute_loss=True))
        shared = net.shared_layers["embed"].weight.numpy() if "embed" in net.shared_layers else None
        return losses, loss, shared, [p.numpy() for p in net.parameters()], net.segment_parts

    results = run(stages, body)
    for losses, loss, shared, _, _ in results:
        np.testing.assert_allclose(losses, want_losses, rtol=1e-4)
        assert loss < losses[-1]
        if shared is not None:
            np.testing.assert_allclose(shared, want[0], rtol=1e-4, atol=1e-5)
    assert results[0][2] is not None and results[-1][2] is not None
    blocks = [p for _, _, shared, params, _ in results for p in params[(1 if shared is not None else 0) :]]
    assert_near(blocks, want[1:])


@pytest.mark.parametrize("stages, chunks, steps", [(2, 2, 4), (2, 3, 2), (3, 2, 3)])
def test_interleaved_pipeline(stages, chunks, steps):
    """Each stage has chunks that lie apart; the values are those of one process."""
    items = [*descriptions()[:5], *(mp.LayerDesc(Block, seed) for seed in range(4, 6)), *descriptions()[5:]]
    tokens, following = np.resize(TOKENS, (2 * steps, 1)), np.resize(NEXT, (2 * steps, 1))

    def whole(rank):
        fleet.init(is_collective=True)
        net = mp.PipelineLayer(items, num_stages=1, loss_fn=token_loss)
        opt = paddle.optimizer.AdamW(0.05, parameters=net.parameters())
        losses = []
        for _ in range(3):
            loss = token_loss(net(paddle.to_tensor(tokens)), paddle.to_tensor(following))
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(float(loss))
        return losses

    want = run(1, whole)[0]

    def body(rank):
        hcg = start(pp=stages, pipeline_configs={"accumulate_steps": steps, "micro_batch_size": 2})
        net = mp.PipelineLayer(items, topology=hcg.topology(), loss_fn=token_loss, num_virtual_pipeline_stages=chunks)
        assert net.get_num_virtual_stages() == chunks == len(net.get_model_chunks())
        model = fleet.distributed_model(net)
        assert isinstance(model, mp.PipelineParallelWithInterleave)
        opt = fleet.distributed_optimizer(paddle.optimizer.AdamW(0.05, parameters=net.parameters()))
        data = paddle.to_tensor(tokens), paddle.to_tensor(following)
        losses = [float(model.train_batch(data, opt)) for _ in range(3)]
        return losses, float(model.eval_batch(data, compute_loss=True))

    for losses, after in run(stages, body):
        np.testing.assert_allclose(losses, want, rtol=1e-4)
        assert after < losses[-1]


def test_segments():
    from paddle.distributed.fleet.meta_parallel.parallel_layers.segment import SegmentLayers

    assert SegmentLayers.uniform(7, 2) == [0, 3, 7] and SegmentLayers.uniform(10, 4) == [0, 2, 4, 7, 10]
    items = descriptions()
    assert SegmentLayers(items, 2, "layer:Block").do_segment() == [0, 3, 7]
    for method, text in (("layer:Nothing", "match"), ([0, 9, 7], "rising"), ("other", "seg_method")):
        with pytest.raises(ValueError, match=text):
            SegmentLayers(items, 2, method).do_segment()


def test_one_rank():
    want_losses, _ = pipeline_reference()

    def body(rank):
        start(pipeline_configs={"accumulate_steps": 4, "micro_batch_size": 2})
        net = mp.PipelineLayer(descriptions(), num_stages=1, loss_fn=token_loss)
        opt = paddle.optimizer.AdamW(0.05, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.5))
        return pipeline_steps(fleet.distributed_model(net), fleet.distributed_optimizer(opt))

    np.testing.assert_allclose(run(1, body)[0], want_losses, rtol=1e-4)


# ---- group_sharded_parallel
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


def test_object_lists():
    def body(rank):
        dist.init_parallel_env()
        box = [None, None]
        if rank == 0:
            dist.send_object_list([{"a": 1}, "two"], dst=1)
        else:
            dist.recv_object_list(box, src=0)
        return box

    assert run(2, body)[1] == [{"a": 1}, "two"]


def test_main_gradients():
    """Sixteen small gradients in float32; in bfloat16 most would be lost."""
    from paddle.distributed.fleet.utils import mix_precision_utils as mix

    def body(rank):
        net = nn.Linear(2, 1, bias_attr=False)
        net.weight.set_value(np.ones((2, 1), "float32"))
        net.to(dtype="bfloat16")
        model = mix.MixPrecisionLayer(net, dtype="bfloat16")
        opt = mix.MixPrecisionOptimizer(paddle.optimizer.SGD(1.0, parameters=net.parameters(), multi_precision=True))
        for value in [256.0] + [0.5] * 15:
            model(paddle.full([1, 2], value, "bfloat16")).sum().backward()
        assert net.weight.grad is None
        main = net.weight.main_grad.numpy().copy()
        net.weight.main_grad.scale_(1 / 1024)
        opt.step()
        opt.clear_grad()
        return main, net.weight.astype("float32").numpy(), net.weight.main_grad.numpy()

    main, weight, cleared = run(1, body)[0]
    np.testing.assert_array_equal(main, np.full((2, 1), 263.5))
    np.testing.assert_allclose(weight, 1 - 263.5 / 1024, rtol=4e-3)
    assert not cleared.any()


def test_timers(capsys):
    from paddle.distributed.fleet.utils import timer_helper

    def body(rank):
        with pytest.raises(RuntimeError, match="not initialized"):
            timer_helper.get_timers()
        timer_helper.set_timers()
        timers = timer_helper.get_timers()
        timers("step").start()
        timers("step").stop()
        with pytest.raises(RuntimeError, match="not running"):
            timers("step").stop()
        timers.log(["step"])
        return timers("step").elapsed()

    assert run(1, body) == [0.0]
    assert "time (ms) | step: " in capsys.readouterr().out
