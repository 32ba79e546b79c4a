"""Statistics: deviation, variance, medians, quantiles."""

from __future__ import annotations

from ..base import core
from ..base.core import _C_ops
from ._common import Tensor, accepts, axes_list, finish, is_inexact, merged_rows


@accepts(x="input", axis="dim")
def var(x, axis=None, unbiased=None, keepdim=False, name=None, *, correction=1, out=None):
    """The variance over `axis`, with the divisor n - 1 (or n without `unbiased`, or n - `correction`)."""
    if unbiased is not None:
        correction = 1 if unbiased else 0
    return finish(_C_ops.var(x, axes_list(axis), keepdim, correction != 0, float(correction)), out)


@accepts(x="input", axis="dim")
def std(x, axis=None, unbiased=True, keepdim=False, name=None, *, correction=None, out=None):
    """The standard deviation over `axis`, with the divisor n - 1 (or n without `unbiased`)."""
    if correction is None:
        correction = 1 if unbiased else 0
    return finish(_C_ops.std(x, axes_list(axis), keepdim, correction != 0, float(correction)), out)


def _as_float(x):
    if is_inexact(x.dtype):
        return x
    return _C_ops.cast(x, core.get_default_dtype())


def _pick(ordered, position):
    """Elements of the last axis at positions of the same leading shape."""
    return _C_ops.take_along_axis(ordered, position, ordered.ndim - 1)


def _shared(picked, rows):
    """`picked` of the last axis of `rows`; its gradient is shared evenly by all elements that equal it."""
    if rows.stop_gradient or not core.grad_enabled():
        return picked
    picked = picked.detach()
    alike = _C_ops.logical_and(_C_ops.equal(rows, picked), _C_ops.isfinite(rows))
    nothing = _C_ops.where(alike, rows - picked, _C_ops.full_like(rows, 0, None, None))  # 0, with a slope of 1
    count = _C_ops.sum(_C_ops.cast(alike, rows.dtype), [-1], None, True)
    return picked + _C_ops.sum(nothing, [-1], None, True) / _C_ops.clip(count, 1, float("inf"))


def _full_as(x, value, dtype):
    return _C_ops.full(list(x.shape[:-1]) + [1], value, dtype, None)


@accepts(x="input", axis="dim")
def median(x, axis=None, keepdim=False, mode="avg", name=None, *, out=None):
    """The median over `axis` (by default all); between two values their mean, or with mode "min" the lower.

    With "min" and an `axis`, also the index. NaN where there is one.
    """
    return _median(x, axis, keepdim, mode, out, skip_nan=False)


@accepts(x="input", axis="dim")
def nanmedian(x, axis=None, keepdim=False, mode="avg", name=None, *, out=None):
    """``median`` of what is not NaN."""
    return _median(x, axis, keepdim, mode, out, skip_nan=True)


