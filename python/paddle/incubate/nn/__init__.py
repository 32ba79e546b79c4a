"""Layers whose parts official Paddle has fused kernels for; here the compiler fuses them."""

from . import functional
from .layers import FusedDropoutAdd, FusedLinear

__all__ = ["FusedDropoutAdd", "FusedLinear", "functional"]
