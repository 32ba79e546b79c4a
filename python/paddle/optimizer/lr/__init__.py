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
from .functions import (  # noqa: F401
    cosine_decay,
    exponential_decay,
    inverse_time_decay,
    linear_lr_warmup,
    natural_exp_decay,
    noam_decay,
    piecewise_decay,
    polynomial_decay,
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
