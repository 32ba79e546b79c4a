"""Training in static mode gives what official paddle gives, from the same start."""

from pathlib import Path

import numpy as np
import paddle
import pytest
from cases import OPTIMIZERS
from programs import PROGRAMS, train

HERE = Path(__file__).parent
RECORDED = np.load(HERE.parent / "fixtures" / "optimizers.npz")
# RAdam subtracts nearly equal numbers in f32: what is left of its digits depends on the order.
LOOSE = {"radam": dict(rtol=1e-4, atol=5e-5)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_training_equals_official(build, name):
    recorded = np.load(HERE / "fixtures" / f"{name}.npz")
    start = {k[6:]: recorded[k] for k in recorded.files if k.startswith("start/")}
    _, losses, predicted, end = train(paddle, name, start)
    np.testing.assert_allclose(losses, recorded["losses"], rtol=2e-5)
    np.testing.assert_allclose(predicted, recorded["predicted"], rtol=2e-4, atol=1e-5)
    assert set(end) == set(start)
    for key, value in end.items():
        np.testing.assert_allclose(value, recorded["end/" + key], rtol=2e-4, atol=1e-5, err_msg=key)


def minimize_fed_gradients(optimizer):
    """A program whose parameters' gradients are what is fed."""
    grads = [paddle.static.data(f"g{i}", s, "float32") for i, s in enumerate(([3, 4], [4]))]
    params = [
        paddle.create_parameter([3, 4], "float32", attr=paddle.ParamAttr(name="linear_0.w_0")),
        paddle.create_parameter([4], "float32", attr=paddle.ParamAttr(name="linear_0.b_0")),
    ]
    loss = paddle.sum(params[0] * grads[0]) + paddle.sum(params[1] * grads[1])
    optimizer.minimize(loss)
    return params


# Rprop and ASGD read values of tensors in Python at each step.
@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if n not in ("rprop", "asgd")])
def test_optimizers_equal_official(build, name):
    kind, options = OPTIMIZERS[name]
    params = minimize_fed_gradients(getattr(paddle.optimizer, kind)(**options(paddle)))
    build.start()
    scope = paddle.static.global_scope()
    for i, p in enumerate(params):
        scope.find_var(p.name).get_tensor().set(RECORDED[f"start_{i}"], paddle.CPUPlace())
    for step in range(10):
        build.run({f"g{i}": RECORDED[f"grad_{step}_{i}"] for i in range(2)})
    for i, p in enumerate(params):
        got = np.array(scope.find_var(p.name).get_tensor())
        np.testing.assert_allclose(got, RECORDED[f"{name}/end_{i}"], **LOOSE.get(name, dict(rtol=2e-5, atol=2e-6)))
    state = {k.split("/state/")[1] for k in RECORDED.files if k.startswith(f"{name}/state/")}
    assert state <= set(scope.local_var_names())


def test_learning_rate_follows_the_schedule(build):
    w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
    schedule = paddle.optimizer.lr.PiecewiseDecay([2, 4], [1.0, 0.1, 0.01])
    optimizer = paddle.optimizer.SGD(schedule)
    optimizer.minimize(paddle.sum(w))  # its gradient is 1
    build.start()
    seen = []
    for _ in range(6):
        seen.append(float(build.run(fetch=[w])[0][0]))
        schedule.step()
    np.testing.assert_allclose(seen, -np.cumsum([1.0, 1.0, 0.1, 0.1, 0.01, 0.01]), rtol=1e-6)


def test_weight_decay_of_one_parameter_wins(build):
    attr = paddle.ParamAttr(
        initializer=paddle.nn.initializer.Constant(2.0), regularizer=paddle.regularizer.L2Decay(0.5)
    )
    w = paddle.create_parameter([2], "float32", attr=attr)
    frozen = paddle.create_parameter([2], "float32", attr=paddle.ParamAttr(trainable=False))
    paddle.optimizer.SGD(0.1, weight_decay=10.0).minimize(paddle.sum(w * 3.0 + frozen))
    build.start()
    before = np.array(paddle.static.global_scope().find_var(frozen.name).get_tensor())
    build.run()
    after = np.array(paddle.static.global_scope().find_var(w.name).get_tensor())
    np.testing.assert_allclose(after, [2.0 - 0.1 * (3.0 + 0.5 * 2.0)] * 2, rtol=1e-6)
    np.testing.assert_array_equal(before, np.array(paddle.static.global_scope().find_var(frozen.name).get_tensor()))


def test_exponential_moving_average(build):
    w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(w))
    average = paddle.static.ExponentialMovingAverage(0.5)
    average.update()
    build.start()
    values, ema = [], 0.0
    for _ in range(3):
        values.append(float(build.run(fetch=[w])[0][0]))
        ema = 0.5 * ema + 0.5 * values[-1]
    scope = paddle.static.global_scope()
    with average.apply(build.exe):
        applied = float(np.array(scope.find_var(w.name).get_tensor())[0])
    assert applied == pytest.approx(ema / (1 - 0.5**3), rel=1e-6)
    assert float(np.array(scope.find_var(w.name).get_tensor())[0]) == values[-1]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_mixed_precision(build, dtype):
    x, y = paddle.static.data("x", [None, 4], "float32"), paddle.static.data("y", [None, 1], "float32")
    hidden = paddle.static.nn.batch_norm(paddle.static.nn.fc(x, 8, activation="relu"))
    loss = paddle.mean(paddle.nn.functional.square_error_cost(paddle.static.nn.fc(hidden, 1), y))
    in_float32 = loss * 1.0  # the loss itself is recomputed
    optimizer = paddle.static.amp.decorate(
        paddle.optimizer.Momentum(0.05), dtype=dtype, init_loss_scaling=1024.0, incr_every_n_steps=2
    )
    optimizer.minimize(loss)
    build.start()
    optimizer.amp_init(build.exe.place)
    rng = np.random.RandomState(0)
    feed = {"x": rng.rand(16, 4).astype("f4"), "y": rng.rand(16, 1).astype("f4")}
    (exact,) = build.run(feed, [in_float32], use_prune=True)
    scaling = optimizer.get_loss_scaling()
    assert (scaling is None) == (dtype == "bfloat16")
    fetched = [build.run(feed, [loss] if scaling is None else [loss, scaling]) for _ in range(6)]
    losses = [float(f[0]) for f in fetched]
    assert losses[0] == pytest.approx(float(exact), rel=2e-2) and losses[0] != float(exact)
    assert min(losses[1:]) < losses[0] / 2
    if scaling is None:
        return
    assert [float(f[1][0]) for f in fetched] == [1024.0, 2048.0, 2048.0, 4096.0, 4096.0, 8192.0]
    scope = paddle.static.global_scope()
    before = {n: np.array(scope.find_var(n).get_tensor()) for n in ("fc_0.w_0", "fc_0.w_0_velocity_0")}
    (smaller,) = build.run({"x": feed["x"] * 1e30, "y": feed["y"] * 1e30}, [scaling])
    assert float(smaller[0]) == 4096.0
    for name, value in before.items():  # the step that overflowed changed nothing
        np.testing.assert_array_equal(value, np.array(scope.find_var(name).get_tensor()))