def _median(x, axis, keepdim, mode, out, skip_nan):
    if mode not in ("avg", "min"):
        raise ValueError(f"Mode {mode} is not supported. Must be avg or min.")
    if not isinstance(x, Tensor):
        raise TypeError("In median, the input x should be a Tensor.")
    if mode == "avg" and str(x.dtype) != "paddle.float64" and not is_inexact(x.dtype):
        x = _as_float(x)
    rows, kept = merged_rows(x, axes_list(axis))
    if rows.shape[-1] == 0:
        result = _C_ops.full(kept if keepdim else list(rows.shape[:-1]), float("nan"), x.dtype, None)
        return finish(result, out)
    floating = is_inexact(x.dtype)
    bad = _C_ops.isnan(rows) if floating else None
    clean = rows if bad is None else _C_ops.where(bad, _C_ops.full_like(rows, float("inf"), None, None), rows)
    ordered, index = _C_ops.argsort(clean, -1, False, True)
    n = rows.shape[-1]
    count = _full_as(rows, n, core.int64)
    if skip_nan and bad is not None:
        count = n - _C_ops.sum(_C_ops.cast(bad, core.int64), [-1], None, True)
    low = _C_ops.clip((count - 1) // 2, 0, n - 1)
    high = _C_ops.clip(count // 2, 0, n - 1)
    result = _shared(_pick(ordered, low), clean)
    if mode == "avg":
        result = (result + _shared(_pick(ordered, high), clean)) / 2
    place = _pick(index, low)
    if bad is not None:
        nan = _C_ops.full_like(result, float("nan"), None, None)
        if skip_nan:
            result = _C_ops.where(count == 0, nan, result)
        else:
            any_bad = _C_ops.any(bad, [-1], True)
            result = _C_ops.where(any_bad, nan, result)
            first = _C_ops.argmax(_C_ops.cast(bad, core.int32), -1, True, False, core.int64)
            place = _C_ops.where(any_bad, first, place)
    shape = kept if keepdim else list(rows.shape[:-1])
    result = _C_ops.reshape(result, shape)
    if mode == "min" and isinstance(axis, int):
        return finish((result, _C_ops.reshape(place, shape)), out)
    return finish(result, out)


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@accepts(x="input", axis="dim")
def quantile(x, q, axis=None, keepdim=False, interpolation="linear", name=None, *, out=None):
    """The quantiles `q` (a number, several, or a tensor; in [0, 1]) over `axis`; several make a new first axis.

    NaN where there is one.
    """
    return finish(_quantile(x, q, axis, keepdim, interpolation, skip_nan=False), out)


@accepts(x="input", axis="dim")
def nanquantile(x, q, axis=None, keepdim=False, interpolation="linear", name=None, *, out=None):
    """``quantile`` of what is not NaN."""
    return finish(_quantile(x, q, axis, keepdim, interpolation, skip_nan=True), out)


def _quantile(x, q, axis, keepdim, interpolation, skip_nan):
    if not isinstance(x, Tensor):
        raise TypeError("input x should be a Tensor.")
    if interpolation not in _INTERPOLATIONS:
        raise ValueError(
            "interpolation must be one of 'linear', 'lower', 'higher', 'midpoint' or 'nearest', but got "
            f"{interpolation!r}"
        )
    several = (isinstance(q, Tensor) and q.ndim > 0) or isinstance(q, (list, tuple))
    points = q.tolist() if isinstance(q, Tensor) and q.ndim else [float(q)] if not several else [float(v) for v in q]
    if not points or any(not 0 <= v <= 1 for v in points):
        raise ValueError("q should be in range [0, 1]")
    rows, kept = merged_rows(_as_float(x), axes_list(axis))
    bad = _C_ops.isnan(rows)
    clean = _C_ops.where(bad, _C_ops.full_like(rows, float("inf"), None, None), rows)
    ordered = _C_ops.argsort(clean, -1, False, True)[0]
    n = rows.shape[-1]
    missing = _C_ops.sum(_C_ops.cast(bad, core.int64), [-1], None, True)
    count = _C_ops.cast(n - missing if skip_nan else _full_as(rows, n, core.int64), core.float64)
    nan = _C_ops.full_like(_C_ops.cast(count, rows.dtype), float("nan"), None, None)
    shape = kept if keepdim else list(rows.shape[:-1])
    results = []
    for point in points:
        at = _C_ops.clip(point * (count - 1), 0, max(n - 1, 0))
        low, high = _C_ops.floor(at), _C_ops.ceil(at)
        if interpolation == "nearest":
            low = high = _C_ops.round(at, 0)
        elif interpolation == "lower":
            high = low
        elif interpolation == "higher":
            low = high
        a = _pick(ordered, _C_ops.cast(low, core.int64))
        if interpolation in ("linear", "midpoint"):
            b = _pick(ordered, _C_ops.cast(high, core.int64))
            share = (
                _C_ops.cast(at - low, rows.dtype) if interpolation == "linear" else _C_ops.full_like(a, 0.5, None, None)
            )
            a = _C_ops.where(_C_ops.logical_and(a == b, _C_ops.isinf(a)), a, a + (b - a) * share)
        a = _C_ops.where((count == 0) if skip_nan else (missing > 0), nan, a)
        results.append(_C_ops.reshape(a, shape))
    return _C_ops.stack(results, 0) if several else results[0]
