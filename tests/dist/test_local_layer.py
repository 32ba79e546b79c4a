"""Code on parts within code on distributed tensors; placements of sequences and experts."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402

R, S, P = dist.Replicate, dist.Shard, dist.Partial


def numbers(*shape, seed=0):
    return np.random.default_rng(sum(shape) + seed).standard_normal(shape).astype("float32")


class MaskedSum(dist.LocalLayer):
    """Each rank sums the part that it has of a batch: the whole's sum is Partial."""

    def forward(self, x, w):
        return ((x * w) ** 2).sum()


def test_local_layer():
    """Gradients of a replicated input that each rank uses for its part are Partial."""
    x, w = numbers(4, 3), numbers(3)

    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        layer = MaskedSum([(mesh, [P()])], [None, (mesh, [P()])])
        dx = dist.shard_tensor(x, mesh, [S(0)], stop_gradient=False)
        dw = dist.shard_tensor(w, mesh, [R()], stop_gradient=False)
        total = layer(dx, dw)
        assert total.is_dist() and total.placements == [P()]
        whole = dist.unshard_dtensor(total)
        whole.backward()
        with pytest.raises(ValueError, match="expected 2 inputs"):
            layer(dx)
        return float(whole), dist.unshard_dtensor(dx.grad).numpy(), dist.unshard_dtensor(dw.grad).numpy()

    for total, x_grad, w_grad in run(2, body):
        np.testing.assert_allclose(total, ((x * w) ** 2).sum(), rtol=1e-5)
        np.testing.assert_allclose(x_grad, 2 * x * w * w, rtol=1e-5)
        np.testing.assert_allclose(w_grad, (2 * x * x * w).sum(0), rtol=1e-5)


def test_parts_are_no_matter_for_programs():
    """Where a graph may break the function runs eagerly, else the error says why."""
    x = numbers(4, 3)

    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        layer = MaskedSum([(mesh, [P()])], [None, (mesh, [P()])])
        t, w = dist.shard_tensor(x, mesh, [S(0)]), dist.shard_tensor(numbers(3), mesh, [R()])
        with pytest.raises(Exception, match="can't be captured in a program"):
            paddle.jit.to_static(lambda a, b: layer(a, b), full_graph=True)(t, w)
        out = paddle.jit.to_static(lambda a, b: layer(a, b), full_graph=False)(t, w)
        return float(dist.unshard_dtensor(out))

    for total in run(2, body):
        np.testing.assert_allclose(total, ((x * numbers(3)) ** 2).sum(), rtol=1e-5)


def test_local_map():
    x = numbers(4, 6)

    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        t = dist.shard_tensor(x, mesh, [S(0)])
        rows = dist.local_map(
            lambda a: a.sum(axis=1), out_placements=[[S(0)]], in_placements=[[S(0)]], process_mesh=mesh
        )
        columns = dist.local_map(lambda a: (a.sum(axis=0), a.shape[1]), [[S(0)], None], [[S(1)]], reshard_inputs=True)
        strict = dist.local_map(lambda a: a, [[S(1)]], [[S(1)]], mesh)
        with pytest.raises(ValueError, match="expected argument 0 to lie as"):
            strict(t)
        total, width = columns(t)
        return dist.unshard_dtensor(rows(t)).numpy(), dist.unshard_dtensor(total).numpy(), width

    for rows, columns, width in run(2, body):
        np.testing.assert_allclose(rows, x.sum(1), rtol=1e-5)
        np.testing.assert_allclose(columns, x.sum(0), rtol=1e-5)
        assert width == 3


def test_parts_and_wholes():
    def body(rank):
        mesh = dist.ProcessMesh([[0, 1], [2, 3]])
        part = paddle.full([2, 3], float(rank))
        t = dist.dtensor_from_local(part, mesh, [S(0), S(1)])
        back = dist.dtensor_to_local(t)
        assert t.shape == [4, 6] and back.tolist() == part.tolist() and not back.is_dist()
        return dist.unshard_dtensor(t).numpy()

    want = np.block([[np.full((2, 3), 0.0), np.full((2, 3), 1.0)], [np.full((2, 3), 2.0), np.full((2, 3), 3.0)]])
    for whole in run(4, body):
        np.testing.assert_array_equal(whole, want)


# ---- sequence parallelism: between the products activations are cut along the sequence
class Layer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(4), nn.Linear(4, 8), nn.Linear(8, 4)
        for k, p in enumerate(self.parameters()):
            p.set_value(numbers(*p.shape, seed=k))

    def forward(self, x, cut=lambda t, p: t):
        h = self.norm(cut(x, [S(1)]))
        h = self.up(cut(h, [R()]))
        return cut(self.down(nn.functional.gelu(h)), [S(1)]) + x


