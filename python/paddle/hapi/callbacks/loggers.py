"""Curves for VisualDL and Weights & Biases; both are packages of their own."""

from __future__ import annotations

import numbers

from ...utils.lazy_import import try_import
from .base import Callback, is_first_rank

__all__ = []


class _Curves(Callback):
    """Loss and metrics of training by step, of evaluations by epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.epochs = None
        self.steps = self.epoch = 0
        self._is_fit = False

    def _write(self, mode, logs, step) -> None:
        for name in self.params.get("metrics") or []:
            value = (logs or {}).get(name)
            value = value[0] if isinstance(value, (list, tuple)) else value
            if isinstance(value, numbers.Number):
                self._scalar(f"{mode}/{name}", value, step)

    def _scalar(self, tag, value, step) -> None:
        raise NotImplementedError

    def on_train_begin(self, logs=None) -> None:
        self.epochs = self.params["epochs"]
        self._is_fit, self.train_step = True, 0

    def on_epoch_begin(self, epoch=None, logs=None) -> None:
        self.steps, self.epoch = self.params["steps"], epoch

    def on_train_batch_end(self, step, logs=None) -> None:
        self.train_step += 1
        if is_first_rank():
            self._write("train", logs, self.train_step)

    def on_eval_end(self, logs=None) -> None:
        if is_first_rank():
            self._write("eval", logs, self.epoch + 1 if self._is_fit else 1)


class VisualDL(_Curves):
    """Writes loss and metrics for VisualDL.

    Args:
        log_dir (str): the folder that ``visualdl --logdir`` is given.

    Raises:
        ImportError: the package ``visualdl`` isn't installed; when the first value is written.
    """

    def __init__(self, log_dir) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._writer = None

    def _scalar(self, tag, value, step) -> None:
        if self._writer is None:
            self._writer = try_import("visualdl").LogWriter(self.log_dir)
        self._writer.add_scalar(tag=tag, step=step, value=value)

    def on_train_end(self, logs=None) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


class WandbCallback(_Curves):
    """Writes loss and metrics for Weights & Biases.

    Args:
        project, entity, name, dir, mode, job_type (str, optional): as in ``wandb.init``.
        **kwargs: what else ``wandb.init`` takes.

    Raises:
        ModuleNotFoundError: the package ``wandb`` isn't installed.
    """

    def __init__(self, project=None, entity=None, name=None, dir=None, mode=None, job_type=None, **kwargs) -> None:
        super().__init__()
        try:
            import wandb
        except ImportError:
            raise ModuleNotFoundError(
                "You want to use `wandb` which is not installed yet install it with `pip install wandb`"
            ) from None
        self.wandb, self._run = wandb, None
        options = {"project": project, "entity": entity, "name": name, "dir": dir, "mode": mode, "job_type": job_type}
        self.wandb_args = {**options, **kwargs}

    @property
    def run(self):
        """The run that values go to: the one under way, or a new one."""
        if self._run is None:
            self._run = self.wandb.run or self.wandb.init(**self.wandb_args)
        return self._run

    def _scalar(self, tag, value, step) -> None:
        counted = "train/epoch" if tag.startswith("eval") else "train/step"
        self.run.log({tag: value, counted: step})

    def on_train_end(self, logs=None) -> None:
        if is_first_rank():
            self.run.finish()
            self._run = None
