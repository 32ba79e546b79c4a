"""Comparisons of whole tensors."""

from __future__ import annotations

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import Tensor, accepts, finish
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


def _out_in_place(kind, count):
    """The form of an operator whose `out` may stand right behind its tensors: ``bitwise_or(x, y, out)``."""
    operator = getattr(_C_ops, kind)

    def form(*args, **kwargs):
        tensors, rest = args[:count], dict(zip(("out", "name"), args[count:]))
        if len(args) > count + 2 or len(args) < count or rest.keys() & kwargs.keys():
            raise core.ArgumentError(f"[{kind}] expected {count} tensors, out and name, got {len(args)} arguments")
        rest |= kwargs
        return finish(operator(*tensors), rest.get("out"))

    form.__name__ = form.__qualname__ = kind
    form.__doc__ = f"``{kind}`` with `out` (Tensor, optional), which receives the result, as a further argument."
    return form


OUT_IN_PLACE = {kind: _out_in_place(kind, 2) for kind in ("bitwise_and", "bitwise_or", "bitwise_xor")}
OUT_IN_PLACE["bitwise_not"] = _out_in_place("bitwise_not", 1)
