"""The progress of a run, printed."""

from __future__ import annotations

import time

from ..progressbar import ProgressBar
from .base import Callback, is_first_rank

__all__ = []


class ProgBarLogger(Callback):
    """Prints loss and metrics while a model runs; the loss is that of the last batch, metrics are of all batches so far.

    Args:
        log_freq (int): batches between prints.
        verbose (int): 0 is silent, 1 a bar that is written over, 2 a line for each print, 3 also the seconds that reading and
            computing a batch take.
    """

    def __init__(self, log_freq=1, verbose=2) -> None:
        super().__init__()
        self.log_freq, self.verbose = log_freq, verbose
        self.epochs = self.steps = None
        self._clock = dict.fromkeys(("read", "run", "samples", "at"), 0.0)

    def _is_print(self) -> bool:
        return bool(self.verbose) and is_first_rank()

    # -- one of the modes: its bar, its counts
    def _open(self, mode, steps, metrics) -> None:
        setattr(self, mode, {"bar": ProgressBar(num=steps, verbose=self.verbose), "steps": steps, "metrics": metrics,
                             "step": 0, "samples": 0})  # fmt: skip
        self._clock = {"read": 0.0, "run": 0.0, "samples": 0.0, "at": time.time()}

    def _tick(self, what) -> None:
        now = time.time()
        self._clock[what] += now - self._clock["at"]
        self._clock["at"] = now

    def _show(self, mode, logs) -> None:
        state, clock = getattr(self, mode), self._clock
        values = [(k, logs[k]) for k in state["metrics"] if k in (logs or {})]
        if self.verbose == 3 and state["step"]:
            batches = max(clock["samples"], 1)
            whole = clock["read"] + clock["run"]
            values += [
                ("avg_reader_cost", f"{clock['read'] / state['step']:.5f} sec"),
                ("avg_batch_cost", f"{whole / state['step']:.5f} sec"),
                ("avg_ips", f"{batches / whole if whole else 0.0:.5f} samples/sec"),
            ]
        state["bar"].update(state["step"], values)

    def _batch_ended(self, mode, logs) -> None:
        state = getattr(self, mode)
        samples = (logs or {}).get("batch_size", 1)
        self._tick("run")
        self._clock["samples"] += samples
        state["step"] += 1
        state["samples"] += samples
        on_the_way = state["steps"] is None or state["step"] < state["steps"]
        if self._is_print() and state["step"] % self.log_freq == 0 and on_the_way:
            self._show(mode, logs)

    # -- training
    def on_train_begin(self, logs=None) -> None:
        self.epochs = self.params["epochs"]
        if self._is_print():
            print("The loss value printed in the log is the current step, and the metric is the average value of previous "
                  "steps.")  # fmt: skip

    def on_epoch_begin(self, epoch=None, logs=None) -> None:
        self.epoch, self.steps = epoch, self.params["steps"]
        if self.epochs and self._is_print():
            print(f"Epoch {epoch + 1}/{self.epochs}")
        self._open("train", self.steps, self.params["metrics"])

    def on_train_batch_begin(self, step, logs=None) -> None:
        self._tick("read")

    def on_train_batch_end(self, step, logs=None) -> None:
        self._batch_ended("train", logs)

    def on_epoch_end(self, epoch, logs=None) -> None:
        if self._is_print() and self.steps is not None:
            self._show("train", logs)

    # -- evaluation
    def on_eval_begin(self, logs=None) -> None:
        self._open("eval", logs.get("steps"), logs.get("metrics", []))
        if self._is_print():
            print("Eval begin...")

    def on_eval_batch_begin(self, step, logs=None) -> None:
        self._tick("read")

    def on_eval_batch_end(self, step, logs=None) -> None:
        self._batch_ended("eval", logs)

    def on_eval_end(self, logs=None) -> None:
        if self._is_print():
            if self.eval["steps"] is not None:
                self._show("eval", logs)
            print(f"Eval samples: {self.eval['samples']}")

    # -- prediction
    def on_predict_begin(self, logs=None) -> None:
        self._open("predict", logs.get("steps"), logs.get("metrics", []))
        if self._is_print():
            print("Predict begin...")

    def on_predict_batch_begin(self, step, logs=None) -> None:
        self._tick("read")

    def on_predict_batch_end(self, step, logs=None) -> None:
        self._batch_ended("predict", logs)

    def on_predict_end(self, logs=None) -> None:
        if self._is_print():
            if self.predict["step"] % self.log_freq != 0 or self.verbose == 1:
                self._show("predict", logs)
            print(f"Predict samples: {self.predict['samples']}")