@pytest.mark.parametrize("captured", [False, True], ids=["eager", "captured"])
def test_sequence_parallel_placements(captured):
    x = numbers(2, 6, 4)

    def whole(rank):
        net, t = Layer(), paddle.to_tensor(x, stop_gradient=False)
        y = net(t)
        (y * y).mean().backward()
        return y.numpy(), t.grad.numpy(), [p.grad.numpy() for p in net.parameters()]

    want = run(1, whole)[0]

    def body(rank):
        mesh = dist.ProcessMesh([0, 1], ["mp"])
        net = Layer()
        net.up.weight = dist.shard_tensor(net.up.weight, mesh, [S(1)])
        net.up.bias = dist.shard_tensor(net.up.bias, mesh, [S(0)])
        net.down.weight = dist.shard_tensor(net.down.weight, mesh, [S(0)])
        net = dist.shard_layer(net, mesh)
        cut = lambda t, p: dist.reshard(t, mesh, p)  # noqa: E731
        forward = lambda t: net(t, cut)  # noqa: E731
        t = dist.shard_tensor(x, mesh, [S(1)], stop_gradient=False)
        y = (paddle.jit.to_static(forward, full_graph=True) if captured else forward)(t)
        if not captured:
            assert y.placements == [S(1)] and y._local_shape == [2, 3, 4]
        (y * y).mean().backward()
        whole_of = lambda v: (dist.unshard_dtensor(v) if v.is_dist() else v).numpy()  # noqa: E731
        return whole_of(y), whole_of(t.grad), [whole_of(p.grad) for p in net.parameters()]

    for y, x_grad, grads in run(2, body):
        np.testing.assert_allclose(y, want[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(x_grad, want[1], rtol=1e-4, atol=1e-5)
        for got, w in zip(grads, want[2]):
            np.testing.assert_allclose(got, w, rtol=1e-4, atol=1e-5)


def test_expert_parallel_placements():
    """Experts' weights cut along the expert axis; tokens go there and back."""
    experts, tokens = 4, 3
    x, w1, w2 = numbers(experts, tokens, 5), numbers(experts, 5, 6), numbers(experts, 6, 5)

    def net(t, a, b):
        return paddle.bmm(nn.functional.relu(paddle.bmm(t, a)), b)

    def whole(rank):
        args = [paddle.to_tensor(v, stop_gradient=False) for v in (x, w1, w2)]
        y = net(*args)
        (y * y).sum().backward()
        return [y.numpy(), *(a.grad.numpy() for a in args)]

    want = run(1, whole)[0]

    def body(rank):
        mesh = dist.ProcessMesh([0, 1], ["ep"])
        t = dist.shard_tensor(x, mesh, [S(1)], stop_gradient=False)  # each rank has some tokens of every expert
        a, b = (dist.shard_tensor(v, mesh, [S(0)], stop_gradient=False) for v in (w1, w2))
        y = net(dist.reshard(t, mesh, [S(0)]), a, b)  # all to all
        assert y.placements == [S(0)] and a._local_shape == [2, 5, 6]
        back = dist.reshard(y, mesh, [S(1)])
        (back * back).sum().backward()
        assert a.grad.placements == [S(0)]
        return [dist.unshard_dtensor(v).numpy() for v in (back, t.grad, a.grad, b.grad)]

    for got in run(2, body):
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)


def test_loader_over_a_mesh():
    from paddle.io import DataLoader, TensorDataset

    x, y = numbers(8, 3), np.arange(8)

    def body(rank):
        mesh = dist.ProcessMesh([[0, 1], [2, 3]], ["dp", "mp"])
        loader = DataLoader(TensorDataset([paddle.to_tensor(x), paddle.to_tensor(y)]), batch_size=4)
        seen = []
        for a, b in dist.shard_dataloader(loader, mesh, shard_dims="dp"):
            assert a.placements == [S(0), R()] and a.shape == [4, 3] and a._local_shape == [2, 3]
            seen.append((dist.unshard_dtensor(a).numpy(), b._local_value().tolist()))
        # every rank's loader has its part only
        mine = DataLoader(TensorDataset([paddle.to_tensor(x[4 * (rank // 2) : 4 * (rank // 2) + 4])]), batch_size=2)
        parts = [a[0] for a in dist.shard_dataloader(mine, mesh, shard_dims="dp", is_dataset_splitted=True)]
        assert parts[0].shape == [4, 3]
        return seen, dist.unshard_dtensor(parts[1]).numpy()

    for rank, (seen, part) in enumerate(run(4, body)):
        half = rank // 2
        for k, (a, b) in enumerate(seen):
            np.testing.assert_array_equal(a, x[4 * k : 4 * k + 4])
            assert b == list(range(4 * k + 2 * half, 4 * k + 2 * half + 2))
        np.testing.assert_array_equal(part, np.concatenate([x[2:4], x[6:8]]))
