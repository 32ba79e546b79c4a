"""Quantisation: models trained, or measured, with weights and activations on a grid of few integers."""

from __future__ import annotations

from . import observers, quanters
from .base_observer import BaseObserver
from .base_quanter import BaseQuanter
from .config import QuantConfig, SingleLayerConfig
from .factory import quanter
from .ptq import PTQ
from .qat import QAT

__all__ = ["BaseObserver", "BaseQuanter", "PTQ", "QAT", "QuantConfig", "quanter"]
_ = observers, quanters, SingleLayerConfig
