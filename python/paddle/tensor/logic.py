"""Comparisons of whole tensors."""

from __future__ import annotations

from .. import _core
from ..base.core import _C_ops
from ._common import Tensor, accepts
from .attribute import is_empty  # noqa: F401


def is_tensor(x):
    """Whether `x` is a Tensor."""
    return isinstance(x, Tensor)


@accepts(x="input", y="other")
def equal_all(x, y, name=None):
    """Whether shapes and all elements are equal, as a tensor."""
    if list(x.shape) != list(y.shape):
        return _core.to_tensor(False, None, None, True)
    return _C_ops.equal_all(x, y)
