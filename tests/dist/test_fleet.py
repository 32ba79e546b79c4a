"""paddle.distributed.fleet: groups, strategies and helpers."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402
from fleet_testing import start  # noqa: E402


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
        other = fleet.DistributedStrategy()
        setattr(other, field, True)  # kept, and refused where a job would begin without it
        with pytest.raises(NotImplementedError, match="no effect"):
            fleet.init(is_collective=True, strategy=other)


def test_strategies_are_kept_as_text(tmp_path):
    s = fleet.DistributedStrategy()
    s.dgc, s.recompute, s.recompute_configs = True, True, {"checkpoints": ["x", 'a "b"']}
    s.amp_configs = {"init_loss_scaling": 64.0, "custom_white_list": ["softmax"]}
    s.hybrid_configs = {"mp_degree": 2, "pp_configs": {"delay_scale_loss": True}}
    path = tmp_path / "strategy.prototxt"
    s.save_to_prototxt(path)
    other = fleet.DistributedStrategy()
    other.load_from_prototxt(path)
    assert other.dgc and other.recompute and other.recompute_configs["checkpoints"] == ["x", 'a "b"']
    assert other.amp_configs == s.amp_configs and other.hybrid_configs == s.hybrid_configs
    for text in ("dgc", "dgc: ", "amp_configs {", "}", "nonsense: 1"):
        path.write_text(text)
        with pytest.raises((ValueError, AttributeError)):
            fleet.DistributedStrategy().load_from_prototxt(path)


# ---- tensor parallelism


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
