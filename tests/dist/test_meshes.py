"""Values that move between meshes, and programs over several; sharded inputs of programs. One process is the oracle."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402

R, S, P = dist.Replicate, dist.Shard, dist.Partial


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


MOVES = {
    "disjoint": ([0, 1], [S(0)], [2, 3], [S(1)]),
    "overlapping": ([0, 1], [S(0)], [1, 2], [S(0)]),
    "swapped": ([0, 1], [S(0)], [1, 0], [R()]),
    "grows": ([3], [R()], [0, 1, 2], [S(0)]),
    "shrinks": ([[0, 1], [2, 3]], [S(0), S(1)], [2], [R()]),
    "one to two dimensions": ([0, 1, 2], [S(1)], [[0, 1], [2, 3]], [S(1), S(0)]),
    "from a sum": ([0, 1], [P()], [2, 3], [S(0)]),
}


def whole_of(t, mesh, rank):
    return dist.unshard_dtensor(t).numpy() if mesh.contains(rank) else None


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
@pytest.mark.parametrize("shape", [(5, 3), (1, 2)], ids=["uneven", "empty parts"])
def test_eager_moves_and_their_gradients(move, shape):
    ids, placements, to_ids, to_placements = move
    value, weight = numbers(*shape), numbers(*shape) + 2

    def body(rank):
        a, b = dist.ProcessMesh(ids), dist.ProcessMesh(to_ids)
        x = dist.shard_tensor(value, a, placements, stop_gradient=False)
        y = dist.reshard(x * 1.0, b, to_placements)
        assert y.process_mesh == b and list(y.placements) == list(to_placements)
        loss = (y * dist.shard_tensor(weight, b, [R()] * b.ndim)).sum()
        loss.backward()
        return whole_of(y, b, rank), whole_of(x.grad, a, rank)

    for rank, (y, grad) in enumerate(run(4, body)):
        assert (y is None) == (rank not in np.ravel(to_ids)) and (grad is None) == (rank not in np.ravel(ids))
        if y is not None:
            np.testing.assert_allclose(y, value, rtol=1e-6)
        if grad is not None:
            np.testing.assert_allclose(grad, weight, rtol=1e-6)


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_captured_moves(move):
    ids, placements, to_ids, to_placements = move
    value = numbers(5, 3)

    def body(rank):
        a, b = dist.ProcessMesh(ids), dist.ProcessMesh(to_ids)
        x = dist.shard_tensor(value, a, placements)

        @paddle.jit.to_static(full_graph=True)
        def f():
            y = dist.reshard(x * 2.0, b, to_placements)
            return y.sum(axis=0), y + 1.0

        with paddle.no_grad():
            return [(whole_of(t, b, rank) if t.is_dist() else t.numpy(), t.is_dist()) for t in f()]

    members = {int(r) for r in np.ravel(ids)} | {int(r) for r in np.ravel(to_ids)}
    results = run(4, lambda rank: body(rank) if rank in members else None)
    for rank in members:  # what does not lie on all ranks stays where it is
        (total, stayed), (moved, _) = results[rank]
        assert stayed == (not members <= {int(r) for r in np.ravel(to_ids)})
        if total is not None:
            np.testing.assert_allclose(total, 2 * value.sum(0), rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(moved, 2 * value + 1, rtol=1e-6)


class TwoStages(nn.Layer):
    def __init__(self, meshes=None, split=False):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 2)
        self.norm = nn.LayerNorm(8)
        self.meshes = meshes
        for k, p in enumerate(self.parameters()):
            p.set_value(np.random.default_rng(k).standard_normal(p.shape).astype("float32"))
        if meshes:
            one = [R()] * meshes[0].ndim
            for layer, mesh in ((self.first, 0), (self.norm, 0), (self.second, 1)):
                for name, p in list(layer.named_parameters()):
                    cut = [S(1)] if split and p.ndim == 2 else one
                    setattr(layer, name, dist.shard_tensor(p, meshes[mesh], cut))

    def forward(self, x):
        h = self.norm(nn.functional.relu(self.first(x)))
        if self.meshes:
            h = dist.reshard(h, self.meshes[1], [R()])
        return self.second(h)


def losses_of(net, steps=4, opt=None):
    opt = opt or paddle.optimizer.AdamW(0.05, parameters=net.parameters())
    model = dist.to_static(net, None, nn.MSELoss(), opt)
    losses = [float(model(paddle.to_tensor(numbers(6, 4)), paddle.to_tensor(numbers(6, 2)))) for _ in range(steps)]
    return losses, model


LAYOUTS = {"one rank each": ([0], [1]), "two ranks each": ([0, 1], [2, 3]), "overlapping": ([0, 1], [1, 2])}


@pytest.mark.parametrize("ids", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("split", [False, True], ids=["whole", "cut"])
def test_a_model_over_two_meshes_trains_as_in_one_process(ids, split):
    want = run(1, lambda rank: losses_of(TwoStages())[0])[0]

    def body(rank):
        meshes = [dist.ProcessMesh(i) for i in ids]
        net = TwoStages(meshes, split)
        losses, model = losses_of(net)
        mine = model.dist_main_program("train").compiled()
        return losses, mine

    ranks = sorted(set(ids[0]) | set(ids[1]))
    for losses, text in run(len(ranks), body):
        np.testing.assert_allclose(losses, want, rtol=2e-5)
        assert '"pd_op.send_v2"' in text or '"pd_op.recv_v2"' in text


@pytest.mark.parametrize("clip", [None, 0.1])
def test_eager_training_over_two_meshes(clip):
    def steps(net, place=lambda x: x, rank=0):
        norm = None if clip is None else nn.ClipGradByGlobalNorm(clip)
        opt = paddle.optimizer.SGD(0.05, parameters=net.parameters(), grad_clip=norm)
        for _ in range(3):
            loss = ((net(place(paddle.to_tensor(numbers(6, 4))))) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
        return net

    want = run(1, lambda rank: [p.numpy() for p in steps(TwoStages()).parameters()])[0]

    def body(rank):
        meshes = [dist.ProcessMesh([0, 1]), dist.ProcessMesh([2, 3])]
        net = steps(TwoStages(meshes), lambda x: dist.shard_tensor(x, meshes[0], [S(0)]))
        return [whole_of(p, p.process_mesh, rank) for p in net.parameters()]

    for values in run(4, body):
        for got, w in zip(values, want):
            if got is not None:
                np.testing.assert_allclose(got, w, rtol=1e-4, atol=1e-5)


# ---- sharded inputs
class Small(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 3)
        for k, p in enumerate(self.parameters()):
            p.set_value(np.random.default_rng(k).standard_normal(p.shape).astype("float32"))

    def forward(self, x):
        return self.down(self.norm(nn.functional.gelu(self.up(x))))


INPUTS = {"cut": ([0, 1], [S(0)]), "uneven": ([0, 1, 2], [S(0)]), "two ways": ([[0, 1], [2, 3]], [S(0), S(1)]),
          "a sum": ([0, 1], [P()])}  # fmt: skip


@pytest.mark.parametrize("layout", INPUTS.values(), ids=INPUTS.keys())
def test_sharded_inputs_of_programs(layout):
    ids, placements = layout
    x, weight = numbers(4, 4), numbers(4, 3)

    def whole(rank):
        net, t = Small(), paddle.to_tensor(x, stop_gradient=False)
        y = paddle.jit.to_static(net)(t)
        (y * paddle.to_tensor(weight)).sum().backward()
        return y.numpy(), t.grad.numpy(), [p.grad.numpy() for p in net.parameters()]

    want = run(1, whole)[0]

    def body(rank):
        mesh = dist.ProcessMesh(ids)
        net = dist.shard_layer(Small(), mesh)
        f = paddle.jit.to_static(net)
        t = dist.shard_tensor(x, mesh, placements, stop_gradient=False)
        y = f(t)
        (y * paddle.to_tensor(weight)).sum().backward()
        with paddle.no_grad():
            again = f(paddle.to_tensor(x))  # whole inputs of the same program
            f(t)
        text = f.forward.concrete_program.main_program.compiled()
        grads = [dist.unshard_dtensor(p.grad).numpy() for p in net.parameters()]
        return y.numpy(), dist.unshard_dtensor(t.grad).numpy(), grads, again.numpy(), t.grad.placements, text

    for y, x_grad, grads, again, lies, text in run(int(np.size(ids)), body):
        np.testing.assert_allclose(y, want[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(again, want[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(x_grad, want[1], rtol=1e-5, atol=1e-5)
        for got, w in zip(grads, want[2]):
            np.testing.assert_allclose(got, w, rtol=1e-4, atol=1e-5)
        assert lies == [R() if p.is_partial() else p for p in placements]
        if placements == [S(0)]:
            rows = 2 if len(ids) < 4 else 1
            assert f"tensor<{rows}x4xf32>" in text or len(ids) == 3


def test_a_rank_outside_the_mesh_is_told_so():
    def body(rank):
        t = dist.shard_tensor(numbers(2, 2), dist.ProcessMesh([0]), [R()])
        if rank == 1:
            assert "this rank is outside the mesh" in repr(t)
            with pytest.raises(RuntimeError, match="outside the mesh"):
                t.numpy()
        return True

    assert run(2, body) == [True, True]
