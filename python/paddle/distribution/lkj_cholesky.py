"""Cholesky factors of random correlation matrices."""

from __future__ import annotations

import math

import paddle

from .beta import Beta
from .distribution import Distribution, as_parameter, sample_shape

__all__ = []


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices whose density is proportional to det^(concentration - 1)
    (Lewandowski, Kurowicka & Joe, "Generating random correlation matrices based on vines and extended onion method",
    2009).

    Args:
        dim (int): size of the matrices, at least 2.
        concentration (float | Tensor): above 0; 1 is uniform.
        sample_method (str): "onion" or "cvine".

    Raises:
        TypeError: `dim` is no int. ValueError: `dim`, `concentration` or `sample_method` is not possible.
    """

    def __init__(self, dim=2, concentration=1.0, sample_method="onion"):
        if not isinstance(dim, int):
            raise TypeError(f"Expected dim to be an integer. Found {type(dim).__name__}.")
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        if sample_method not in ("onion", "cvine"):
            raise ValueError("`method` should be one of 'cvine' or 'onion'.")
        self.dim = dim
        self.sample_method = sample_method
        self.concentration = as_parameter("concentration", concentration)
        if not bool((self.concentration > 0).all()):
            raise ValueError("The arg of `concentration` must be positive.")
        super().__init__(self.concentration.shape, (dim, dim))
        self._betas = self._onion_betas() if sample_method == "onion" else self._vine_betas()

    def _onion_betas(self):
        """Of the squared lengths of rows 1 ... dim - 1."""
        base = self.concentration.unsqueeze(-1) + 0.5 * (self.dim - 2)
        k = paddle.arange(self.dim - 1, dtype=self.concentration.dtype)
        return Beta(k * 0.5 + 0.5, base - 0.5 * k)

    def _vine_betas(self):
        """Of the partial correlations below the diagonal, row by row, moved from (-1, 1) to (0, 1)."""
        columns = [j for i in range(1, self.dim) for j in range(i)]
        j = paddle.to_tensor(columns, dtype=self.concentration.dtype)
        half = self.concentration.unsqueeze(-1) + 0.5 * (self.dim - 2) - 0.5 * j
        return Beta(half, half)

    def sample(self, sample_shape_=()):
        """Matrices of shape `sample_shape` + batch_shape + [dim, dim]."""
        shape = sample_shape(sample_shape_)
        with paddle.no_grad():
            return self._onion(shape) if self.sample_method == "onion" else self._vine(shape)

    def _onion(self, shape):
        squares = self._betas.sample(shape).unsqueeze(-1)
        lead = squares.shape[:-2]
        direction = paddle.randn([*lead, self.dim - 1, self.dim - 1], dtype=squares.dtype).tril()
        direction = direction / direction.norm(2, -1, keepdim=True)
        below = paddle.sqrt(squares) * direction
        below = paddle.concat([paddle.zeros([*lead, 1, self.dim - 1], below.dtype), below], -2)
        below = paddle.concat([below, paddle.zeros([*lead, self.dim, 1], below.dtype)], -1)
        return self._completed(below)

    def _completed(self, below):
        """With the diagonal that makes every row a unit vector."""
        tiny = paddle.finfo(below.dtype).tiny
        return below + paddle.diag_embed(paddle.sqrt((1.0 - below.pow(2).sum(-1)).clip(min=tiny)))

    def _vine(self, shape):
        partial = 2.0 * self._betas.sample(shape) - 1.0
        rows, start = [], 0
        lead = partial.shape[:-1]
        for i in range(self.dim):
            r = partial[..., start : start + i]
            start += i
            rest = paddle.concat([paddle.ones([*lead, 1], r.dtype), paddle.cumprod(paddle.sqrt(1 - r * r), -1)], -1)
            entries = paddle.concat([r * rest[..., :-1], rest[..., -1:]], -1) if i else rest
            zeros = [paddle.zeros([*lead, self.dim - 1 - i], r.dtype)] if i + 1 < self.dim else []
            rows.append(paddle.concat([entries, *zeros], -1))
        return paddle.stack(rows, -2)

    def log_prob(self, value):
        diagonal = paddle.diagonal(value, axis1=-1, axis2=-2)[..., 1:]
        order = paddle.arange(2, self.dim + 1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        density = (order * paddle.log(diagonal)).sum(-1)
        half = 0.5 * (self.dim - 1)
        alpha = self.concentration + half
        denominator = paddle.lgamma(alpha) * (self.dim - 1)
        # The multivariate gamma function of alpha - 1/2 in dim - 1 dimensions.
        p = self.dim - 1
        j = paddle.arange(p, dtype=self.concentration.dtype) * 0.5
        multi = p * (p - 1) / 4 * math.log(math.pi) + paddle.lgamma((alpha - 0.5).unsqueeze(-1) - j).sum(-1)
        return density - (half * math.log(math.pi) + multi - denominator)
