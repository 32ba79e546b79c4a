"""Pipeline layers and their schedules, each against one process."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402
from paddle.distributed.fleet import meta_parallel as mp  # noqa: E402
from fleet_testing import numbers, start, assert_near  # noqa: E402


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
