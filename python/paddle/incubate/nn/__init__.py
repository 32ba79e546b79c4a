"""Layers whose parts official Paddle has fused kernels for; here the compiler fuses them."""

from . import functional
from .layers import FusedDropoutAdd, FusedLinear
from .layers_transformer import (
    FusedBiasDropoutResidualLayerNorm,
    FusedFeedForward,
    FusedMultiHeadAttention,
    FusedTransformerEncoderLayer,
)

__all__ = [
    "FusedBiasDropoutResidualLayerNorm", "FusedDropoutAdd", "FusedFeedForward", "FusedLinear", "FusedMultiHeadAttention",
    "FusedTransformerEncoderLayer", "functional",
]  # fmt: skip
