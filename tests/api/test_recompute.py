"""Recompute: values and gradients bit by bit as without it, in less memory; eager and in captured programs."""

import random

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle.distributed.fleet.recompute import custom_state_manager
from paddle.distributed.fleet.utils import recompute


class Block(paddle.nn.Layer):
    def __init__(self, width, dropout=0.3):
        super().__init__()
        self.up, self.down = paddle.nn.Linear(width, 4 * width), paddle.nn.Linear(4 * width, width)
        self.norm, self.dropout = paddle.nn.LayerNorm(width), dropout

    def forward(self, x, scale=1.0):
        h = F.dropout(F.gelu(self.up(self.norm(x))), self.dropout, training=self.training)
        return x + self.down(h) * scale


class Net(paddle.nn.Layer):
    def __init__(self, width=16, depth=3, how=None, dropout=0.3):
        super().__init__()
        self.blocks = paddle.nn.LayerList([Block(width, dropout) for _ in range(depth)])
        self.how = how

    def forward(self, x):
        for block in self.blocks:
            x = block(x) if self.how is None else self.how(block, x)
        return x


def gradients(how, call=lambda net: net, amp=False, needs=True, **sizes):
    paddle.seed(7)
    net = Net(how=how, **sizes)
    x = paddle.randn([8, net.blocks[0].norm.weight.shape[0]])
    x.stop_gradient = not needs
    paddle.seed(11)
    run = call(net)
    with paddle.amp.auto_cast(enable=amp, dtype="bfloat16"):
        loss = (run(x).astype("float32") ** 2).mean()
    loss.backward()
    grads = [p.grad.numpy() for p in net.parameters()]
    if needs:
        grads.append(x.grad.numpy())
    after = paddle.rand([3]).numpy()  # the generator stands where it would
    return [loss.numpy(), *grads, after]


def assert_same(got, expected):
    assert len(got) == len(expected)
    for g, e in zip(got, expected):
        np.testing.assert_array_equal(g, e)


def static(net):
    return paddle.jit.to_static(net, full_graph=True)


FORMS = {
    "reentrant": lambda block, x: recompute(block, x, use_reentrant=True),
    "hooks": lambda block, x: recompute(block, x, use_reentrant=False),
    "keyword": lambda block, x: recompute(block, x, scale=1.0),
    "nested": lambda block, x: recompute(lambda y: recompute(block, y) * 1.0, x),
    "nested3": lambda block, x: recompute(lambda y: recompute(lambda z: recompute(block, z) * 1.0, y * 1.0), x),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["eager", "static"])
def test_gradients_are_those_without_recompute(form, mode):
    call = static if mode == "static" else (lambda net: net)
    plain = {"nested": lambda b, x: b(x) * 1.0, "nested3": lambda b, x: b(x * 1.0) * 1.0}.get(form)
    assert_same(gradients(FORMS[form], call), gradients(plain, call))


@pytest.mark.parametrize("mode", ["eager", "static"])
def test_input_without_gradient(mode):
    call = static if mode == "static" else (lambda net: net)
    assert_same(gradients(FORMS["reentrant"], call, needs=False), gradients(None, call, needs=False))


@pytest.mark.parametrize("mode", ["eager", "static"])
def test_amp_state_is_restored(mode):
    call = static if mode == "static" else (lambda net: net)
    assert_same(gradients(FORMS["reentrant"], call, amp=True), gradients(None, call, amp=True))


def test_random_state_is_not_replayed_on_request():
    drop = lambda b, x: recompute(lambda y: F.dropout(y, 0.5) * y, x, preserve_rng_state=False)  # noqa: E731
    keep = lambda b, x: recompute(lambda y: F.dropout(y, 0.5) * y, x)  # noqa: E731
    grads = []
    for how in (drop, keep):
        paddle.seed(3)
        x = paddle.full([1000], 1.0)
        x.stop_gradient = False
        y = how(None, x)
        y.sum().backward()
        mask = y.numpy() != 0
        grads.append(((x.grad.numpy() != 0) == mask).all())
    assert grads == [False, True]


def test_python_and_numpy_numbers_are_replayed():
    def noisy(x):
        return x * x * random.random() * np.random.rand()

    x = paddle.to_tensor([3.0], stop_gradient=False)
    y = recompute(noisy, x)
    before = random.getstate(), np.random.get_state()[1].copy()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * y.numpy() / 3.0, rtol=1e-6)
    assert random.getstate() == before[0]
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])


def test_custom_state():
    box = {"factor": 2.0}
    custom_state_manager.set_custom_get_state_func(lambda: dict(box))
    custom_state_manager.set_custom_set_state_func(box.update)
    try:
        x = paddle.to_tensor([3.0], stop_gradient=False)
        y = recompute(lambda v: v * v * box["factor"], x)
        box["factor"] = 100.0
        y.backward()
        assert x.grad.item() == 12.0 and box["factor"] == 100.0
    finally:
        custom_state_manager.custom_get_state_func = custom_state_manager.custom_set_state_func = None


