"""Learning-rate schedules: functions of a step counter, advanced by ``scheduler.step()``."""

from .base import LRScheduler
from .cyclic import CosineAnnealingDecay, CosineAnnealingWarmRestarts, CyclicLR, LinearLR, LinearWarmup, OneCycleLR
from .decay import (
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from .plateau import ReduceOnPlateau

__all__ = [
    "LRScheduler",
    "NoamDecay",
    "PiecewiseDecay",
    "NaturalExpDecay",
    "InverseTimeDecay",
    "PolynomialDecay",
    "LinearWarmup",
    "ExponentialDecay",
    "MultiStepDecay",
    "StepDecay",
    "LambdaDecay",
    "ReduceOnPlateau",
    "CosineAnnealingDecay",
    "MultiplicativeDecay",
    "OneCycleLR",
    "CyclicLR",
    "LinearLR",
    "CosineAnnealingWarmRestarts",
]
