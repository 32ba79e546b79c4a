"""Learning rates that change while a model trains."""

from __future__ import annotations

import warnings

from ...optimizer.lr import LRScheduler as Schedule
from .base import Callback, is_first_rank, monitored, pick_comparison

__all__ = []


class LRScheduler(Callback):
    """Steps the optimizer's schedule after every batch or every epoch.

    Args:
        by_step (bool): after every batch of training.
        by_epoch (bool): after every epoch.

    Raises:
        ValueError: both.
    """

    def __init__(self, by_step=True, by_epoch=False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise ValueError("by_step option is mutually exclusive with by_epoch")
        self.by_step, self.by_epoch = by_step, by_epoch

    def _step(self) -> None:
        rate = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(rate, Schedule):
            rate.step()

    def on_epoch_end(self, epoch, logs=None) -> None:
        if self.by_epoch:
            self._step()

    def on_train_batch_end(self, step, logs=None) -> None:
        if self.by_step:
            self._step()


class ReduceLROnPlateau(Callback):
    """Lowers the learning rate when a number of the evaluation stops becoming better.

    Args:
        monitor (str): "loss" or the name of a metric.
        factor (float): the rate is multiplied by it; below 1.
        patience (int): evaluations without improvement before the rate is lowered.
        verbose (int): 0 prints nothing.
        mode (str): "min", "max", or "auto": accuracies are to grow, all else to shrink.
        min_delta (float): how much better counts as better.
        cooldown (int): evaluations after a change that don't count.
        min_lr (float): the rate goes no lower.

    Raises:
        ValueError: a factor of 1 or more.
    """

    def __init__(
        self, monitor="loss", factor=0.1, patience=10, verbose=1, mode="auto", min_delta=1e-4, cooldown=0, min_lr=0
    ) -> None:
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        self.monitor, self.factor, self.patience, self.verbose = monitor, factor, patience, verbose
        self.min_delta, self.cooldown, self.min_lr = min_delta, cooldown, min_lr
        self.epoch = 0
        better, self._worst = pick_comparison("ReduceLROnPlateau", mode, monitor)
        margin = min_delta if self._worst < 0 else -min_delta
        self.monitor_op = lambda now, best: better(now - margin, best)
        self._reset()

    def _reset(self) -> None:
        self.best, self.wait, self.cooldown_counter = self._worst, 0, 0

    def in_cooldown(self) -> bool:
        """Whether evaluations don't count yet, since the rate was just lowered."""
        return self.cooldown_counter > 0

    def on_train_begin(self, logs=None) -> None:
        self._reset()

    def on_eval_end(self, logs=None) -> None:
        current = monitored("ReduceLROnPlateau", self.monitor, logs)
        if current is None:
            return
        rate = self.model._optimizer._learning_rate
        if not isinstance(rate, float):
            warnings.warn(f"Expected learning_rate be float, bug got {type(rate)}.")
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._lower()
        self.epoch += 1

    def _lower(self) -> None:
        optimizer = self.model._optimizer
        if optimizer.get_lr() <= self.min_lr:
            return
        rate = max(optimizer.get_lr() * self.factor, self.min_lr)
        optimizer.set_lr(rate)
        if self.verbose > 0 and is_first_rank():
            print(f"\nEpoch {self.epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}.")
        self.cooldown_counter, self.wait = self.cooldown, 0
