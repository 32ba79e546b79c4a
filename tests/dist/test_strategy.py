"""What the options of Strategy do: each against one process and whole batches; options without effect are refused."""

import threading

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.distributed.auto_parallel import pipeline_schedule as schedule  # noqa: E402

R, S = dist.Replicate, dist.Shard


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def test_schedules():
    text = lambda plan: " ".join(f"{kind}{m}" for kind, m in plan)  # noqa: E731
    assert text(schedule.f_then_b(3)) == "F0 F1 F2 B0 B1 B2"
    assert text(schedule.one_f_one_b(6, 0, 4)) == "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5"
    assert text(schedule.one_f_one_b(6, 3, 4)) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5"
    assert text(schedule.one_f_one_b(2, 0, 4)) == "F0 F1 B0 B1"  # fewer micro-batches than stages
    for stage in range(4):
        plan, open_, most = schedule.one_f_one_b(8, stage, 4), 0, 0
        for kind, _ in plan:
            open_ += 1 if kind == "F" else -1
            most = max(most, open_)
        assert most == 4 - stage and sorted(plan) == sorted(schedule.f_then_b(8))


def test_interleaved_schedule():
    """Megatron-LM's for two stages of two chunks and four micro-batches."""
    text = lambda plan: " ".join(f"{kind}{m}.{c}" for kind, m, c in plan)  # noqa: E731
    assert text(schedule.interleaved(4, 1, 2, 2)) == (
        "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0"
    )
    for stage in range(2):
        plan = schedule.interleaved(4, stage, 2, 2)
        assert sorted(plan) == sorted((k, m, c) for k in "FB" for m in range(4) for c in range(2))
        for m in range(4):
            for c in range(2):
                assert plan.index(("F", m, c)) < plan.index(("B", m, c))
    with pytest.raises(ValueError, match="multiple of 2 micro-batches"):
        schedule.interleaved(3, 0, 2, 2)


class Stages(nn.Layer):
    """Blocks of which each lies on a mesh of its own; the activations between them change over."""

    def __init__(self, meshes=None, width=8, blocks=3):
        super().__init__()
        self.blocks = nn.LayerList([nn.Sequential(nn.Linear(4 if i == 0 else width, width), nn.LayerNorm(width), nn.GELU())
                                    for i in range(blocks)])  # fmt: skip
        self.head = nn.Linear(width, 2)
        self.meshes = meshes
        for k, p in enumerate(self.parameters()):
            p.set_value(np.random.default_rng(k).standard_normal(p.shape).astype("float32") / 3)
        if meshes:
            for i, layer in enumerate([*self.blocks, self.head]):
                mesh = meshes[min(i, len(meshes) - 1)]
                for sub in layer.sublayers(include_self=True):
                    for name, p in list(sub._parameters.items()):
                        setattr(sub, name, dist.shard_tensor(p, mesh, [R()] * mesh.ndim))

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            if self.meshes and 0 < i < len(self.meshes):
                x = dist.reshard(x, self.meshes[i], [R()])
            x = block(x)
        return self.head(x)


def trained(net, strategy=None, batch=8, steps=3, place=lambda t: t, optimizer=None):
    opt = (optimizer or paddle.optimizer.AdamW)(0.02, parameters=net.parameters())
    model = dist.to_static(net, None, nn.MSELoss(), opt, strategy)
    x, label = place(paddle.to_tensor(numbers(batch, 4))), place(paddle.to_tensor(numbers(batch, 2)))
    return [float(model(x, label)) for _ in range(steps)], model


def values(net, rank):
    out = []
    for p in net.parameters():
        inside = not p.is_dist() or p.process_mesh.contains(rank)
        out.append((dist.unshard_dtensor(p) if p.is_dist() else p).numpy() if inside else None)
    return out


def compare(got, want):
    for g, w in zip(got, want):
        if g is not None:
            np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("mode", ["FThenB", "1F1B"])
@pytest.mark.parametrize("ids", [[[0], [1]], [[0], [1], [2]], [[0, 1], [2, 3]]], ids=["2", "3", "2x2"])
def test_pipeline(mode, ids):
    def whole(rank):
        net = Stages()
        return trained(net)[0], values(net, rank)

    want_losses, want = run(1, whole)[0]

    def body(rank):
        net = Stages([dist.ProcessMesh(i) for i in ids])
        options = {"pipeline": {"enable": True, "schedule_mode": mode, "accumulate_steps": 4}}
        losses, _ = trained(net, dist.Strategy(options))
        return losses, values(net, rank)

    for losses, params in run(int(np.size(ids)), body):
        np.testing.assert_allclose(losses, want_losses, rtol=2e-5)
        compare(params, want)


