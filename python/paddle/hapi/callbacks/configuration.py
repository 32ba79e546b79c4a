"""The callbacks of a run: the user's, and those that every run has."""

from __future__ import annotations

from .base import CallbackList
from .checkpoint import ModelCheckpoint
from .early_stopping import EarlyStopping
from .learning_rate import LRScheduler
from .progress import ProgBarLogger

__all__ = []


def config_callbacks(
    callbacks=None, model=None, batch_size=None, epochs=None, steps=None, log_freq=2, verbose=2, save_freq=1,
    save_dir=None, metrics=None, mode="train",
):  # fmt: skip
    """A CallbackList of ``callbacks`` and, unless one of its kind is among them, a progress bar in front, a step of the
    learning rate and checkpoints behind."""
    given = callbacks or []
    chosen = list(given) if isinstance(given, (list, tuple)) else [given]
    if verbose and not any(isinstance(k, ProgBarLogger) for k in chosen):
        chosen.insert(0, ProgBarLogger(log_freq, verbose=verbose))
    if not any(isinstance(k, LRScheduler) for k in chosen):
        chosen.append(LRScheduler())
    if not any(isinstance(k, ModelCheckpoint) for k in chosen):
        chosen.append(ModelCheckpoint(save_freq, save_dir))
    for callback in chosen:
        if isinstance(callback, EarlyStopping):
            callback.save_dir = save_dir
    group = CallbackList(chosen)
    group.set_model(model)
    group.set_params(
        {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": steps,
            "verbose": verbose,
            "metrics": (metrics or []) if mode != "test" else [],
        }
    )
    return group
