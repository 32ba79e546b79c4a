"""Xavier (Glorot) initialization: equal variance forwards and backwards.

Source: Glorot and Bengio, 2010, Understanding the difficulty of training deep feedforward neural networks.
"""

from __future__ import annotations

import math

from . import initializer as _base

__all__ = ["XavierUniform", "XavierNormal"]


class XavierInitializer(_base.Initializer):
    """Variance `gain`^2 * 2 / (fan_in + fan_out), uniform or normal; fans come from the shape when None."""

    def __init__(self, uniform=True, fan_in=None, fan_out=None, seed=0, gain=1.0):
        assert uniform is not None and seed is not None
        super().__init__()
        self._uniform, self._fan_in, self._fan_out, self._seed, self._gain = uniform, fan_in, fan_out, seed, gain

    def _values(self, shape, dtype):
        fan_in, fan_out = _base.fans(shape)
        fan_in = fan_in if self._fan_in is None else self._fan_in
        fan_out = fan_out if self._fan_out is None else self._fan_out
        total = float(fan_in + fan_out)
        std = self._gain * math.sqrt(2.0 / total) if total else 0.0
        if self._uniform:
            limit = math.sqrt(3.0) * std
            return _base.uniform(shape, dtype, -limit, limit, self._seed)
        return _base.normal(shape, dtype, 0.0, std, self._seed)


class XavierNormal(XavierInitializer):
    """Normal values of standard deviation `gain` * sqrt(2 / (fan_in + fan_out)).

    Args:
        fan_in, fan_out (float, optional): from the parameter's shape when None.
        gain (float): factor.
    """

    def __init__(self, fan_in=None, fan_out=None, gain=1.0, name=None):
        super().__init__(uniform=False, fan_in=fan_in, fan_out=fan_out, seed=0, gain=gain)


class XavierUniform(XavierInitializer):
    """Uniform values in ± `gain` * sqrt(6 / (fan_in + fan_out)).

    Args:
        fan_in, fan_out (float, optional): from the parameter's shape when None.
        gain (float): factor.
    """

    def __init__(self, fan_in=None, fan_out=None, gain=1.0, name=None):
        super().__init__(uniform=True, fan_in=fan_in, fan_out=fan_out, seed=0, gain=gain)
