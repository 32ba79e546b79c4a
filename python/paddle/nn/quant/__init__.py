"""Weights in 8 and 4 bits, places for quantisers, layers with quantisers."""

from . import qat
from .functional_layers import (
    FloatFunctionalLayer,
    add,
    concat,
    divide,
    flatten,
    matmul,
    multiply,
    reshape,
    subtract,
    transpose,
)
from .quantized_linear import (
    apply_per_channel_scale,
    llm_int8_linear,
    weight_dequantize,
    weight_only_linear,
    weight_quantize,
)
from .stub import Stub

__all__ = [
    "FloatFunctionalLayer", "Stub", "add", "apply_per_channel_scale", "concat", "divide", "flatten", "llm_int8_linear",
    "matmul", "multiply", "reshape", "subtract", "transpose", "weight_dequantize", "weight_only_linear",
    "weight_quantize",
]  # fmt: skip
