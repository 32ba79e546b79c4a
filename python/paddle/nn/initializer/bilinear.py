"""Transposed convolutions that begin as bilinear upsampling."""

from __future__ import annotations

import numpy as np

import paddle

from .initializer import Initializer

__all__ = ["Bilinear"]


class Bilinear(Initializer):
    """Every [k, k] kernel of a 4-D weight becomes the bilinear interpolation kernel of factor ceil(k / 2).

    Raises:
        ValueError: the parameter is not 4-D or its kernels are not square.
    """

    def _values(self, shape, dtype):
        if len(shape) != 4:
            raise ValueError("the length of shape must be 4.")
        if shape[2] != shape[3]:
            raise ValueError("shape[2] must be equal to shape[3].")
        size = shape[3]
        factor = np.ceil(size / 2.0)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        line = 1 - np.abs(np.arange(size) / factor - centre)
        kernel = np.broadcast_to(np.outer(line, line), shape).astype("float32")
        return paddle.to_tensor(np.ascontiguousarray(kernel)).astype(dtype)
