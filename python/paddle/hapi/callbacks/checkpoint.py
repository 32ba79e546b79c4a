"""Checkpoints."""

from __future__ import annotations

import os

from .base import Callback, is_first_rank

__all__ = []


class ModelCheckpoint(Callback):
    """Saves parameters and the optimizer's state: ``save_dir/<epoch>`` after epochs, ``save_dir/final`` at the end.

    Args:
        save_freq (int): epochs between checkpoints.
        save_dir (str, optional): a folder; None saves nothing.
    """

    def __init__(self, save_freq=1, save_dir=None) -> None:
        super().__init__()
        self.save_freq, self.save_dir = save_freq, save_dir

    def _is_save(self) -> bool:
        return bool(self.model and self.save_dir) and is_first_rank()

    def on_epoch_begin(self, epoch=None, logs=None) -> None:
        self.epoch = epoch

    def on_epoch_end(self, epoch, logs=None) -> None:
        if self._is_save() and self.epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs=None) -> None:
        if self._is_save():
            self._save("final")

    def _save(self, name) -> None:
        path = f"{self.save_dir}/{name}"
        print(f"save checkpoint at {os.path.abspath(path)}")
        self.model.save(path)
