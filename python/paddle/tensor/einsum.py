"""Einstein's summation."""

from __future__ import annotations

from ..base.core import _C_ops
from ._common import Tensor


def einsum(equation, *operands):
    """Sums of products of the operands' elements by Einstein's convention: "ij,jk->ik" is the matrix product.

    Args:
        equation (str): labels of each operand's axes; "..." stands for broadcast axes; after "->" those of the result
            (by default the labels that occur once, in alphabetical order).

    Raises:
        ValueError: labels and operands don't fit.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    operands = list(operands)
    if not operands or not all(isinstance(x, Tensor) for x in operands):
        raise ValueError(f"[einsum] expected Tensors as operands, got {[type(x).__name__ for x in operands]}")
    out = _C_ops.einsum(operands, equation)
    return out[0] if isinstance(out, (list, tuple)) else out
