"""Kaiming (He) initialization: keeps the variance through rectifiers.

Source: He et al., 2015, Delving deep into rectifiers (https://arxiv.org/abs/1502.01852).
"""

from __future__ import annotations

import math

from . import initializer as _base

__all__ = ["KaimingUniform", "KaimingNormal"]


class MSRAInitializer(_base.Initializer):
    """Standard deviation gain / sqrt(fan), uniform or normal.

    Args:
        uniform (bool): which distribution.
        fan_in (float, optional): the fan; from the shape when None.
        seed (int): 0 draws from the global generator.
        negative_slope (float), nonlinearity (str): see `calculate_gain`.
        mode (str): "fan_in" or "fan_out".
    """

    def __init__(self, uniform=True, fan_in=None, seed=0, negative_slope=0, nonlinearity="relu", mode="fan_in"):
        assert uniform is not None and seed is not None
        if mode not in ("fan_in", "fan_out"):
            raise ValueError(f"Mode {mode} not supported, please use one of ('fan_in', 'fan_out')")
        super().__init__()
        self._uniform, self._fan_in, self._seed = uniform, fan_in, seed
        self._negative_slope, self._nonlinearity, self._mode = negative_slope, nonlinearity, mode

    def _values(self, shape, dtype):
        fan = self._fan_in
        if fan is None:
            fan = _base.fans(shape)[0 if self._mode == "fan_in" else 1]
        gain = _base.calculate_gain(self._nonlinearity, self._negative_slope)
        std = gain / math.sqrt(float(fan)) if fan else 0.0
        if self._uniform:
            limit = math.sqrt(3.0) * std
            return _base.uniform(shape, dtype, -limit, limit, self._seed)
        return _base.normal(shape, dtype, 0.0, std, self._seed)


class KaimingNormal(MSRAInitializer):
    """Normal values of standard deviation gain / sqrt(fan); arguments as `MSRAInitializer`."""

    def __init__(self, fan_in=None, negative_slope=0.0, nonlinearity="relu", mode="fan_in"):
        super().__init__(False, fan_in, 0, negative_slope, nonlinearity, mode)


class KaimingUniform(MSRAInitializer):
    """Uniform values in ± gain * sqrt(3 / fan); arguments as `MSRAInitializer`."""

    def __init__(self, fan_in=None, negative_slope=0.0, nonlinearity="relu", mode="fan_in"):
        super().__init__(True, fan_in, 0, negative_slope, nonlinearity, mode)
