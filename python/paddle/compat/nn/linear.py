"""Linear layers, as PyTorch has them."""

from __future__ import annotations

import math

from paddle import nn

from .functional import linear

__all__ = []


class Linear(nn.Layer):
    """x W^T + b, with W [out_features, in_features] drawn uniformly within 1 / sqrt(in_features)."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1.0 / math.sqrt(in_features) if in_features > 0 else 0.0
        self._initializer = nn.initializer.Uniform(-bound, bound)
        self.weight = self.create_parameter(
            [out_features, in_features], dtype=dtype, default_initializer=self._initializer
        )
        self.bias = (
            self.create_parameter([out_features], dtype=dtype, is_bias=True, default_initializer=self._initializer)
            if bias
            else None
        )

    def reset_parameters(self):
        """Draws the parameters anew."""
        for p in (self.weight, self.bias):
            if p is not None:
                self._initializer(p)

    def forward(self, input):
        return linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
