"""Layers cut over ranks, each against one process."""

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.distributed import fleet  # noqa: E402
from paddle.distributed.fleet import meta_parallel as mp  # noqa: E402
from fleet_testing import numbers, start  # noqa: E402


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
