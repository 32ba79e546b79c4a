"""Training that ends when it no longer helps."""

from __future__ import annotations

import os

from .base import Callback, monitored, pick_comparison

__all__ = []


class EarlyStopping(Callback):
    """Stops training when a number of the evaluation has not become better for a while.

    Args:
        monitor (str): "loss" or the name of a metric.
        mode (str): "min", "max", or "auto": accuracies are to grow, all else to shrink.
        patience (int): evaluations without improvement before training stops.
        verbose (int): 0 prints nothing.
        min_delta (float): how much better counts as better.
        baseline (float, optional): what the first evaluations must beat.
        save_best_model (bool): whether the best parameters go to ``save_dir/best_model`` (``save_dir`` of ``Model.fit``).
    """

    def __init__(
        self, monitor="loss", mode="auto", patience=0, verbose=1, min_delta=0, baseline=None, save_best_model=True
    ) -> None:
        super().__init__()
        self.monitor, self.patience, self.verbose, self.baseline = monitor, patience, verbose, baseline
        self.save_best_model, self.save_dir = save_best_model, None
        self.wait_epoch = self.stopped_epoch = 0
        self.best_weights = None
        self.monitor_op, self._worst = pick_comparison("EarlyStopping", mode, monitor)
        self.min_delta = abs(min_delta) * (1 if self._worst < 0 else -1)

    def on_train_begin(self, logs=None) -> None:
        self.wait_epoch = 0
        self.best_value = self._worst if self.baseline is None else self.baseline

    def on_eval_end(self, logs=None) -> None:
        current = monitored("EarlyStopping", self.monitor, logs)
        if current is None:
            return
        if self.monitor_op(current - self.min_delta, self.best_value):
            self.best_value, self.wait_epoch = current, 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
        else:
            self.wait_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            self._report()
        self.stopped_epoch += 1

    def _report(self) -> None:
        if self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: Early stopping.")
            if self.save_best_model and self.save_dir is not None:
                print(f"Best checkpoint has been saved at {os.path.abspath(os.path.join(self.save_dir, 'best_model'))}")
