"""Products, means and counts along axes, and running sums."""

from __future__ import annotations

import builtins

from ..base import core
from ..base.core import _C_ops
from ._common import (
    _INTEGERS,
    accepts,
    axes_list,
    axis_in,
    finish,
    is_inexact,
)


@accepts(x="input", axis="dim")
def prod(x, axis=None, keepdim=False, dtype=None, out=None, name=None):
    """The product over `axis` (by default all), in `dtype`."""
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    axes = axes_list(axis)
    return finish(_C_ops.prod(x, axes, keepdim, not axes), out)


@accepts(x="input", axis="dim")
def mean_form(x, axis=None, keepdim=False, name=None, *, dtype=None, out=None):
    """The mean over `axis` (by default all), in `dtype`."""
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    return finish(_C_ops.mean(x, axes_list(axis), keepdim), out)


@accepts(x="input", axis="dim")
def nansum(x, axis=None, dtype=None, keepdim=False, name=None):
    """The sum over `axis` of what is not NaN."""
    return _C_ops.sum(
        _C_ops.where(_C_ops.isnan(x), _C_ops.full_like(x, 0, None, None), x), axes_list(axis), dtype, keepdim
    )


@accepts(x="input", axis="dim")
def nanmean(x, axis=None, keepdim=False, name=None):
    """The mean over `axis` of what is not NaN."""
    count = _C_ops.sum(_C_ops.cast(_C_ops.logical_not(_C_ops.isnan(x)), x.dtype), axes_list(axis), None, keepdim)
    return nansum(x, axis, None, keepdim) / count


@accepts(x="input", axis="dim")
def count_nonzero(x, axis=None, keepdim=False, name=None):
    """How many elements along `axis` are not zero."""
    hit = _C_ops.not_equal(x, _C_ops.full([], 0, x.dtype, None))
    return _C_ops.sum(_C_ops.cast(hit, core.int64), axes_list(axis), core.int64, keepdim)


@accepts(x="input", axis="dim")
def cumsum(x, axis=None, dtype=None, name=None, *, out=None):
    """Running sums along `axis`; without one, of the flattened `x`."""
    if dtype is None and x.dtype in _INTEGERS:
        dtype = core.int64
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    return finish(_C_ops.cumsum(x, -1 if axis is None else axis, axis is None, False, False), out)


@accepts(x="input", dim="axis")
def cumprod(x, dim=None, *, dtype=None, out=None, name=None):
    """Running products along `dim`; without one, of the flattened `x`."""
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    if dim is None:
        x, dim = _C_ops.flatten(x, 0, -1), 0
    return finish(_C_ops.cumprod(x, dim, False, False), out)


def _running(name):
    operator = getattr(_C_ops, name)

    @accepts(x="input", axis="dim")
    def form(x, axis=None, dtype="int64", name=None, *, out=None):
        if axis is None:
            x, axis = _C_ops.flatten(x, 0, -1), 0
        return finish(operator(x, axis, dtype), out)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"The running {name[3:]}imum along `axis` (by default of the flattened `x`) and its index."
    return form


cummax, cummin = _running("cummax"), _running("cummin")


@accepts(x="input", axis="dim")
def logcumsumexp(x, axis=None, dtype=None, name=None, *, out=None):
    """log of the running sums of exp(x) along `axis`; without one, of the flattened `x`."""
    if dtype is None and not is_inexact(x.dtype):
        dtype = core.get_default_dtype()
    if dtype is not None and x.dtype != dtype:
        x = _C_ops.cast(x, dtype)
    return finish(_C_ops.logcumsumexp(x, -1 if axis is None else axis, axis is None, False, False), out)


@accepts(x="input", axis="dim")
def diff(x, n=1, axis=-1, prepend=None, append=None, name=None, *, out=None):
    """The `n`-th differences of neighbours along `axis`."""
    if n < 1:
        raise ValueError(f"The value of n must be a positive integer, but got {n}")
    axis = axis_in(axis, x.ndim, "diff")
    parts = [p for p in (prepend, x, append) if p is not None]
    if len(parts) > 1:
        x = _C_ops.concat(parts, axis)
    if n > 1:  # what is empty stays so
        n = builtins.max(builtins.min(n, x.shape[axis]), 1)
    for _ in range(n):
        size = x.shape[axis]
        high = _C_ops.slice(x, [axis], [1], [builtins.max(size, 1)], [], [])
        low = _C_ops.slice(x, [axis], [0], [builtins.max(size - 1, 0)], [], [])
        x = _C_ops.logical_xor(high, low) if x.dtype == core.bool_ else high - low
    return finish(x, out)
