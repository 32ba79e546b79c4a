"""Maps of random variables, with what the change of variables needs."""

from __future__ import annotations

from .transform_base import Transform, Type, _checked, _shape, _tensors  # noqa: F401
from .transform_composed import ChainTransform, IndependentTransform, StackTransform, _summed  # noqa: F401
from .transform_elementwise import (  # noqa: F401
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    TanhTransform,
)
from .transform_vector import ReshapeTransform, SoftmaxTransform, StickBreakingTransform  # noqa: F401

__all__ = [
    "AbsTransform", "AffineTransform", "ChainTransform", "ExpTransform", "IndependentTransform", "PowerTransform",
    "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform",
    "TanhTransform", "Transform",
]  # fmt: skip
