"""One value everywhere."""

from __future__ import annotations

import paddle

from .initializer import Initializer

__all__ = ["Constant"]


class ConstantInitializer(Initializer):
    """Fills with `value` (float)."""

    def __init__(self, value=0.0, force_cpu=False):
        assert value is not None
        super().__init__()
        self._value = value
        self._force_cpu = force_cpu

    def _values(self, shape, dtype):
        return paddle.full(shape, self._value, dtype)


class Constant(ConstantInitializer):
    """Fills with `value` (float, 0.0 by default)."""

    def __init__(self, value=0.0):
        if value is None:
            raise ValueError("value must not be none.")
        super().__init__(value=value, force_cpu=False)
