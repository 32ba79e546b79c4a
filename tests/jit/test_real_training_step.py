"""Whole training steps captured: forward, backward, the optimizer's step, schedules and clipping, as eager runs them."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from paddle import nn


def make(optimizer, seed=5):
    """A small network with fixed weights, and its optimizer."""
    random = np.random.RandomState(seed)
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    for p in net.parameters():
        p.set_value(random.randn(*p.shape).astype("float32"))
    return net, optimizer(net)


BATCHES = [np.random.RandomState(k).randn(4, 3).astype("float32") for k in range(6)]


def train(optimizer, compiled, between=lambda opt, k: None, inside=lambda opt: None):
    net, opt = make(optimizer)

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        inside(opt)
        return loss

    run = paddle.jit.to_static(step, full_graph=True) if compiled else step
    losses = []
    for k, x in enumerate(BATCHES):
        losses.append(float(run(paddle.to_tensor(x))))
        between(opt, k)
    if compiled:
        assert run.get_traced_count() == 1
    return losses, [p.numpy() for p in net.parameters()], opt.state_dict()


def check(optimizer, rtol=2e-5, **kwargs):
    eager, static = (train(optimizer, compiled, **kwargs) for compiled in (False, True))
    np.testing.assert_allclose(static[0], eager[0], rtol=rtol)
    for a, b in zip(static[1], eager[1]):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-6)


O = paddle.optimizer  # noqa: E741

OPTIMIZERS = {
    "sgd": lambda **k: O.SGD(**k),
    "momentum": lambda **k: O.Momentum(use_nesterov=True, **k),
    "adam": lambda **k: O.Adam(**k),
    "adamw": lambda **k: O.AdamW(weight_decay=0.1, **k),
    "adagrad": lambda **k: O.Adagrad(**k),
    "rmsprop": lambda **k: O.RMSProp(centered=True, **k),
    "adamax": lambda **k: O.Adamax(**k),
    "lamb": lambda **k: O.Lamb(**k),
    "nadam": lambda **k: O.NAdam(**k),
    "radam": lambda **k: O.RAdam(**k),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_learning_rate_is_an_input(name):
    """Changed from outside between steps: a constant in the program would go on with the first."""
    check(
        lambda net: OPTIMIZERS[name](learning_rate=0.1, parameters=net.parameters()),
        between=lambda opt, k: opt.set_lr(0.1 / (k + 2)),
    )


@pytest.mark.parametrize("name", ["sgd", "adamw", "rmsprop"])
def test_schedule_stepped_outside(name):
    def optimizer(net):
        rate = O.lr.CosineAnnealingDecay(0.1, T_max=4)
        return OPTIMIZERS[name](learning_rate=rate, parameters=net.parameters())

    check(optimizer, between=lambda opt, k: opt._learning_rate.step())


def test_schedule_stepped_inside():
    def optimizer(net):
        return O.Adam(learning_rate=O.lr.StepDecay(0.1, step_size=2, gamma=0.3), parameters=net.parameters())

    check(optimizer, inside=lambda opt: opt._learning_rate.step())
    *_, state = train(optimizer, True, inside=lambda opt: opt._learning_rate.step())
    assert state["LR_Scheduler"]["last_epoch"] == len(BATCHES)


def test_schedule_stepped_before_the_optimizer():
    net, opt = make(lambda n: O.SGD(O.lr.ExponentialDecay(0.5, gamma=0.5), parameters=n.parameters()))
    w = net[2].bias

    @lambda f: paddle.jit.to_static(f, full_graph=True)
    def step():
        opt._learning_rate.step()
        (w.sum()).backward()
        opt.step()
        opt.clear_grad()

    before = w.numpy().copy()
    for rate in (0.25, 0.125, 0.0625):
        step()
        np.testing.assert_allclose(w.numpy(), before - rate, rtol=1e-6)
        before = w.numpy().copy()


@pytest.mark.parametrize(
    "clip",
    [nn.ClipGradByGlobalNorm(0.3), nn.ClipGradByNorm(0.2), nn.ClipGradByValue(0.05)],
    ids=["global", "norm", "value"],
)
def test_gradient_clipping(clip):
    check(lambda net: O.Momentum(learning_rate=0.1, parameters=net.parameters(), grad_clip=clip))


def test_parameter_groups():
    def optimizer(net):
        groups = [
            {"params": net[0].parameters(), "learning_rate": 0.1, "weight_decay": 0.01},
            {"params": net[2].parameters(), "grad_clip": nn.ClipGradByNorm(0.1)},
        ]
        return O.AdamW(learning_rate=O.lr.ExponentialDecay(0.2, gamma=0.7), parameters=groups)

    check(optimizer, between=lambda opt, k: opt._learning_rate.step())


def test_gradients_are_accumulated_over_calls():
    net, opt = make(lambda n: O.SGD(0.1, parameters=n.parameters()))
    twin, twin_opt = make(lambda n: O.SGD(0.1, parameters=n.parameters()))
    forward = paddle.jit.to_static(lambda x: (net(x) ** 2).mean().backward(), full_graph=True)
    update = paddle.jit.to_static(lambda: (opt.step(), opt.clear_grad()) and None, full_graph=True)
    for x in BATCHES:
        forward(paddle.to_tensor(x))
        forward(paddle.to_tensor(-x))
        update()
        for v in (x, -x):
            (twin(paddle.to_tensor(v)) ** 2).mean().backward()
        twin_opt.step()
        twin_opt.clear_grad()
    for a, b in zip(net.parameters(), twin.parameters()):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("full_graph", [True, False])
def test_loss_scaling(full_graph):
    """Steps with an infinite gradient are skipped, and the factor follows, as in eager."""

    def run(compiled):
        net, opt = make(lambda n: O.Adam(0.05, parameters=n.parameters()))
        scaler = paddle.amp.GradScaler(
            init_loss_scaling=8.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=1, incr_ratio=2.0, decr_ratio=0.5
        )

        def step(x):
            loss = (net(x) ** 2).mean()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            opt.clear_grad()
            return loss

        f = paddle.jit.to_static(step, full_graph=full_graph) if compiled else step
        losses, scales = [], []
        for k, x in enumerate(BATCHES):
            if k == 3:
                x = x * np.float32(1e30)
            losses.append(float(f(paddle.to_tensor(x))))
            scales.append(scaler.state_dict()["scale"][0])
        if compiled:
            assert f.get_traced_count() == 1
        return losses, scales, [p.numpy() for p in net.parameters()], scaler.state_dict()

    eager, static = run(False), run(True)
    np.testing.assert_allclose(static[0], eager[0], rtol=2e-5)
    assert static[1] == eager[1] and len(set(eager[1])) > 2
    for a, b in zip(static[2], eager[2]):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    assert static[3] == eager[3]


def test_hooks_of_parameters_run_inside():
    net, opt = make(lambda n: O.SGD(0.1, parameters=n.parameters()))
    net[0].weight.register_hook(lambda g: g * 3)

    @lambda f: paddle.jit.to_static(f, full_graph=True)
    def step(x):
        (net(x) ** 2).mean().backward()

    x = paddle.to_tensor(BATCHES[0])
    step(x)
    got = net[0].weight.grad.numpy().copy()
    net.clear_gradients()
    (net(x) ** 2).mean().backward()
    np.testing.assert_allclose(got, net[0].weight.grad.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_loss_whose_graph_was_freed(compiled):
    net = nn.Linear(3, 2)

    def step(x):
        hidden = net(x)
        loss = (hidden**2).mean()
        loss.backward()
        net.clear_gradients()
        return loss, loss * 2, hidden, net.weight * 3, loss.detach()

    run = paddle.jit.to_static(step, full_graph=True) if compiled else step
    for _ in range(2):
        loss, doubled, hidden, fresh, alone = run(paddle.ones([4, 3]))
        assert [t.stop_gradient for t in (loss, doubled, hidden, fresh, alone)] == [False, False, False, False, True]
        for spent in (loss, doubled, hidden, loss + 1):
            with pytest.raises(RuntimeError, match="run backward already"):
                spent.backward()
            with pytest.raises(RuntimeError, match="run backward already"):
                paddle.grad(spent, net.weight)
        net.clear_gradients()
        fresh.sum().backward()
        np.testing.assert_array_equal(net.weight.grad.numpy(), np.full([3, 2], 3, "float32"))
        net.clear_gradients()
        with paddle.no_grad():
            assert run(paddle.ones([4, 3]))[0].stop_gradient


@pytest.mark.parametrize("compiled", [False, True])
def test_a_loss_whose_graph_was_kept(compiled):
    weight = paddle.create_parameter([3], "float32", default_initializer=nn.initializer.Constant(2.0))

    def step(x):
        loss = (x * weight * weight).sum()
        loss.backward(retain_graph=True)
        return loss

    run = paddle.jit.to_static(step, full_graph=True) if compiled else step
    loss = run(paddle.ones([3]))
    np.testing.assert_array_equal(weight.grad.numpy(), [4, 4, 4])
    loss.backward()
    np.testing.assert_array_equal(weight.grad.numpy(), [8, 8, 8])


def test_a_frozen_network_leaves_no_history():
    net = nn.Linear(3, 2)

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        net.clear_gradients()
        return loss

    run = paddle.jit.to_static(step, full_graph=True)
    assert not run(paddle.ones([4, 3])).stop_gradient
    for p in net.parameters():
        p.stop_gradient = True
    assert run(paddle.ones([4, 3])).stop_gradient
