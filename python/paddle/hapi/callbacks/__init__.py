"""What happens around epochs and batches of ``paddle.Model``: progress, checkpoints, learning rates, early stops, logs."""

from __future__ import annotations

from .base import Callback, CallbackList
from .checkpoint import ModelCheckpoint
from .configuration import config_callbacks
from .early_stopping import EarlyStopping
from .learning_rate import LRScheduler, ReduceLROnPlateau
from .loggers import VisualDL, WandbCallback
from .progress import ProgBarLogger

__all__ = [
    "Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger", "ReduceLROnPlateau", "VisualDL",
    "WandbCallback",
]  # fmt: skip
_ = CallbackList, config_callbacks
