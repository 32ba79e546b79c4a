"""Schedules as functions of programs of Paddle 1 and 2: each makes the scheduler that gives the same rates."""

from __future__ import annotations

import math

from .cyclic import LinearWarmup
from .decay import LambdaDecay, NoamDecay, PiecewiseDecay, PolynomialDecay


def _fraction(step: int, decay_steps: float, staircase: bool) -> float:
    share = step / decay_steps
    return math.floor(share) if staircase else share


def noam_decay(d_model, warmup_steps, learning_rate=1.0) -> NoamDecay:
    """Rises over ``warmup_steps``, then falls as one over the root of the step (Vaswani et al., 2017)."""
    return NoamDecay(d_model, warmup_steps, learning_rate)


def exponential_decay(learning_rate, decay_steps, decay_rate, staircase=False) -> LambdaDecay:
    """``learning_rate * decay_rate ** (step / decay_steps)``; with ``staircase`` the exponent is cut to an integer."""
    return LambdaDecay(learning_rate, lambda step: decay_rate ** _fraction(step, decay_steps, staircase))


def natural_exp_decay(learning_rate, decay_steps, decay_rate, staircase=False) -> LambdaDecay:
    """``learning_rate * exp(-decay_rate * step / decay_steps)``; with ``staircase`` the quotient is cut."""
    return LambdaDecay(learning_rate, lambda step: math.exp(-decay_rate * _fraction(step, decay_steps, staircase)))


def inverse_time_decay(learning_rate, decay_steps, decay_rate, staircase=False) -> LambdaDecay:
    """``learning_rate / (1 + decay_rate * step / decay_steps)``; with ``staircase`` the quotient is cut."""
    return LambdaDecay(learning_rate, lambda step: 1 / (1 + decay_rate * _fraction(step, decay_steps, staircase)))


def polynomial_decay(learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False) -> PolynomialDecay:
    """From ``learning_rate`` to ``end_learning_rate`` in ``decay_steps`` along a power of what is left."""
    return PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle)


def piecewise_decay(boundaries, values) -> PiecewiseDecay:
    """``values[i]`` up to the i-th of ``boundaries``, the last value after it."""
    return PiecewiseDecay(boundaries, values)


def cosine_decay(learning_rate, step_each_epoch, epochs) -> LambdaDecay:
    """``learning_rate / 2 * (cos(epoch * pi / epochs) + 1)``, where an epoch has ``step_each_epoch`` steps."""
    return LambdaDecay(learning_rate, lambda step: 0.5 * (math.cos(step // step_each_epoch * math.pi / epochs) + 1))


def linear_lr_warmup(learning_rate, warmup_steps, start_lr, end_lr) -> LinearWarmup:
    """From ``start_lr`` to ``end_lr`` in ``warmup_steps``, then ``learning_rate`` (a number or a scheduler)."""
    return LinearWarmup(learning_rate, warmup_steps, start_lr, end_lr)
