"""Optimizers around optimizers."""

from ...optimizer import LBFGS
from . import functional  # noqa: F401
from .lookahead import LookAhead
from .model_average import ModelAverage

__all__ = ["LBFGS", "LookAhead", "ModelAverage"]
