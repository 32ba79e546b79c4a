"""Given values."""

from __future__ import annotations

import numpy as np

import paddle

from .initializer import Initializer

__all__ = ["Assign"]


class NumpyArrayInitializer(Initializer):
    """Fills with the elements of `value` (ndarray). The parameter takes its shape; in static mode that must be it already."""

    def __init__(self, value):
        assert isinstance(value, (np.ndarray, paddle.Tensor))
        super().__init__()
        self._value = value

    def _values(self, shape, dtype):
        value = self._value
        value = paddle.assign(value.detach()) if isinstance(value, paddle.Tensor) else paddle.to_tensor(value)
        if list(value.shape) != list(shape) and not paddle.in_dynamic_mode():
            raise ValueError(f"[Assign] expected values of shape {list(shape)}, got {list(value.shape)}")
        return value.astype(dtype)

    def forward(self, var, block=None):
        if list(var.shape) == list(self._value.shape) or not paddle.in_dynamic_mode():
            return super().forward(var, block)
        stop = var.stop_gradient
        with paddle.no_grad():
            self._values(var.shape, var.dtype)._share_buffer_to(var)
        var.stop_gradient = stop
        return var


class Assign(NumpyArrayInitializer):
    """Fills with `value`.

    Args:
        value (ndarray | list | tuple | Tensor): converted to the parameter's dtype. The parameter takes its shape.

    Raises:
        TypeError: anything else.
        ValueError: in static mode, another shape than the parameter's.
    """

    def __init__(self, value, name=None):
        if isinstance(value, (list, tuple)):
            value = np.array(value)
        if not isinstance(value, (np.ndarray, paddle.Tensor)):
            raise TypeError(f"[Assign] value must be ndarray, list, tuple or Tensor, got {type(value).__name__}")
        super().__init__(value)
