"""Schedules that fall by a formula of the step t."""

from __future__ import annotations

import math

from .base import LRScheduler, require, require_positive_int, require_type


class NoamDecay(LRScheduler):
    """``learning_rate * d_model^-0.5 * min(t^-0.5, t * warmup_steps^-1.5)`` ("Attention Is All You Need")."""

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require(d_model > 0, "d_model should be greater than 0")
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        falling = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        return self.base_lr * self.d_model**-0.5 * min(falling, rising)


class PiecewiseDecay(LRScheduler):
    """``values[i]`` while ``t < boundaries[i]``, then the last value."""

    def __init__(self, boundaries, values, last_epoch: int = -1, verbose: bool = False) -> None:
        require(len(boundaries) > 0, "The boundaries cannot be empty.")
        require(
            len(values) == len(boundaries) + 1,
            f"The values have one element more than boundaries, but "
            f"received len(values) [{len(values)}] != len(boundaries) + 1 [{len(boundaries) + 1}].",
        )
        self.boundaries, self.values = boundaries, values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        for boundary, value in zip(self.boundaries, self.values):
            if self.last_epoch < boundary:
                return value
        return self.values[len(self.values) - 1]


class NaturalExpDecay(LRScheduler):
    """``learning_rate * exp(-gamma * t)``."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        require(gamma > 0.0, " 'gamma' must be a positive number so that the learning rate will decay.")
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """``learning_rate / (1 + gamma * t)``."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """From ``learning_rate`` to ``end_lr`` as ``(1 - t / decay_steps)^power``; ``cycle`` stretches the period instead
    of staying at ``end_lr``."""

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        require_positive_int("PolynomialDecay", "decay_steps", decay_steps)
        require(power > 0.0, " 'power' must be greater than 0.0 so that the learning rate will decay.")
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        step, period = self.last_epoch, self.decay_steps
        if self.cycle:
            period *= 1 if step == 0 else math.ceil(float(step) / float(period))
        else:
            step = min(step, period)
        return (self.base_lr - self.end_lr) * ((1 - float(step) / float(period)) ** self.power) + self.end_lr


class ExponentialDecay(LRScheduler):
    """``learning_rate * gamma^t``, gamma in (0, 1)."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        require(0.0 < gamma < 1.0, " 'gamma' must be in interval (0.0, 1.0) so that the learning rate will decay.")
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma**self.last_epoch)


class MultiStepDecay(LRScheduler):
    """``learning_rate * gamma^k``, k the number of ``milestones`` reached."""

    def __init__(
        self, learning_rate: float, milestones, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ):
        require_type("MultiStepDecay", "milestones", milestones, (tuple, list))
        require(
            all(a < b for a, b in zip(milestones, milestones[1:])), "The elements of milestones must be incremented"
        )
        require(gamma < 1.0, "gamma should be < 1.0.")
        self.milestones, self.gamma = milestones, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        for i, milestone in enumerate(self.milestones):
            if self.last_epoch < milestone:
                return self.base_lr * (self.gamma**i)
        return self.base_lr * (self.gamma ** len(self.milestones))


class StepDecay(LRScheduler):
    """``learning_rate * gamma^(t // step_size)``."""

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require_positive_int("StepDecay", "step_size", step_size)
        require(gamma < 1.0, "gamma should be < 1.0.")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma ** (self.last_epoch // self.step_size))


class LambdaDecay(LRScheduler):
    """``learning_rate * lr_lambda(t)``."""

    _may_lack_state = True

    def __init__(self, learning_rate: float, lr_lambda, last_epoch: int = -1, verbose: bool = False):
        if not callable(lr_lambda):
            raise TypeError(
                f"The type of 'lr_lambda' in 'LambdaDecay' must be function, but received {type(lr_lambda)}."
            )
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self):
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """``learning_rate * lr_lambda(1) * ... * lr_lambda(t)``."""

    def __init__(self, learning_rate: float, lr_lambda, last_epoch: int = -1, verbose: bool = False) -> None:
        if not callable(lr_lambda):
            raise TypeError(
                f"The type of 'lr_lambda' in 'MultiplicativeDecay' must be function, but received {type(lr_lambda)}."
            )
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate = self.base_lr
        for step in range(1, self.last_epoch + 1):
            rate = rate * self.lr_lambda(step)
        return rate
