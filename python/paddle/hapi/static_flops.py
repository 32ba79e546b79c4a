"""How many operations a program takes."""

from __future__ import annotations

import math

from .flops_table import report

__all__ = []


def _known(shape) -> list:
    return [1 if n is None or n < 0 else int(n) for n in shape]


def _convolution(op) -> int:
    """Each output element takes the elements of its filter."""
    filters = _known(op.operand_source(1).shape)
    return math.prod(_known(op.result(0).shape)) * math.prod(filters[1:])


def _product(op) -> int:
    x = _known(op.operand_source(0).shape)
    depth = x[-2] if op.attrs().get("transpose_x") and len(x) > 1 else x[-1]
    return math.prod(_known(op.result(0).shape)) * depth


_COUNTED = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "depthwise_conv2d"), _convolution),
    **dict.fromkeys(("matmul", "mv", "bmm"), _product),
}


def of_program(program, print_detail=False) -> int:
    """Multiplications (each with its addition) of the program's convolutions and products; an unknown size counts as 1."""
    rows = []
    for op in program.global_block().ops:
        count = _COUNTED.get(op.type)
        if count is not None:
            shapes = _known(op.operand_source(0).shape), _known(op.result(0).shape)
            weights = op.operand_source(1)
            held = math.prod(_known(weights.shape)) if weights.get_defining_op().type == "parameter" else 0
            rows.append([op.type, *shapes, held, count(op)])
    return report(["OP Type", "Input Shape", "Output Shape", "Params", "Flops"], rows, print_detail)
