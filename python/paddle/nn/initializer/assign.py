"""Given values."""

from __future__ import annotations

import numpy as np

import paddle

from .initializer import Initializer

__all__ = ["Assign"]


class NumpyArrayInitializer(Initializer):
    """Fills with the elements of `value` (ndarray), which has the parameter's shape."""

    def __init__(self, value):
        assert isinstance(value, (np.ndarray, paddle.Tensor))
        super().__init__()
        self._value = value

    def _values(self, shape, dtype):
        value = self._value
        value = paddle.assign(value.detach()) if isinstance(value, paddle.Tensor) else paddle.to_tensor(value)
        if list(value.shape) != list(shape):
            raise ValueError(f"[Assign] expected values of shape {list(shape)}, got {list(value.shape)}")
        return value.astype(dtype)


class Assign(NumpyArrayInitializer):
    """Fills with `value`.

    Args:
        value (ndarray | list | tuple | Tensor): of the parameter's shape; converted to its dtype.

    Raises:
        TypeError: anything else.
        ValueError: another shape.
    """

    def __init__(self, value, name=None):
        if isinstance(value, (list, tuple)):
            value = np.array(value)
        if not isinstance(value, (np.ndarray, paddle.Tensor)):
            raise TypeError(f"[Assign] value must be ndarray, list, tuple or Tensor, got {type(value).__name__}")
        super().__init__(value)
