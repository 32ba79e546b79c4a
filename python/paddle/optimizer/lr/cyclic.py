"""Warm-up, cosine and cyclic schedules."""

from __future__ import annotations

import math

from .base import LRScheduler, require, require_positive_int, require_type


class LinearWarmup(LRScheduler):
    """From ``start_lr`` to ``end_lr`` over ``warmup_steps``, then ``learning_rate``: a number or another scheduler,
    whose own counter starts when the warm-up ends."""

    def __init__(
        self,
        learning_rate,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        if not isinstance(learning_rate, (float, int, LRScheduler)):
            raise TypeError(
                f"the type of learning_rate should be [int, float or LRScheduler], the current type is {learning_rate}"
            )
        require_positive_int("LinearWarmup", "warmup_steps", warmup_steps)
        require(end_lr > start_lr, f"end_lr {end_lr} must be greater than start_lr {start_lr}")
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps
        self.start_lr, self.end_lr = start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def state_dict(self) -> dict:
        """The counter, and as ``LinearWarmup_LR`` the state of the scheduler that follows."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict) -> None:
        state = dict(state_dict)
        inner = state.pop("LinearWarmup_LR", None)
        super().set_state_dict(state)
        if isinstance(self.learning_rate, LRScheduler) and inner is not None:
            self.learning_rate.set_state_dict(inner)

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * float(self.last_epoch) / float(self.warmup_steps) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate


class CosineAnnealingDecay(LRScheduler):
    """``eta_min + (learning_rate - eta_min) * (1 + cos(pi t / T_max)) / 2`` (SGDR without restarts).

    Stepped one by one it follows the recurrence, so that changes of ``last_lr`` from outside carry on.
    """

    def __init__(
        self, learning_rate: float, T_max: int, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require_positive_int("CosineAnnealingDecay", "T_max", T_max)
        require_type("CosineAnnealingDecay", "eta_min", eta_min, (float, int))
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        step, period = self.last_epoch, self.T_max
        if step == 0:
            return self.base_lr
        if (step - 1 - period) % (2 * period) == 0:
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / period)) / 2
        ratio = (1 + math.cos(math.pi * step / period)) / (1 + math.cos(math.pi * (step - 1) / period))
        return ratio * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing that restarts after ``T_0`` steps, each period ``T_mult`` times longer (SGDR)."""

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ):
        require(T_0 > 0 and isinstance(T_0, int), f"Expected positive integer T_0, but got {T_0}")
        require(T_mult >= 1 and isinstance(T_mult, int), f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur = last_epoch
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2

    def step(self, epoch: int | None = None) -> None:
        """Advances by one, or goes to ``epoch`` (>= 0, may be fractional)."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            require(epoch >= 0, f"Expected non-negative epoch, but got {epoch}")
            self._locate(epoch)
        self.last_epoch = math.floor(epoch)
        self.last_lr = self.get_lr()
        self._report()

    def _locate(self, epoch) -> None:
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**restarts


class OneCycleLR(LRScheduler):
    """One rise from ``max_learning_rate / divide_factor`` to the maximum within ``phase_pct`` of the steps, then a
    fall to ``end_learning_rate``; ``three_phase`` falls back to the start first (Smith and Topin,
    "Super-Convergence")."""

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy="cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_type("OneCycleLR", "max_learning_rate", max_learning_rate, (float, int))
        require(max_learning_rate >= 0, "'max_learning_rate' must be a positive integer.")
        require_type("OneCycleLR", "end_learning_rate", end_learning_rate, (float, int))
        require(end_learning_rate >= 0, "'end_learning_rate' must be a positive integer.")
        require_positive_int("OneCycleLR", "total_steps", total_steps)
        require_type("OneCycleLR", "phase_pct", phase_pct, float)
        require(0 <= phase_pct <= 1, f"'phase_pct' must be between 0 and 1, but received {phase_pct}.")
        require_type("OneCycleLR", "divide_factor", divide_factor, (float, int))
        require(
            anneal_strategy in ("cos", "linear"),
            f"'anneal_strategy' must by one of 'cos' or 'linear', but received {anneal_strategy}",
        )
        start, end = max_learning_rate / float(divide_factor), float(end_learning_rate)
        self.total_steps, self.anneal_strategy = total_steps, anneal_strategy
        peak = phase_pct * total_steps - 1
        if three_phase:
            require(phase_pct < 0.5, "When three_phase is True, 'phase_pct' must be less than 0.5")
            ends = [0, peak, 2 * phase_pct * total_steps - 2, total_steps - 1]
            self._lr_config = [start, max_learning_rate, start, end]
        else:
            ends = [0, peak, total_steps - 1]
            self._lr_config = [start, max_learning_rate, end]
        # A phase of no steps keeps length 1: its one point is its start.
        self._step_config = ends
        self._steps_size = [(b - a) if b - a != 0 else 1 for a, b in zip(ends, ends[1:])]
        super().__init__(start, last_epoch, verbose)

    def get_lr(self) -> float:
        step = self.last_epoch
        require(
            step <= self.total_steps,
            f"Tried to step {step} times. However the number of total steps is {self.total_steps}",
        )
        for i, (end, size) in enumerate(zip(self._step_config[1:], self._steps_size)):
            if step <= end or i == len(self._lr_config) - 2:
                fraction = (step - self._step_config[i]) / size
                return self._anneal(self._lr_config[i], self._lr_config[i + 1], fraction)
        return self._lr_config[-1]

    def _anneal(self, start, end, fraction) -> float:
        if self.anneal_strategy == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * fraction) + 1)
        return (end - start) * fraction + start


class CyclicLR(LRScheduler):
    """Up from ``base_learning_rate`` to ``max_learning_rate`` in ``step_size_up`` steps and down again, with the height
    scaled by ``mode``, or by ``scale_fn`` of the cycle or iteration (Smith, "Cyclical Learning Rates")."""

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode="triangular",
        exp_gamma: float = 1.0,
        scale_fn=None,
        scale_mode="cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_type("CyclicLR", "max_learning_rate", max_learning_rate, (float, int))
        require(
            max_learning_rate >= 0, f"'max_learning_rate' must be a positive integer, but received {max_learning_rate}"
        )
        require_positive_int("CyclicLR", "step_size_up", step_size_up)
        if step_size_down is not None:
            require_positive_int("CyclicLR", "step_size_down", step_size_down)
        require_type("CyclicLR", "exp_gamma", exp_gamma, float)
        down = step_size_up if step_size_down is None else step_size_down
        self.cycle_size = float(step_size_up + down)
        self.step_up_pct = float(step_size_up) / self.cycle_size
        self.max_lr = float(max_learning_rate)
        self.amplitude = self.max_lr - base_learning_rate
        require(mode in ("triangular", "triangular2", "exp_range") or scale_fn is not None, "'mode' is invalid and 'scale_fn' is not specified, make sure one of 'mode' or 'scale_fn' is valid")  # fmt: skip
        require(scale_mode in ("cycle", "iterations"), "'scale_mode' must be one of 'cycle' or 'iterations")
        self.mode, self.gamma, self.scale_mode, self.scale_fn = mode, exp_gamma, scale_mode, scale_fn
        if scale_fn is None:
            self.scale_fn = {
                "triangular": self._triangular,
                "triangular2": self._triangular2,
                "exp_range": self._exp_range,
            }[mode]
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        super().__init__(base_learning_rate, last_epoch, verbose)

    @staticmethod
    def _triangular(x) -> float:
        return 1.0

    @staticmethod
    def _triangular2(x) -> float:
        return 1 / (2.0 ** (x - 1))

    def _exp_range(self, x) -> float:
        return self.gamma**x

    def get_lr(self) -> float:
        step = self.last_epoch
        cycle = 1 + step // self.cycle_size
        position = 1.0 + step / self.cycle_size - cycle
        if position <= self.step_up_pct:
            height = position / self.step_up_pct
        else:
            height = (1 - position) / (1 - self.step_up_pct)
        return self.base_lr + self.amplitude * height * self.scale_fn(cycle if self.scale_mode == "cycle" else step)


class LinearLR(LRScheduler):
    """``learning_rate`` times a factor that goes linearly from ``start_factor`` to ``end_factor`` in
    ``total_steps``."""

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require(
            0 < start_factor <= 1.0,
            f"`start_factor` must be greater than 0 and less or equal to 1, but got {start_factor}",
        )
        require(0 <= end_factor <= 1.0, f"`end_factor` must be greater than 0 and less than 1, but got {end_factor}")
        require(total_steps > 0, f"`total_steps` must be greater than 0, but got {total_steps}")
        self.start_factor, self.end_factor, self.total_steps = start_factor, end_factor, total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        slope = self.end_factor - self.start_factor
        base = self.total_steps * self.start_factor
        return self.last_lr * (1.0 + slope / (base + (self.last_epoch - 1) * slope))
