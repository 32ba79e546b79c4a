"""Callback, and several of them called in order."""

from __future__ import annotations

__all__ = []


class Callback:
    """Base class: every method does nothing until a subclass says otherwise.

    ``self.model`` is the ``paddle.Model``; ``self.params`` a dict with "batch_size", "epochs", "steps" (batches in an epoch;
    None where it is not known), "verbose" and "metrics" (names). ``logs`` are dicts: the loss and the metrics by name, "step",
    "batch_size".
    """

    def __init__(self) -> None:
        self.model = None
        self.params = {}

    def set_params(self, params) -> None:
        """Takes what the run is like; called before anything else.

        Args:
            params (dict): batch_size, epochs, steps, verbose, metrics.
        """
        self.params = params

    def set_model(self, model) -> None:
        """Takes the model that calls it.

        Args:
            model (paddle.Model): the model.
        """
        self.model = model

    def on_train_begin(self, logs=None) -> None:
        """Before training. ``logs`` (dict): nothing is in it."""

    def on_train_end(self, logs=None) -> None:
        """After training. ``logs`` (dict): of the last epoch."""

    def on_eval_begin(self, logs=None) -> None:
        """Before an evaluation. ``logs`` (dict): "steps" and "metrics", a list of names."""

    def on_eval_end(self, logs=None) -> None:
        """After an evaluation. ``logs`` (dict): loss and metrics over all of it."""

    def on_predict_begin(self, logs=None) -> None:
        """Before a prediction. ``logs`` (dict): "steps"."""

    def on_predict_end(self, logs=None) -> None:
        """After a prediction. ``logs`` (dict): of its last batch."""

    def on_epoch_begin(self, epoch, logs=None) -> None:
        """Before epoch number ``epoch`` (int, from 0) of training."""

    def on_epoch_end(self, epoch, logs=None) -> None:
        """After epoch number ``epoch`` (int, from 0) of training, before its evaluation. ``logs`` (dict): of its last batch."""

    def on_train_batch_begin(self, step, logs=None) -> None:
        """Before batch number ``step`` (int, from 0) of an epoch."""

    def on_train_batch_end(self, step, logs=None) -> None:
        """After batch number ``step`` (int, from 0) of an epoch. ``logs`` (dict): loss, metrics so far."""

    def on_eval_batch_begin(self, step, logs=None) -> None:
        """Before batch number ``step`` (int, from 0) of an evaluation."""

    def on_eval_batch_end(self, step, logs=None) -> None:
        """After batch number ``step`` (int, from 0) of an evaluation. ``logs`` (dict): loss, metrics so far."""

    def on_predict_batch_begin(self, step, logs=None) -> None:
        """Before batch number ``step`` (int, from 0) of a prediction."""

    def on_predict_batch_end(self, step, logs=None) -> None:
        """After batch number ``step`` (int, from 0) of a prediction. ``logs`` (dict): "step", "batch_size"."""


class CallbackList:
    """Calls each of ``callbacks`` in order. ``mode`` is "train", "eval" or "predict"."""

    def __init__(self, callbacks=None) -> None:
        self.callbacks = list(callbacks or [])
        self.params = {}
        self.model = None

    def append(self, callback) -> None:
        """One more, after all others."""
        self.callbacks.append(callback)

    def __iter__(self):
        return iter(self.callbacks)

    def set_params(self, params) -> None:
        """What the run is like, for all."""
        self.params = params
        self._call("set_params", params)

    def set_model(self, model) -> None:
        """The model, for all."""
        self.model = model
        self._call("set_model", model)

    def _call(self, name, *args) -> None:
        for callback in self.callbacks:
            getattr(callback, name)(*args)

    def on_begin(self, mode, logs=None) -> None:
        """Before a run of that mode."""
        self._call(f"on_{_checked(mode)}_begin", logs)

    def on_end(self, mode, logs=None) -> None:
        """After a run of that mode."""
        self._call(f"on_{_checked(mode)}_end", logs)

    def on_epoch_begin(self, epoch=None, logs=None) -> None:
        """Before an epoch of training."""
        self._call("on_epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch=None, logs=None) -> None:
        """After an epoch of training."""
        self._call("on_epoch_end", epoch, logs)

    def on_batch_begin(self, mode, step=None, logs=None) -> None:
        """Before a batch."""
        self._call(f"on_{_checked(mode)}_batch_begin", step, logs)

    def on_batch_end(self, mode, step=None, logs=None) -> None:
        """After a batch."""
        self._call(f"on_{_checked(mode)}_batch_end", step, logs)


def _checked(mode: str) -> str:
    if mode not in ("train", "eval", "predict"):
        raise AssertionError(f"mode should be train, eval or predict, but got {mode}")
    return mode


def is_first_rank() -> bool:
    """Whether this process is the one that prints and writes files."""
    from ...distributed import ParallelEnv

    return ParallelEnv().local_rank == 0


def pick_comparison(name, mode, monitor):
    """(is better, worst value) for a monitored number: where it is to grow, and where it is to shrink.

    ``mode`` "auto" lets accuracies grow and everything else shrink.
    """
    import warnings

    import numpy as np

    if mode not in ("auto", "min", "max"):
        warnings.warn(f"{name} mode {mode} is unknown, fallback to auto mode.")
        mode = "auto"
    if mode == "max" or (mode == "auto" and "acc" in monitor):
        return np.greater, -np.inf
    return np.less, np.inf


def monitored(name, monitor, logs):
    """The monitored number among ``logs``; None, with a warning, where it is not there."""
    import numbers
    import warnings

    if logs is None or monitor not in logs:
        warnings.warn(f"Monitor of {name} should be loss or metric name.")
        return None
    value = logs[monitor]
    if isinstance(value, (list, tuple)):
        value = value[0]
    return value if isinstance(value, numbers.Number) else None
