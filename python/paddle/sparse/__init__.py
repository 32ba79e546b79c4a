"""Sparse tensors: those that hold the coordinates and values of some elements, the others being zero."""

from . import nn
from .binary import (
    add,
    addmm,
    divide,
    is_same_shape,
    mask_as,
    masked_matmul,
    matmul,
    multiply,
    mv,
    subtract,
)
from .creation import sparse_coo_tensor, sparse_csr_tensor
from .shapes import coalesce, pca_lowrank, reshape, slice, sum, transpose
from .unary import (
    abs,
    asin,
    asinh,
    atan,
    atanh,
    cast,
    deg2rad,
    expm1,
    isnan,
    log1p,
    neg,
    pow,
    rad2deg,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
)

__all__ = [
    "abs", "add", "addmm", "asin", "asinh", "atan", "atanh", "cast", "coalesce", "deg2rad", "divide", "expm1",
    "is_same_shape", "isnan", "log1p", "mask_as", "masked_matmul", "matmul", "multiply", "mv", "neg", "nn",
    "pca_lowrank", "pow", "rad2deg", "reshape", "sin", "sinh", "slice", "sparse_coo_tensor", "sparse_csr_tensor",
    "sqrt", "square", "subtract", "sum", "tan", "tanh", "transpose",
]  # fmt: skip
