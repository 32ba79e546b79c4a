"""The normal distribution."""

from __future__ import annotations

import math

import paddle

from .distribution import Distribution, event, parameters, sample_shape

__all__ = []


class Normal(Distribution):
    """Normal with mean `loc` and standard deviation `scale`; complex `loc` gives a circular complex normal.

    Args:
        loc, scale (float | list | ndarray | Tensor): broadcast against each other.
    """

    def __init__(self, loc, scale, name=None):
        self.name = name or "Normal"
        self._complex = isinstance(loc, complex) or (isinstance(loc, paddle.Tensor) and loc.is_complex())
        if self._complex:
            loc = loc if isinstance(loc, paddle.Tensor) else paddle.to_tensor(loc, dtype="complex64")
            real = loc.real().dtype
            scale = scale if isinstance(scale, paddle.Tensor) else paddle.to_tensor(scale, dtype=real)
            shape = paddle.broadcast_shape(loc.shape, scale.shape)
            self.loc, self.scale = loc.expand(shape), scale.expand(shape)
        else:
            self.loc, self.scale = parameters(loc=loc, scale=scale)
        self.dtype = self.loc.dtype
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return self.scale.pow(2)

    def sample(self, shape=(), seed=0):
        if not isinstance(shape, (list, tuple)):
            raise TypeError("sample shape must be Iterable object.")
        with paddle.no_grad():
            return self._draw(shape, seed)

    def rsample(self, shape=()):
        return self._draw(sample_shape(shape), 0)

    def _draw(self, shape, seed):
        shape = self._extend_shape(shape)
        if self._complex:
            noise = paddle.randn(shape, dtype=self.dtype)
        else:
            noise = paddle.tensor.random.gaussian(list(shape), 0.0, 1.0, seed, self.dtype)
        return self.loc + noise * self.scale

    def entropy(self):
        if self._complex:
            return 1.0 + math.log(math.pi) + 2.0 * paddle.log(self.scale)
        return 0.5 + 0.5 * math.log(2 * math.pi) + paddle.log(self.scale)

    def log_prob(self, value):
        value = value if self._complex else event(value, self.loc)
        variance = self.variance
        if self._complex:
            return -((value - self.loc).abs() ** 2) / variance - math.log(math.pi) - 2.0 * paddle.log(self.scale)
        return -((value - self.loc) ** 2) / (2.0 * variance) - paddle.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def probs(self, value):
        return paddle.exp(self.log_prob(value))

    def kl_divergence(self, other):
        """The divergence to another Normal.

        Raises:
            ValueError: one is complex and the other is not.
        """
        if not isinstance(other, Normal):
            raise TypeError(f"[Normal.kl_divergence] expected a Normal, got {type(other)}")
        if self._complex != other._complex:
            raise ValueError("The kl divergence must be computed between two distributions in the same number field.")
        ratio = (self.scale / other.scale) ** 2
        if self._complex:
            shift = ((self.loc - other.loc).abs() / other.scale) ** 2
            return ratio + shift - 1 - paddle.log(ratio)
        shift = ((self.loc - other.loc) / other.scale) ** 2
        return 0.5 * (ratio + shift - 1 - paddle.log(ratio))
