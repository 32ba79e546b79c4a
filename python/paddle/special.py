"""Special functions, under the names that other frameworks have for them."""

from .tensor import expm1, logsumexp, softmax

__all__ = ["logsumexp", "softmax", "expm1"]