def test_large_activations_do_not_block_a_pipeline():
    """Each is larger than what a send may leave on the way."""
    want = run(1, lambda rank: trained(Stages(width=1024), batch=128, steps=1)[0])[0]

    def body(rank):
        net = Stages([dist.ProcessMesh([0]), dist.ProcessMesh([1])], width=1024)
        options = {"pipeline": {"enable": True, "schedule_mode": "1F1B", "micro_batch_size": 32}}
        return trained(net, dist.Strategy(options), batch=128, steps=1)[0]

    for losses in run(2, body):
        np.testing.assert_allclose(losses, want, rtol=2e-5)


def test_a_batch_that_micro_batches_do_not_share():
    def body(rank):
        with pytest.raises(ValueError, match="share equally"):
            trained(Stages(), dist.Strategy({"pipeline": {"enable": True, "accumulate_steps": 3}}))
        with pytest.raises(NotImplementedError, match="schedule_mode"):
            trained(Stages(), dist.Strategy({"pipeline": {"enable": True, "schedule_mode": "VPP"}}))

    run(1, body)


@pytest.mark.parametrize("avg", [True, False])
def test_gradient_merge(avg):
    def merged(rank):
        net = Stages()
        trained(net, dist.Strategy({"gradient_merge": {"enable": True, "k_steps": 2, "avg": avg}}), steps=4,
                optimizer=paddle.optimizer.SGD)  # fmt: skip
        return values(net, rank)

    def by_hand(rank):
        net = Stages()
        opt = paddle.optimizer.SGD(0.02 if avg else 0.04, parameters=net.parameters())
        for _ in range(2):  # twice the same batch: its gradient, or twice that
            nn.MSELoss()(net(paddle.to_tensor(numbers(8, 4))), paddle.to_tensor(numbers(8, 2))).backward()
            opt.step()
            opt.clear_grad()
        return values(net, rank)

    compare(run(1, merged)[0], run(1, by_hand)[0])


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_sharding(stage):
    def whole(rank):
        net = Stages()
        return trained(net)[0], values(net, rank)

    want_losses, want = run(1, whole)[0]

    def body(rank):
        mesh = dist.ProcessMesh([0, 1], ["dp"])
        net = dist.shard_layer(Stages(), mesh)
        losses, model = trained(net, dist.Strategy({"sharding": {"enable": True, "stage": stage, "degree": 2}}),
                                place=lambda t: dist.shard_tensor(t, mesh, [S(0)]))  # fmt: skip
        state = [v for k, v in model.state_dict("opt").items() if "moment" in k and v.shape == [8, 8]]
        assert state and all(v.is_dist() and v._local_shape == [4, 8] for v in state)
        if stage == 3:
            assert net.blocks[1][0].weight._local_shape == [4, 8]
        return losses, values(net, rank)

    for losses, params in run(2, body):
        np.testing.assert_allclose(losses, want_losses, rtol=2e-5)
        compare(params, want)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_amp(dtype):
    want = run(1, lambda rank: trained(Stages())[0])[0]

    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        options = {"amp": {"enable": True, "dtype": dtype, "level": "O1", "init_loss_scaling": 64.0}}
        losses, model = trained(dist.shard_layer(Stages(), mesh), dist.Strategy(options))
        assert dtype.replace("float", "f") in model.dist_main_program("train").stages()[0][1]
        return losses

    for losses in run(2, body):
        np.testing.assert_allclose(losses, want, rtol=2e-2)
        assert losses != want


@pytest.mark.parametrize(
    "options, marked", [({}, 3), ({"no_recompute_segments": [1]}, 2), ({"checkpoints": ["head"]}, 0)]
)
def test_recompute(options, marked):
    want = run(1, lambda rank: trained(Stages())[0])[0]

    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        strategy = dist.Strategy({"recompute": {"enable": True, **options}})
        losses, model = trained(dist.shard_layer(Stages(), mesh), strategy)
        text = model.dist_main_program("train").stages()[0][1]
        gelus = [line for line in text.splitlines() if "pd_op.gelu" in line]
        heads = [line for line in text.splitlines() if "recompute" in line]
        return losses, sum("recompute" in line for line in gelus), bool(heads)

    for losses, count, any_marked in run(2, body):
        np.testing.assert_allclose(losses, want, rtol=2e-5)
        assert count == marked and any_marked

    def wrong(rank):
        with pytest.raises(ValueError, match="no sublayers"):
            trained(Stages(), dist.Strategy({"recompute": {"enable": True, "checkpoints": ["nothing"]}}))
        with pytest.raises(ValueError, match="no LayerList"):
            trained(nn.Linear(4, 2), dist.Strategy({"recompute": {"enable": True}}))

    run(1, wrong)


