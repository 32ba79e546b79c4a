"""Optimizers against official paddle's parameters and states after ten steps with given gradients."""

import numpy as np
import pytest
from fixture_files import FIXTURES, OPTIMIZERS

import paddle

# RAdam subtracts nearly equal numbers (rho_inf - 2 rho) in f32: what is left of its digits depends on the order.
LOOSE = {"radam": dict(rtol=1e-4, atol=5e-5)}
DATA = np.load(FIXTURES / "optimizers.npz")


def _layer():
    layer = paddle.nn.Linear(3, 4)
    for i, p in enumerate(layer.parameters()):
        p.set_value(paddle.to_tensor(DATA[f"start_{i}"]))
    return layer


def _run(optimizer, params, steps=range(10)):
    for step in steps:
        for i, p in enumerate(params):
            p.grad = paddle.to_tensor(DATA[f"grad_{step}_{i}"])
        optimizer.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_ten_steps_equal_official(name):
    kind, options = OPTIMIZERS[name]
    with paddle.utils.unique_name.guard():
        layer = _layer()
        optimizer = getattr(paddle.optimizer, kind)(parameters=layer.parameters(), **options(paddle))
        _run(optimizer, layer.parameters())
    for i, p in enumerate(layer.parameters()):
        tolerance = LOOSE.get(name, dict(rtol=2e-5, atol=2e-6))
        np.testing.assert_allclose(p.numpy(), DATA[f"{name}/end_{i}"], **tolerance)
    expected = [k.split("/state/")[1] for k in DATA.files if k.startswith(f"{name}/state/")]
    state = optimizer.state_dict()
    assert list(state) == expected
    for key in expected:
        np.testing.assert_allclose(state[key].numpy(), DATA[f"{name}/state/{key}"], rtol=5e-5, atol=2e-6, err_msg=key)


@pytest.mark.parametrize("name", ["momentum", "adamw", "rmsprop_centered", "nadam"])
def test_state_resumes_in_a_new_optimizer(name):
    kind, options = OPTIMIZERS[name]
    with paddle.utils.unique_name.guard():
        layer = _layer()
        first = getattr(paddle.optimizer, kind)(parameters=layer.parameters(), **options(paddle))
        _run(first, layer.parameters(), range(4))
        state = {k: v.clone() for k, v in first.state_dict().items()}
    with paddle.utils.unique_name.guard():
        again = getattr(paddle.optimizer, kind)(parameters=layer.parameters(), **options(paddle))
        again.set_state_dict(state)
        _run(again, layer.parameters(), range(4, 10))
    for i, p in enumerate(layer.parameters()):
        np.testing.assert_allclose(p.numpy(), DATA[f"{name}/end_{i}"], rtol=2e-5, atol=2e-6)


def test_parameters_without_gradient_or_frozen_stay():
    layer = _layer()
    weight, bias = layer.parameters()
    optimizer = paddle.optimizer.SGD(learning_rate=1.0, parameters=[weight, bias])
    weight.grad = paddle.ones(weight.shape)
    optimizer.step()
    np.testing.assert_array_equal(bias.numpy(), DATA["start_1"])
    np.testing.assert_allclose(weight.numpy(), DATA["start_0"] - 1, rtol=1e-6)
    bias.grad = paddle.ones(bias.shape)
    weight.stop_gradient = True
    optimizer.step()
    np.testing.assert_allclose(weight.numpy(), DATA["start_0"] - 1, rtol=1e-6)
    np.testing.assert_allclose(bias.numpy(), DATA["start_1"] - 1, rtol=1e-6)


def test_groups_scale_the_rate_and_replace_options():
    a, b = _layer(), _layer()
    groups = [
        {"params": a.parameters(), "learning_rate": 0.1},
        {"params": b.parameters(), "weight_decay": 0.5},
    ]
    optimizer = paddle.optimizer.SGD(learning_rate=1.0, parameters=groups)
    for p in a.parameters() + b.parameters():
        p.grad = paddle.ones(p.shape)
    optimizer.step()
    w = DATA["start_0"]
    np.testing.assert_allclose(a.weight.numpy(), w - 0.1, rtol=1e-5)
    np.testing.assert_allclose(b.weight.numpy(), w - (1 + 0.5 * w), rtol=1e-5, atol=1e-6)


def test_a_changed_rate_factor_is_noticed():
    layer = _layer()
    weight = layer.weight
    optimizer = paddle.optimizer.SGD(learning_rate=1.0, parameters=[weight])
    for factor in (1.0, 0.25):
        weight.optimize_attr["learning_rate"] = factor
        before = weight.numpy().copy()
        weight.grad = paddle.ones(weight.shape)
        optimizer.step()
        np.testing.assert_allclose(weight.numpy(), before - factor, rtol=1e-5, atol=1e-6)


