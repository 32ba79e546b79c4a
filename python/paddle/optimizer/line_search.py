"""Line search for the strong Wolfe conditions (Nocedal and Wright, "Numerical Optimization", algorithms 3.5 and
3.6)."""

from __future__ import annotations

from typing import NamedTuple


class Point(NamedTuple):
    """A trial: step length, value, flat gradient, and slope along the direction."""

    step: float
    value: float
    grad: object
    slope: float


def cubic_minimum(a: Point, b: Point, bounds=None) -> float:
    """The minimiser, within ``bounds``, of the cubic through both points with their slopes (eq. 3.59)."""
    low, high = bounds if bounds is not None else sorted((a.step, b.step))
    d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step)
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if a.step <= b.step:
        best = b.step - (b.step - a.step) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        best = a.step - (a.step - b.step) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(best, low), high)


def strong_wolfe(evaluate, step, start: Point, scale, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_trials=25):
    """Finds a step with enough decrease (c1) and a flat enough slope (c2).

    Args:
        evaluate: step length -> Point.
        start: the point at step 0.
        scale: the largest absolute component of the direction; a bracket narrower than ``tolerance_change`` in it ends.

    Returns:
        (Point, number of evaluations)
    """

    def too_high(p):
        return p.value > start.value + c1 * p.step * start.slope

    def flat(p):
        return abs(p.slope) <= -c2 * start.slope

    previous, current, trials = start, evaluate(step), 1
    bracket = None
    while trials < max_trials:
        if too_high(current) or (trials > 1 and current.value >= previous.value):
            bracket = [previous, current]
            break
        if flat(current):
            return current, trials
        if current.slope >= 0:
            bracket = [previous, current]
            break
        bounds = (current.step + 0.01 * (current.step - previous.step), current.step * 10)
        step = cubic_minimum(previous, current, bounds)
        previous, current = current, evaluate(step)
        trials += 1
    if bracket is None:
        bracket = [start, current]
    return _zoom(evaluate, bracket, trials, too_high, flat, scale, tolerance_change, max_trials)


def _zoom(evaluate, bracket, trials, too_high, flat, scale, tolerance_change, max_trials):
    low, high = (bracket[0], bracket[1]) if bracket[0].value <= bracket[-1].value else (bracket[1], bracket[0])
    slow = False
    while trials < max_trials:
        left, right = sorted((low.step, high.step))
        if (right - left) * scale < tolerance_change:
            break
        step = cubic_minimum(low, high)
        # A trial too near an end, twice or at the very end, is moved a tenth of the bracket inwards.
        margin = 0.1 * (right - left)
        if min(right - step, step - left) < margin:
            if slow or step >= right or step <= left:
                step = right - margin if abs(step - right) < abs(step - left) else left + margin
                slow = False
            else:
                slow = True
        else:
            slow = False
        trial = evaluate(step)
        trials += 1
        if too_high(trial) or trial.value >= low.value:
            high = trial
        else:
            if flat(trial):
                return trial, trials
            if trial.slope * (high.step - low.step) >= 0:
                high = low
            low = trial
    return low, trials
