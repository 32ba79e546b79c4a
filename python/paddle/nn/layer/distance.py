"""Distances as layers."""

from __future__ import annotations

from .. import functional as F
from .._alias import accepts
from .layers import Layer

__all__ = []


class PairwiseDistance(Layer):
    """The `p`-norm of x - y + `epsilon` over the last dimension of [N, D] or [D] tensors."""

    @accepts(epsilon="eps")
    def __init__(self, p=2.0, epsilon=1e-6, keepdim=False, name=None):
        super().__init__()
        self.p = p
        self.epsilon = epsilon
        self.keepdim = keepdim
        self.name = name

    @property
    def norm(self):
        """p."""
        return self.p

    @norm.setter
    def norm(self, value):
        self.p = value

    @property
    def eps(self):
        """epsilon."""
        return self.epsilon

    @eps.setter
    def eps(self, value):
        self.epsilon = value

    @accepts(x="x1", y="x2")
    def forward(self, x, y):
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim, self.name)

    def extra_repr(self):
        text = f"p={self.p}"
        if self.epsilon != 1e-6:
            text += f", epsilon={self.epsilon}"
        if self.keepdim is not False:
            text += f", keepdim={self.keepdim}"
        if self.name is not None:
            text += f", name={self.name}"
        return text
