"""A schedule that watches a metric."""

from __future__ import annotations

import numpy as np

from .base import LRScheduler, require, require_type


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by ``factor`` when the metric of ``step(metrics)`` hasn't improved for ``patience`` steps.

    Args:
        mode: whether smaller ("min") or larger ("max") is better.
        threshold, threshold_mode: what counts as better: by this fraction ("rel") or amount ("abs").
        cooldown: steps after a reduction during which bad steps aren't counted.
        min_lr: the rate never goes below; ``epsilon``: smaller changes are ignored.
    """

    def __init__(
        self,
        learning_rate: float,
        mode="min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 0.0001,
        threshold_mode="rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-08,
        verbose: bool = False,
    ) -> None:
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        require(mode in ("min", "max"), "mode: " + mode + " is unknown!")
        require(factor < 1.0, "new_lr = origin_lr * gamma and gamma should be < 1.0.")
        require(threshold_mode in ("rel", "abs"), "threshold mode: " + threshold_mode + " is unknown!")
        require_type("ReduceOnPlateau", "learning_rate", learning_rate, (float, int))
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.epsilon = cooldown, min_lr, epsilon
        self.cooldown_counter = 0
        self.best = None
        self.num_bad_epochs = 0
        # The first value comes from the metric, so the base constructor's step must not run.
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = 0
        self.verbose = verbose
        self._var_name = None

    def state_keys(self) -> None:
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics, epoch: int | None = None) -> None:
        """Takes the metric: a number, or a tensor or array with one element."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if hasattr(metrics, "shape"):
            require(
                int(np.prod(metrics.shape)) == 1,
                f"the size of metrics must be 1, but the current metrics.shape is {list(metrics.shape)}",
                AssertionError,
            )
            metrics = float(metrics)
        elif not isinstance(metrics, (int, float, np.floating)):
            raise TypeError(
                f"metrics must be 'int', 'float', 'np.float', 'numpy.ndarray' or 'paddle.Tensor', but receive "
                f"{type(metrics)}"
            )
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(metrics, self.best):
            self.best = metrics
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            rate = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - rate > self.epsilon:
                self.last_lr = rate
                self._report()

    def _is_better(self, current, best) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return current < best - margin if self.mode == "min" else current > best + margin
