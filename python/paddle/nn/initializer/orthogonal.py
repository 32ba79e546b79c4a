"""Orthogonal matrices.

Source: Saxe et al., 2013, Exact solutions to the nonlinear dynamics of learning in deep linear neural networks.
"""

from __future__ import annotations

import math

import numpy as np

import paddle

from . import initializer as _base

__all__ = ["Orthogonal"]


class Orthogonal(_base.Initializer):
    """Rows (or columns, whichever are fewer) orthonormal after flattening all dimensions but the first, times `gain`.

    Raises:
        AssertionError: the parameter has less than two dimensions.
    """

    def __init__(self, gain=1.0, name=None):
        if gain is None:
            gain = 1.0
        super().__init__()
        self._gain = gain

    def forward(self, param, block=None):
        """Fills `param` in place and returns it."""
        return super().forward(param, block)

    def _values(self, shape, dtype):
        assert len(shape) >= 2, "Only Tensor with 2 or more dimensions can be initialized by Orthogonal"
        rows, cols = shape[0], math.prod(shape[1:])
        drawn = _base.normal([max(rows, cols), min(rows, cols)], "float32", 0.0, 1.0)
        # On the host: initial values are made once, and few devices have a QR of their own.
        q, r = np.linalg.qr(drawn.numpy().astype("float64"))
        q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
        q = (q.T if rows < cols else q) * self._gain
        return paddle.to_tensor(np.ascontiguousarray(q).reshape(shape)).astype(dtype)
