"""What the functions of this package share: parameters of one call, and sizes that must be known."""

from __future__ import annotations

import paddle

from ...base import unique_name
from ...nn import functional as F
from ...nn import initializer as I
from ...nn._create import create_named_parameter


class Maker:
    """Parameters of one call, named ``<kind>_<i>.w_0``."""

    def __init__(self, kind: str, name=None) -> None:
        self.name = name or unique_name.generate(kind)

    def weight(self, shape, dtype, attr=None, default=None, is_bias=False):
        """None where ``attr`` is False."""
        return create_named_parameter(self.name, shape, attr, dtype, is_bias, default)

    def bias(self, shape, dtype, attr=None):
        return self.weight(shape, dtype, attr, None, True)

    def fixed(self, shape, dtype, name, value):
        """State that no gradient reaches."""
        attr = paddle.ParamAttr(name=name, initializer=I.Constant(value), trainable=False)
        return self.weight(shape, dtype, attr)


def activated(x, activation):
    if activation is None:
        return x
    function = getattr(F, activation, None) or getattr(paddle, activation, None)
    if function is None:
        raise ValueError(f"[static.nn] no activation is called '{activation}'")
    return function(x)


def known(size, what):
    from ...jit import _trace_api as api

    if api.is_symint(size) or size < 0:
        raise ValueError(f"[static.nn] {what} must be known when the program is built")
    return int(size)


def product(sizes, what) -> int:
    n = 1
    for s in sizes:
        n *= known(s, what)
    return n


def pair(value, n: int) -> list:
    return [value] * n if isinstance(value, int) else list(value)
