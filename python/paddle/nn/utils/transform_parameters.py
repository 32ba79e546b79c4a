"""Parameters as one vector and back."""

from __future__ import annotations

import math

import paddle

__all__ = []


def _stride_column(param):
    """Makes a matrix's storage column-major, as some kernels want it: (x^T)^T of the same values, in place."""
    assert len(param.shape) == 2
    with paddle.no_grad():
        param.data = paddle.transpose(paddle.transpose(param.detach(), [1, 0]).contiguous(), [1, 0])


def parameters_to_vector(parameters, name=None):
    """All elements, flattened and concatenated: a 1-D Tensor through which gradients run."""
    return paddle.concat([p.reshape([-1]) for p in parameters], axis=0)


@paddle.no_grad()
def vector_to_parameters(vec, parameters, name=None):
    """Copies slices of the 1-D `vec` into the parameters, in order."""
    start = 0
    for p in parameters:
        size = math.prod(p.shape)
        p.set_value(vec[start : start + size].reshape(p.shape))
        start += size