def test_clear_grad_and_minimize():
    layer = _layer()
    optimizer = paddle.optimizer.SGD(learning_rate=0.5, parameters=layer.parameters())
    loss = layer(paddle.ones([2, 3])).sum()
    loss.backward()
    ops, pairs = optimizer.minimize(loss)
    assert ops == [] and [p.name for p, _ in pairs] == [p.name for p in layer.parameters()]
    np.testing.assert_allclose(layer.bias.numpy(), DATA["start_1"] - 1.0, rtol=1e-6)
    optimizer.clear_grad()
    assert float(layer.bias.grad.abs().sum()) == 0.0
    optimizer.clear_grad(set_to_zero=False)
    assert layer.bias.grad is None


def test_cleared_gradients_leave_alone_who_holds_them():
    layer = _layer()
    for steps in (1, 2):  # the second gradient takes the memory of the zeros
        (layer(paddle.ones([2, 3])) * steps).sum().backward()
        held, view = layer.bias.grad, layer.weight.grad.reshape([-1])
        layer.clear_gradients()
        np.testing.assert_array_equal(held.numpy(), np.full(4, 2.0 * steps, "float32"))
        np.testing.assert_array_equal(view.numpy(), np.full(12, 2.0 * steps, "float32"))
        del held, view
        for p in layer.parameters():
            assert p.grad.stop_gradient and not p.grad.numpy().any()
        layer.clear_gradients()  # nobody holds them now: zeroed where they lie
        for p in layer.parameters():
            assert p.grad.stop_gradient and not p.grad.numpy().any()
    layer.bias.grad.add_(paddle.ones([4]))
    layer.clear_gradients()
    assert not layer.bias.grad.numpy().any()


def test_lists_that_are_written_come_back():
    params, grads = [paddle.ones([2])], [paddle.full([2], 0.5)]
    out, masters = paddle._C_ops.fused_sgd_(params, grads, 1.0)
    assert out is params and not masters
    np.testing.assert_array_equal(params[0].numpy(), [0.5, 0.5])


def test_master_weights_keep_what_bfloat16_would_lose():
    paddle.seed(0)
    layer = paddle.nn.Linear(3, 4)
    layer.weight.set_value(paddle.ones([3, 4]))
    layer.bfloat16()
    optimizer = paddle.optimizer.SGD(learning_rate=1e-3, parameters=[layer.weight], multi_precision=True)
    for _ in range(8):  # each step alone is below bfloat16's resolution at 1 (2^-8)
        layer.weight.grad = paddle.ones([3, 4]).astype("bfloat16")
        optimizer.step()
    master = optimizer.state_dict()["master_weights"][layer.weight.name]
    np.testing.assert_allclose(master.numpy(), 0.992, rtol=1e-5)
    np.testing.assert_allclose(layer.weight.astype("float32").numpy(), 0.9921875, rtol=1e-6)


def test_lbfgs_finds_the_minimum_of_rosenbrock():
    x = paddle.create_parameter([2], "float32")
    x.set_value(paddle.to_tensor([-1.2, 1.0]))
    optimizer = paddle.optimizer.LBFGS(parameters=[x], line_search_fn="strong_wolfe", max_iter=60)

    def closure():
        optimizer.clear_grad()
        loss = (1 - x[0]) * (1 - x[0]) + 100 * (x[1] - x[0] * x[0]) * (x[1] - x[0] * x[0])
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    np.testing.assert_allclose(x.numpy(), [1.0, 1.0], atol=2e-3)
    assert set(optimizer.state_dict()["state"]) >= {"func_evals", "n_iter", "d", "old_yk", "old_sk", "H_diag"}


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda p: paddle.optimizer.SGD(learning_rate=1, parameters=p), TypeError),
        (lambda p: paddle.optimizer.SGD(learning_rate=0.1), AttributeError),
        (lambda p: paddle.optimizer.SGD(learning_rate=0.1, parameters=p[0]), TypeError),
        (lambda p: paddle.optimizer.Adam(beta1=1.0, parameters=p), ValueError),
        (lambda p: paddle.optimizer.AdamW(weight_decay=1, parameters=p), TypeError),
        (lambda p: paddle.optimizer.SGD(learning_rate=0.1, parameters=[{"params": p}, {"params": p}]), ValueError),
    ],
)
def test_bad_arguments_raise(make, error):
    with pytest.raises(error):
        make(_layer().parameters())


@pytest.mark.parametrize("kind", ["Adam", "Momentum"])
def test_states_without_gradients_shrink_to_zero(kind):
    # Not to the smallest denormal, where rounding would keep them, and every further step would be slow.
    layer = paddle.nn.Linear(3, 4)
    optimizer = getattr(paddle.optimizer, kind)(parameters=layer.parameters())
    for step in range(1100):
        for p in layer.parameters():
            p.grad = paddle.full_like(p, 1e-3 if step == 0 else 0.0)
        optimizer.step()
    states = {k: v.numpy() for k, v in optimizer.state_dict().items() if "moment1" in k or "velocity" in k}
    assert len(states) == 2
    for name, state in states.items():
        np.testing.assert_array_equal(state, np.zeros_like(state), err_msg=name)