def test_named_passes_run():
    """On this model's programs, forward and backward, and on none of another rank's that compiles meanwhile."""
    from paddle import pir

    meet = threading.Barrier(2)

    def body(rank):
        seen, threads = [], set()

        def look(program):
            if not seen:
                meet.wait(10)  # now both ranks' models have their passes
            seen.extend(op.name() for op in program.global_block().ops)
            threads.add(threading.get_ident())
            return False

        pir.register_pass(f"look_{rank}", look)
        try:
            options = {"fused_passes": {"enable": True, "fused_passes_list": [f"look_{rank}"]}}
            trained(dist.shard_layer(Stages(), dist.ProcessMesh([0, 1])), dist.Strategy(options), steps=1)
            before = list(seen)
            trained(dist.shard_layer(Stages(), dist.ProcessMesh([0, 1])), steps=1)  # not on other models' programs
            with pytest.raises(ValueError, match="no pass is called"):
                trained(Stages(), dist.Strategy({"fused_passes": {"enable": True, "fused_passes_list": ["nothing"]}}))
            assert seen == before and threads == {threading.get_ident()}
            return seen
        finally:
            pir.unregister_pass(f"look_{rank}")

    for seen in run(2, body):
        assert seen.count("pd_op.layer_norm") == 3  # this model's, once
        assert seen.count("pd_op.matmul") > 4 + 3  # and products of the backward part


def test_pipeline_with_scaled_losses():
    """An overflow on one stage is seen on all."""
    want = run(1, lambda rank: trained(Stages())[0])[0]

    def body(rank):
        options = {"pipeline": {"enable": True, "accumulate_steps": 2},
                   "amp": {"enable": True, "dtype": "float16", "init_loss_scaling": 256.0, "decr_every_n_nan_or_inf": 1}}  # fmt: skip
        net = Stages([dist.ProcessMesh([0]), dist.ProcessMesh([1])])
        losses, model = trained(net, dist.Strategy(options))
        if rank == 0:
            net.blocks[0][0].weight._local_value().set_value(np.full([4, 8], float("inf"), "float32"))
        before = values(net, rank)
        model(paddle.to_tensor(numbers(8, 4)), paddle.to_tensor(numbers(8, 2)))
        same = all(a is None or np.array_equal(a, b) for a, b in zip(before, values(net, rank)))
        return losses, same, float(model._scaler._scale)

    for losses, same, scale in run(2, body):
        np.testing.assert_allclose(losses, want, rtol=2e-2)
        assert same and scale == pytest.approx(256.0 * 0.8)


def test_master_weights_are_cut_too():
    def steps(net, opt):
        for _ in range(3):
            (net(paddle.full([2, 8], 0.5, "bfloat16")).astype("float32") ** 2).mean().backward()
            opt.step()
            opt.clear_grad()

    def layer():
        net = nn.Linear(8, 8)
        net.weight.set_value(numbers(8, 8))
        net.to(dtype="bfloat16")
        return net

    def adam(net):
        return paddle.optimizer.Adam(0.01, parameters=net.parameters(), multi_precision=True)

    def whole(rank):
        net = layer()
        steps(net, adam(net))
        return net.weight.astype("float32").numpy()

    want = run(1, whole)[0]

    def body(rank):
        mesh = dist.ProcessMesh([0, 1], ["dp"])
        net = dist.shard_layer(layer(), mesh)
        opt = dist.shard_optimizer(adam(net), dist.ShardingStage1(mesh, "dp"))
        steps(net, opt)
        masters = [m for m in opt._master_weights.values() if m.shape == [8, 8]]
        assert [m._local_shape for m in masters] == [[4, 8]]
        return dist.unshard_dtensor(net.weight).astype("float32").numpy()

    for got in run(2, body):
        np.testing.assert_array_equal(got, want)


REFUSED = [
    ("sharding", "enable_stage1_tensor_fusion", True), ("pipeline", "vpp_degree", 2), ("fused_passes", "gemm_epilogue", True),
    ("amp", "use_master_grad", True), ("qat", "enable", True), ("tuning", "enable", True), ("dp_optimization", "enable", True),
    ("mp_optimization", "allreduce_matmul_grad_overlapping", True), ("recompute", "refined_ops_patterns", ["x"]),
]  # fmt: skip


@pytest.mark.parametrize("category, option, value", REFUSED)
def test_options_without_effect_are_refused(category, option, value):
    with pytest.raises(NotImplementedError, match=f"{category}.{option} has no effect"):
        dist.Strategy({category: {option: value}})
    strategy = dist.Strategy()
    with pytest.raises(NotImplementedError, match="has no effect"):
        setattr(getattr(strategy, category), option, value)
    setattr(getattr(strategy, category), option, getattr(getattr(strategy, category), option))  # what it is anyway
    with pytest.raises(ValueError, match="no option"):
        getattr(strategy, category).nonsense = 1
