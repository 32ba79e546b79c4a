"""Normal distributions, whole and cut."""

from __future__ import annotations

import math

import paddle

from . import initializer as _base

__all__ = ["Normal", "TruncatedNormal"]


class NormalInitializer(_base.Initializer):
    """Fills with normal values of mean `loc` and standard deviation `scale`; `seed` 0 draws from the global
    generator."""

    def __init__(self, loc=0.0, scale=1.0, seed=0):
        assert loc is not None and scale is not None and seed is not None
        super().__init__()
        self._mean, self._std_dev, self._seed = loc, scale, seed

    def _values(self, shape, dtype):
        return _base.normal(shape, dtype, self._mean, self._std_dev, self._seed)


class Normal(NormalInitializer):
    """Fills with normal values of mean `mean` and standard deviation `std` (floats)."""

    def __init__(self, mean=0.0, std=1.0, name=None):
        assert mean is not None, "mean should not be None"
        assert std is not None, "std should not be None"
        super().__init__(loc=mean, scale=std, seed=0)


class TruncatedNormalInitializer(_base.Initializer):
    """Fills with normal values conditioned on [a, b].

    Args:
        loc, scale (float): mean and standard deviation before cutting.
        seed (int): 0 draws from the global generator.
        a, b (float): bounds of the values themselves.
    """

    def __init__(self, loc=0.0, scale=1.0, seed=0, a=-2.0, b=2.0):
        assert loc is not None and scale is not None and seed is not None
        super().__init__()
        self._mean, self._std_dev, self._seed = loc, scale, seed
        self._a, self._b = a, b

    def _values(self, shape, dtype):
        return _base.drawn_in_float32(self._draw, shape, dtype)

    def _draw(self, shape, dtype):
        # Inverse of the distribution function: erf values of the bounds, uniform between, back through erfinv.
        low, high = (math.erf((x - self._mean) / (self._std_dev * math.sqrt(2.0))) for x in (self._a, self._b))
        value = paddle.erfinv(paddle.uniform(shape, dtype, low, high, self._seed))
        value = value * (self._std_dev * math.sqrt(2.0)) + self._mean
        return paddle.clip(value, self._a, self._b)


class TruncatedNormal(TruncatedNormalInitializer):
    """Fills with normal values (mean `mean`, standard deviation `std`) conditioned on [a, b]."""

    def __init__(self, mean=0.0, std=1.0, a=-2.0, b=2.0, name=None):
        assert mean is not None, "mean should not be None"
        assert std is not None, "std should not be None"
        super().__init__(loc=mean, scale=std, seed=0, a=a, b=b)
