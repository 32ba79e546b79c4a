"""Convolutions that begin as the identity."""

from __future__ import annotations

import numpy as np

import paddle

from .initializer import Initializer

__all__ = ["Dirac"]


class Dirac(Initializer):
    """Ones at the middle of the kernel, from input channel i to output channel i of every group; zeros elsewhere.

    Args:
        groups (int): groups of output channels that each copy the input.

    Raises:
        AssertionError: the parameter has not 3, 4 or 5 dimensions, or its output channels don't divide by `groups`.
    """

    def __init__(self, groups=1, name=None):
        assert groups > 0 and isinstance(groups, int), " 'groups' must be a positive integer. "
        super().__init__()
        self._groups = groups

    def forward(self, param, block=None):
        """Fills `param` in place and returns it."""
        return super().forward(param, block)

    def _values(self, shape, dtype):
        assert len(shape) in (3, 4, 5), "Only Tensor with 3/4/5 dimensions can be initialized by Dirac"
        assert shape[0] % self._groups == 0, "Tensor 0-dimension must be divisible by groups"
        weight = np.zeros(shape, "float32")
        per_group = shape[0] // self._groups
        middle = tuple(k // 2 for k in shape[2:])
        for out in range(shape[0]):
            channel = out % per_group
            if channel < shape[1]:
                weight[(out, channel, *middle)] = 1.0
        return paddle.to_tensor(weight).astype(dtype)