def test_arguments_of_any_kind():
    def f(pair, name, options, *, times=1):
        assert name == "name"
        out = pair[0] * pair[1].exp() + options["z"]
        return {"a": out * times, "n": 3}, out.tanh()

    def run(how):
        x, y, z = (paddle.to_tensor([0.3, -0.2]) for _ in range(3))
        for t in (x, y, z):
            t.stop_gradient = False
        first, second = how(f, (x, y), "name", {"z": z, "flag": None}, times=2)
        assert first["n"] == 3
        (first["a"] * second).sum().backward()
        return [t.grad.numpy() for t in (x, y, z)]

    assert_same(run(recompute), run(lambda fn, *a, **k: fn(*a, **k)))


def test_second_derivative_and_repeated_backward():
    def run(how):
        w = paddle.to_tensor([0.5, 1.5], stop_gradient=False)
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = how(lambda v: (v * w).exp().sin(), x).sum()
        first = paddle.grad(y, [x, w], create_graph=True)
        second = paddle.grad(sum(g.sum() for g in first), [x, w], retain_graph=True)
        y.backward(retain_graph=True)
        y.backward()
        return [t.numpy() for t in (*first, *second, x.grad, w.grad)]

    assert_same(run(recompute), run(lambda f, x: f(x)))


def test_overwritten_argument_is_named():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    h = x * 1.0
    y = recompute(lambda v: v.exp(), h)
    with paddle.no_grad():
        h.add_(paddle.ones([2]))
    with pytest.raises(RuntimeError, match="overwritten"):
        y.sum().backward()


def test_function_that_changes_is_refused():
    calls = []

    def f(v):
        calls.append(1)
        return v.exp() if len(calls) == 1 else v.exp().exp()

    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = recompute(f, x)
    with pytest.raises(RuntimeError, match="something else"):
        y.backward()


def test_sequential_parts():
    from paddle.distributed.fleet import recompute_sequential

    def run(how):
        paddle.seed(5)
        net = paddle.nn.Sequential(*[Block(8) for _ in range(5)])
        x = paddle.randn([4, 8])
        x.stop_gradient = False
        paddle.seed(6)
        how(net, x).sum().backward()
        return [x.grad.numpy(), *(p.grad.numpy() for p in net.parameters())]

    plain = run(lambda net, x: net(x))
    for segments in (1, 2, 5):
        assert_same(run(lambda net, x: recompute_sequential({"segments": segments}, net, x)), plain)  # noqa: B023


def test_backward_within_a_program():
    """The whole step captured: the marked part is computed again inside of the one program."""

    def run(how):
        paddle.seed(7)
        net = Net(how=how)

        @paddle.jit.to_static(full_graph=True)
        def step(x):
            loss = (net(x) ** 2).mean()
            loss.backward()
            return loss

        x = paddle.randn([8, 16])
        paddle.seed(11)
        loss = step(x)
        return [loss.numpy(), *(p.grad.numpy() for p in net.parameters())]

    assert_same(run(FORMS["reentrant"]), run(None))


def peak(how, call):
    paddle.seed(7)
    net = Net(width=64, depth=8, how=how, dropout=0.1)
    x = paddle.randn([512, 64])
    x.stop_gradient = False
    run = call(net)
    for _ in range(2):  # the first captures and compiles
        net.clear_gradients()
        base = paddle._core.memory_stats()["in_use"]
        paddle._core.reset_peak_memory()
        (run(x) ** 2).mean().backward()
        used = paddle._core.memory_stats()["peak_in_use"] - base
    return used


@pytest.mark.parametrize("mode", ["eager", "static"])
def test_peak_memory_falls(mode):
    call = static if mode == "static" else (lambda net: net)
    with_, without = peak(FORMS["reentrant"], call), peak(None, call)
    assert with_ < 0.5 * without, (with_, without)


def test_nested_regions_need_still_less():
    def whole(depth):
        def how(net, x):
            def part(y, blocks):
                for b in blocks:
                    y = recompute(b, y)
                return y

            for i in range(0, len(net), 4):
                x = recompute(part, x, list(net)[i : i + 4])
            return x

        return how

    def run(how):
        paddle.seed(7)
        net = paddle.nn.LayerList([Block(64, 0.1) for _ in range(16)])
        x = paddle.randn([512, 64])
        x.stop_gradient = False
        base = paddle._core.memory_stats()["in_use"]
        paddle._core.reset_peak_memory()
        (how(net, x) ** 2).mean().backward()
        return paddle._core.memory_stats()["peak_in_use"] - base

    def flat(net, x):
        for b in net:
            x = recompute(b, x)
        return x

    assert run(whole(4)) < run(flat)
