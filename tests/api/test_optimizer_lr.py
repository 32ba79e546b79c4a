"""Schedules against official paddle's first hundred rates."""

import numpy as np
import pytest
from fixture_files import FIXTURES, SCHEDULES, make_schedule

import paddle
from paddle.optimizer import lr

DATA = np.load(FIXTURES / "schedules.npz")


@pytest.mark.parametrize("name", SCHEDULES)
def test_hundred_rates_equal_official(name):
    scheduler = make_schedule(lr, SCHEDULES[name])
    rates = []
    for _ in range(100):
        rates.append(scheduler())
        scheduler.step()
    np.testing.assert_allclose(rates, DATA[name], rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", [n for n in SCHEDULES if n not in ("cosine", "restarts", "linear")])
def test_state_resumes(name):
    first, again = (make_schedule(lr, SCHEDULES[name]) for _ in range(2))
    for _ in range(25):
        first.step()
    again.set_state_dict(first.state_dict())
    first.step()
    again.step()
    assert again() == first() and again.last_epoch == 26


def test_reduce_on_plateau():
    scheduler = lr.ReduceOnPlateau(1.0, patience=1, factor=0.5, cooldown=1)
    seen = []
    for metric in (3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0):
        scheduler.step(paddle.to_tensor(metric))
        seen.append(scheduler())
    # 2.0 at step 2 is best; steps 3 and 4 are bad: halved at 4; step 5 cools down; 6 is bad once; 7 is better
    assert seen == [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5]
    assert set(scheduler.state_dict()) == {"cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"}


def test_optimizer_follows_its_scheduler_and_saves_it():
    layer = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.SGD(lr.StepDecay(1.0, step_size=1, gamma=0.1), parameters=layer.parameters())
    assert optimizer.get_lr() == 1.0
    optimizer._learning_rate.step()
    assert optimizer.get_lr() == pytest.approx(0.1)
    assert optimizer.state_dict()["LR_Scheduler"]["last_epoch"] == 1
    with pytest.raises(RuntimeError):
        optimizer.set_lr(0.5)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: lr.StepDecay("0.1", 2), TypeError),
        (lambda: lr.StepDecay(0.1, 0), ValueError),
        (lambda: lr.PiecewiseDecay([1, 2], [0.1, 0.2]), ValueError),
        (lambda: lr.MultiStepDecay(0.1, [5, 3]), ValueError),
        (lambda: lr.LambdaDecay(0.1, 3), TypeError),
        (lambda: lr.ExponentialDecay(-0.1, 0.5), ValueError),
    ],
)
def test_bad_arguments_raise(make, error):
    with pytest.raises(error):
        make()
