"""paddle.distributed's collectives and groups, ranks as threads; expected values by hand."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402


def mine(rank):
    return paddle.to_tensor(np.arange(3, dtype="float32") + 10 * rank)


def test_all_reduce_broadcast_reduce():
    def body(rank):
        x = mine(rank)
        dist.all_reduce(x)
        top = mine(rank)
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        b = mine(rank)
        dist.broadcast(b, src=1)
        r = mine(rank)
        dist.reduce(r, dst=2)
        return [t.numpy().tolist() for t in (x, top, b, r)]

    for rank, (x, top, b, r) in enumerate(run(3, body)):
        assert x == [30, 33, 36] and top == [20, 21, 22] and b == [10, 11, 12]
        assert r == ([30, 33, 36] if rank == 2 else [10 * rank, 10 * rank + 1, 10 * rank + 2])


def test_gathers_and_scatters():
    def body(rank):
        parts, everything = [], []
        dist.all_gather(parts, mine(rank))
        dist.all_gather_object(everything, {"rank": rank, "text": "x" * rank})
        out = paddle.zeros([3])
        dist.scatter(out, [mine(r + 5) for r in range(2)] if rank == 0 else None, src=0)
        rs = paddle.zeros([3])
        dist.reduce_scatter(rs, [mine(rank), mine(rank + 1)])
        got = []
        dist.gather(mine(rank), got, dst=1)
        return [[p.tolist() for p in parts], everything, out.tolist(), rs.tolist(), [g.tolist() for g in got]]

    for rank, (parts, everything, out, rs, got) in enumerate(run(2, body)):
        assert parts == [[0, 1, 2], [10, 11, 12]]
        assert everything == [{"rank": r, "text": "x" * r} for r in range(2)]
        assert out == [50 + 10 * rank + i for i in range(3)]
        assert rs == [10 + 20 * rank + 2 * i for i in range(3)]
        assert got == ([[0, 1, 2], [10, 11, 12]] if rank == 1 else [])


def test_alltoall_send_recv_and_tasks():
    def body(rank):
        out = []
        dist.alltoall(out, [paddle.full([2], 10 * rank + r) for r in range(2)])
        single = paddle.zeros([3])
        sizes = [1, 2] if rank == 0 else [2, 1]
        dist.alltoall_single(single, mine(rank), [1, 2] if rank == 0 else [2, 1], sizes)
        other = 1 - rank
        box = paddle.zeros([3])
        tasks = [dist.isend(mine(rank), other), dist.irecv(box, other)]
        for t in tasks:
            t.wait()
        late = mine(rank)
        task = dist.all_reduce(late, sync_op=False)
        task.wait()
        return [t.tolist() for t in out], single.tolist(), box.tolist(), late.tolist(), task.is_completed()

    for rank, (out, single, box, late, done) in enumerate(run(2, body)):
        assert out == [[rank, rank], [10 + rank, 10 + rank]]
        assert single == ([0, 10, 11] if rank == 0 else [1, 2, 12])
        assert box == [10 * (1 - rank) + i for i in range(3)]
        assert late == [10, 12, 14] and done


def test_groups():
    def body(rank):
        g = dist.new_group([0, 2])
        again = dist.new_group([0, 2])
        assert g.id != again.id and g.ranks == [0, 2] and g.nranks == 2
        assert dist.get_rank(g) == {0: 0, 1: -1, 2: 1}[rank]
        x = mine(rank)
        if rank != 1:
            assert g.is_member()
            dist.all_reduce(x, group=g)
            dist.broadcast(x, src=2, group=again)
        else:
            with pytest.raises(RuntimeError, match="no member"):
                dist.all_reduce(x, group=g)
        dist.barrier()
        return x.tolist()

    results = run(3, body)
    assert results[0] == results[2] == [20, 22, 24] and results[1] == [10, 11, 12]


def test_bad_calls_say_what_is_wrong():
    def body(rank):
        with pytest.raises(ValueError, match="rank of the group"):
            dist.broadcast(mine(rank), src=5)
        with pytest.raises(ValueError, match="ranks in"):
            dist.new_group([0, 9])
        with pytest.raises(ValueError):
            dist.ProcessMesh([0, 0])
        with pytest.raises(ValueError, match=r"\[all_reduce\]"):
            dist.all_reduce(dist.shard_tensor(mine(rank), dist.ProcessMesh([0, 1]), [dist.Shard(0)]))

    run(2, body)


def test_one_process_needs_no_launcher():
    def body(rank):
        x = mine(rank)
        dist.all_reduce(x)
        return dist.get_world_size(), x.tolist()

    assert run(1, body) == [(1, [0, 1, 2])]


def test_data_parallel_averages_gradients():
    from paddle import nn

    def body(rank):
        paddle.seed(rank)  # different parameters, made equal by DataParallel
        net = dist.DataParallel(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)), comm_buffer_size=1)
        x = paddle.to_tensor(np.linspace(rank, rank + 1, 6).reshape(2, 3).astype("float32"))
        net(x).mean().backward()
        whole = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        whole.set_state_dict(net.state_dict())
        both = paddle.to_tensor(
            np.concatenate([np.linspace(r, r + 1, 6).reshape(2, 3) for r in range(2)]).astype("float32")
        )
        whole(both).mean().backward()
        with net.no_sync():
            net(x).mean().backward()
        return [(p.grad.numpy(), q.grad.numpy()) for p, q in zip(net.parameters(), whole.parameters())]

    # no_sync only adds this rank's own gradient on top.
    first, second = run(2, body)
    for (a, want), (b, _) in zip(first, second):
        np.testing.assert_allclose(a + b, 4 * want, rtol=1e-5, atol=1e-6)


def test_data_parallel_says_which_parameters_are_unused():
    from paddle import nn

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            return self.used(x)

    def body(rank):
        x = paddle.full([1, 2], float(rank))
        bad = dist.DataParallel(Net())
        bad(x).sum().backward()
        with pytest.raises(RuntimeError, match="gave no gradients to .*find_unused_parameters=True"):
            bad(x)
        good = dist.DataParallel(Net(), find_unused_parameters=True)
        good(x).sum().backward()
        good(x)
        return good._layers.used.weight.grad.numpy()

    for grad in run(2, body):
        np.testing.assert_allclose(grad, np.full((2, 2), 0.5))


def test_synchronised_batch_norm():
    from paddle import nn

    x = np.random.default_rng(0).standard_normal((6, 3, 2)).astype("float32")
    weight = np.random.default_rng(1).standard_normal((6, 3, 2)).astype("float32")

    def whole(rank):
        norm, t = nn.BatchNorm1D(3), paddle.to_tensor(x, stop_gradient=False)
        y = norm(t)
        (y * paddle.to_tensor(weight)).sum().backward()
        return y.numpy(), t.grad.numpy(), norm._mean.numpy(), norm._variance.numpy()

    want = run(1, whole)[0]

    def body(rank):
        dist.init_parallel_env()
        rows = slice(0, 4) if rank == 0 else slice(4, 6)  # uneven
        norm = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1D(3)))[0]
        assert isinstance(norm, nn.SyncBatchNorm)
        t = paddle.to_tensor(x[rows], stop_gradient=False)
        y = norm(t)
        (y * paddle.to_tensor(weight[rows])).sum().backward()
        return y.numpy(), t.grad.numpy(), norm._mean.numpy(), norm._variance.numpy()

    first, second = run(2, body)
    for k in range(2):
        np.testing.assert_allclose(np.concatenate([first[k], second[k]]), want[k], rtol=1e-4, atol=1e-5)
    for got in (first, second):
        np.testing.assert_allclose(got[2], want[2], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(got[3], want[3], rtol=1e-5)
