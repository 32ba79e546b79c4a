"""Uniform distribution."""

from __future__ import annotations

from . import initializer as _base

__all__ = ["Uniform"]


class UniformInitializer(_base.Initializer):
    """Fills with values in [low, high); `diag_num` elements at stride `diag_step` + 1 become `diag_val`.

    Args:
        low, high (float): bounds, low <= high.
        seed (int): 0 draws from the global generator.
        diag_num, diag_step (int), diag_val (float): see above; none by default.
    """

    def __init__(self, low=-1.0, high=1.0, seed=0, diag_num=0, diag_step=0, diag_val=1.0):
        assert low is not None and high is not None and high >= low and seed is not None
        if diag_num > 0 or diag_step > 0:
            assert diag_num > 0 and diag_step > 0
        super().__init__()
        self._low, self._high, self._seed = low, high, seed
        self._diag_num, self._diag_step, self._diag_val = diag_num, diag_step, diag_val

    def _values(self, shape, dtype):
        value = _base.uniform(shape, dtype, self._low, self._high, self._seed)
        if self._diag_num:
            flat = value.flatten()
            flat[: self._diag_num * (self._diag_step + 1) : self._diag_step + 1] = self._diag_val
            value = flat.reshape(shape)
        return value


class Uniform(UniformInitializer):
    """Fills with values in [low, high)."""

    def __init__(self, low=-1.0, high=1.0, name=None):
        assert low is not None, "low should not be None"
        assert high is not None, "high should not be None"
        assert high >= low, "high should greater or equal than low"
        super().__init__(low=low, high=high, seed=0)
