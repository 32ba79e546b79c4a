"""How parameters are filled."""

from __future__ import annotations

from .assign import Assign
from .bilinear import Bilinear
from .constant import Constant
from .dirac import Dirac
from .initializer import Initializer as Initializer
from .initializer import calculate_gain, set_global_initializer
from .kaiming import KaimingNormal, KaimingUniform
from .normal import Normal, TruncatedNormal
from .orthogonal import Orthogonal
from .uniform import Uniform
from .xavier import XavierNormal, XavierUniform

__all__ = [
    "Bilinear",
    "Constant",
    "KaimingUniform",
    "KaimingNormal",
    "XavierNormal",
    "XavierUniform",
    "Assign",
    "Normal",
    "TruncatedNormal",
    "Uniform",
    "Orthogonal",
    "Dirac",
    "set_global_initializer",
    "calculate_gain",
]
