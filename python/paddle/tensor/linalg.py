"""Products of matrices and vectors, norms, covariances. Decompositions are not here."""

from __future__ import annotations

import math

from ..base import core
from ..base.core import _C_ops
from ._common import (
    Tensor,
    accepts,
    axes_list,
    axis_in,
    check_tensors,
    finish,
    is_complex,
    merged_rows,
    sizes_agree,
    tensor_of,
)


def _matmul(x, y):
    return _C_ops.matmul(x, y, False, False)


def mm(input, mat2, name=None, *, out=None):
    """input @ mat2."""
    return finish(_matmul(input, mat2), out)


@accepts(x="input", y="mat2")
def bmm(x, y, name=None, *, out=None):
    """Products of two batches [b, m, k] and [b, k, n] of matrices.

    Raises:
        ValueError: other shapes.
    """
    check_tensors("bmm", x=x, y=y)
    if x.ndim != 3 or y.ndim != 3:
        raise ValueError(
            f"x and y should be 3-dimensional. But received x's dimension: {x.shape}, y's dimension: {y.shape}"
        )
    if not sizes_agree(x.shape[2], y.shape[1]):
        raise ValueError(
            f"x's width must be equal with y's height. But received x's shape: {x.shape}, y's shape: {y.shape}"
        )
    if not sizes_agree(x.shape[0], y.shape[0]):
        raise ValueError(
            f"x's batch (shape[0]) must be equal with y's batch (shape[0]). But received {x.shape}, {y.shape}"
        )
    return finish(_matmul(x, y), out)


@accepts(x="input")
def mv(x, vec, name=None, *, out=None):
    """The product of a matrix and a vector."""
    if x.ndim != 2 or vec.ndim != 1:
        raise ValueError(f"[mv] expected a matrix and a vector, got shapes {x.shape} and {vec.shape}")
    return finish(_matmul(x, vec), out)


@accepts(x="input", y="tensor other")
def dot(x, y, name=None, *, out=None):
    """The sum of products over the last axis of two tensors of rank 1 or 2."""
    check_tensors("dot", x=x, y=y)
    if x.ndim not in (1, 2) or x.ndim != y.ndim:
        raise ValueError(f"[dot] expected two tensors of rank 1, or two of rank 2, got shapes {x.shape} and {y.shape}")
    return finish(_C_ops.sum(x * y, [-1], x.dtype, False), out)


def vecdot(x, y, axis=-1, name=None):
    """Sums of conj(x) y along `axis`."""
    return _C_ops.sum(_C_ops.conj(x) * y, [axis], None, False)


@accepts(x="input", y="other", axis="dim")
def cross(x, y, axis=9, name=None, *, out=None):
    """The cross product along `axis`, by default the first of size 3.

    Raises:
        ValueError: no axis of size 3.
    """
    if axis is None or axis == 9:
        found = [a for a, n in enumerate(x.shape) if n == 3]
        if not found:
            raise ValueError(f"[cross] expected an axis of size 3, got shape {x.shape}")
        axis = found[0]
    axis = axis_in(axis, x.ndim, "cross")
    if x.shape[axis] != 3:
        raise ValueError(f"[cross] expected size 3 along axis {axis}, got shape {x.shape}")
    a, b = _C_ops.unbind(x, axis), _C_ops.unbind(y, axis)
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return finish(_C_ops.stack(parts, axis), out)


def _pair(axes):
    if isinstance(axes, Tensor):
        axes = axes.tolist()
    if isinstance(axes, int):
        return None
    axes = list(axes)
    if not axes:
        return [], []
    if isinstance(axes[0], int):
        return axes, axes
    first = axes[0].tolist() if isinstance(axes[0], Tensor) else list(axes[0])
    second = first if len(axes) < 2 else axes[1].tolist() if isinstance(axes[1], Tensor) else list(axes[1])
    longer = max(first, second, key=len)
    return first + longer[len(first) :], second + longer[len(second) :]


def tensordot(x, y, axes=2, name=None):
    """Sums of products over axes of `x` paired with axes of `y`; a number: the last of `x` and the first of `y`."""
    pair = _pair(axes)
    if pair is None:
        pair = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    left, right = ([axis_in(a, t.ndim, "tensordot") for a in p] for p, t in zip(pair, (x, y)))
    # An axis of size 1 is summed on its own, so the other may have any size.
    for a, b in zip(left, right):
        if not sizes_agree(x.shape[a], y.shape[b]):
            if x.shape[a] == 1:
                y = _C_ops.sum(y, [b], None, True)
            elif y.shape[b] == 1:
                x = _C_ops.sum(x, [a], None, True)
            else:
                raise ValueError(f"[tensordot] sizes {x.shape[a]} and {y.shape[b]} of paired axes differ")
    free_x = [a for a in range(x.ndim) if a not in left]
    free_y = [a for a in range(y.ndim) if a not in right]
    size = math.prod(x.shape[a] for a in left)
    rows = math.prod(x.shape[a] for a in free_x)
    columns = math.prod(y.shape[a] for a in free_y)
    shape = [x.shape[a] for a in free_x] + [y.shape[a] for a in free_y]
    x2 = _C_ops.reshape(_C_ops.transpose(x, free_x + left), [rows, size])
    y2 = _C_ops.reshape(_C_ops.transpose(y, right + free_y), [size, columns])
    return _C_ops.reshape(_matmul(x2, y2), shape)


def multi_dot(x, name=None):
    """The product of matrices in the cheapest order; the first and last may be vectors."""
    if len(x) < 2:
        raise ValueError(f"[multi_dot] expected at least 2 tensors, got {len(x)}")
    parts = list(x)
    drop_first, drop_last = parts[0].ndim == 1, parts[-1].ndim == 1
    if drop_first:
        parts[0] = _C_ops.unsqueeze(parts[0], [0])
    if drop_last:
        parts[-1] = _C_ops.unsqueeze(parts[-1], [1])
    n = len(parts)
    sizes = [p.shape[0] for p in parts] + [parts[-1].shape[1]]
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            options = [(cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i][j], cut[i][j] = min(options)

    def product(i, j):
        return parts[i] if i == j else _matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    out = product(0, n - 1)
    drop = [0] * drop_first + [-1] * drop_last
    return _C_ops.squeeze(out, drop) if drop else out


def vector_norm(x, p=2.0, axis=None, keepdim=False, name=None, *, dtype=None, out=None):
    """The `p`-norm of the elements along `axis` (by default all); p may be inf, -inf, 0."""
    check_tensors("vector_norm", x=x)
    if not isinstance(p, (int, float)):
        raise core.ArgumentError(f"[vector_norm] expected p to be a number, got {p!r}")
    if dtype is not None:
        x = _C_ops.cast(x, dtype)
    p, axes = float(p), axes_list(axis)
    if is_complex(x.dtype):
        x = _C_ops.abs(x)
    if p == 2:
        result = _C_ops.frobenius_norm(x, axes, keepdim, not axes)
    elif len(axes) <= 1:
        result = _C_ops.p_norm(x, p, axes[0] if axes else -1, 1e-12, keepdim, not axes)
    else:
        rows, kept = merged_rows(x, axes)
        result = _C_ops.p_norm(rows, p, -1, 1e-12, False, False)
        result = _C_ops.reshape(result, kept) if keepdim else result
    return finish(result, out)


def matrix_norm(x, p="fro", axis=[-2, -1], keepdim=False, name=None):  # noqa: B006 - official's default
    """A norm of the matrices in the two axes `axis`: "fro", 1, -1, inf, -inf (and "nuc", 2, -2 by singular values)."""
    axes = [axis_in(a, x.ndim, "norm") for a in axis]
    if is_complex(x.dtype) and p not in ("nuc", 2, -2):
        x = _C_ops.abs(x)
    if p == "fro":
        return _C_ops.frobenius_norm(x, axes, keepdim, False)
    if p in (1, -1, math.inf, -math.inf):
        over, then = (axes[0], axes[1]) if abs(p) == 1 else (axes[1], axes[0])
        sums = _C_ops.sum(_C_ops.abs(x), [over], None, True)
        result = (_C_ops.max if p > 0 else _C_ops.min)(sums, [then], True)
        return result if keepdim else _C_ops.squeeze(result, axes)
    if p not in ("nuc", 2, -2):
        raise ValueError(f"just support p type inf,-inf,1,-1,2,-2,'fro','nuc', but got {p}")
    from ..linalg import svdvals

    order = [a for a in range(x.ndim) if a not in axes] + axes
    values = svdvals(_C_ops.transpose(x, order))
    result = {"nuc": lambda v: _C_ops.sum(v, [-1], None, False), 2: lambda v: _C_ops.max(v, [-1], False),
              -2: lambda v: _C_ops.min(v, [-1], False)}[p](values)  # fmt: skip
    return _C_ops.unsqueeze(result, sorted(axes)) if keepdim else result


@accepts(x="input", axis="dim")
def norm(x, p=None, axis=None, keepdim=False, out=None, dtype=None, name=None):
    """A norm of `x`.

    Args:
        p: a number for vectors, also "fro" or "nuc" for matrices; None is 2 (for two axes the largest singular
            value).
        axis: one axis, or two for matrix norms; None is all elements.
    """
    if dtype is not None:
        x = _C_ops.cast(x, dtype)
    axes = axes_list(axis)
    if p is None:
        p = 2.0
    if isinstance(p, str):
        if p == "fro" and (axis is None or len(axes) <= 2):
            return finish(vector_norm(x, 2.0, axes, keepdim), out)
        if p != "nuc" or len(axes) not in (0, 2):
            raise ValueError(f"only valid string values are 'fro' or 'nuc', found {p}")
        return finish(matrix_norm(x, "nuc", axes or [-2, -1], keepdim), out)
    if isinstance(axis, (list, tuple)) and len(axes) == 2:
        return finish(matrix_norm(x, p, axes, keepdim), out)
    if len(axes) > 2:
        raise ValueError(f"except axis type int or list (length of list <=2), found axis: {axis}")
    return finish(vector_norm(x, p, axes, keepdim), out)


@accepts(x="input", y="other")
def dist(x, y, p=2, name=None):
    """The `p`-norm of x - y, broadcast."""
    return vector_norm(x - y, p)


def _pairwise(x, y, p):
    left, right = _C_ops.unsqueeze(x, [-2]), _C_ops.unsqueeze(y, [-3])
    return vector_norm(left - right, p, -1)


@accepts(x="x1", y="x2")
def cdist(x, y, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary", name=None):
    """`p`-norms of the differences of each row of `x` and each of `y`: [..., m, n]."""
    wanted = compute_mode == "use_mm_for_euclid_dist" or (
        compute_mode == "use_mm_for_euclid_dist_if_necessary" and (x.shape[-2] > 25 or y.shape[-2] > 25)
    )
    if p == 2 and wanted:
        x2 = _C_ops.sum(x * x, [-1], None, True)
        y2 = _C_ops.unsqueeze(_C_ops.sum(y * y, [-1], None, False), [-2])
        squares = x2 + y2 - 2 * _C_ops.matmul(x, y, False, True)
        return _C_ops.sqrt(_C_ops.maximum(squares, _C_ops.full([], 0, squares.dtype, None)))
    return _pairwise(x, y, p)


def pdist(x, p=2.0, name=None):
    """`p`-norms of the differences of each pair of rows, as a vector."""
    from .creation import triu_indices

    n = x.shape[0]
    rows, columns = _C_ops.unbind(triu_indices(n, n, 1), 0)
    return vector_norm(_C_ops.index_select(x, rows, 0) - _C_ops.index_select(x, columns, 0), p, -1)


def matrix_power(x, n, name=None):
    """Square matrices to the whole power `n`."""
    if n < 0:
        from ..linalg import inv

        return matrix_power(inv(x), -n)
    from .creation import eye

    if n == 0:
        return _C_ops.expand(eye(x.shape[-1], dtype=x.dtype), x.shape)
    result, square = None, x
    while n:
        if n & 1:
            result = square if result is None else _matmul(result, square)
        n >>= 1
        if n:
            square = _matmul(square, square)
    return result


def cov(x, rowvar=True, ddof=True, fweights=None, aweights=None, name=None):
    """The covariance matrix of variables in rows (or columns), observations weighted."""
    if x.ndim > 2 or x.ndim < 1:
        raise ValueError(
            f"Input(x) only support N-D (1<=N<=2) tensor in cov, but received length of Input(input) is {x.ndim}."
        )
    data = _C_ops.unsqueeze(x, [0]) if x.ndim == 1 else x if rowvar else _C_ops.transpose(x, [1, 0])
    weight = None
    for w in (fweights, aweights):
        if w is not None:
            w = _C_ops.cast(w, x.dtype)
            weight = w if weight is None else weight * w
    if weight is None:
        total = float(data.shape[1])
        mean = _C_ops.mean(data, [1], True)
    else:
        total = _C_ops.sum(weight, [], None, False)
        mean = _C_ops.sum(data * weight, [1], None, True) / total
    norm_factor = total if not ddof else total - 1 if aweights is None else (
        total - _C_ops.sum(weight * _C_ops.cast(aweights, x.dtype), [], None, False) / total
    )  # fmt: skip
    centred = data - mean
    scaled = centred if weight is None else centred * weight
    return _C_ops.squeeze(_C_ops.matmul(scaled, centred, False, True) / norm_factor, [])


def corrcoef(x, rowvar=True, name=None):
    """The matrix of correlations of variables in rows (or columns)."""
    c = cov(x, rowvar)
    if c.ndim == 0:
        return c / c
    d = _C_ops.sqrt(_C_ops.diagonal(c, 0, 0, 1))
    return _C_ops.clip(c / _C_ops.unsqueeze(d, [1]) / _C_ops.unsqueeze(d, [0]), -1.0, 1.0)


def histogram(input, bins=100, min=0.0, max=0.0, weight=None, density=False, name=None, **others):  # noqa: A002
    """Counts of the elements in `bins` equal intervals of [min, max] (by default of the range of the elements)."""
    weight = others.get("weights", weight)
    edges = histogram_bin_edges(input, bins, min, max)
    low, high = float(edges[0]), float(edges[-1])
    flat = _C_ops.cast(_C_ops.flatten(input, 0, -1), core.float64)
    at = _C_ops.floor((flat - low) * (bins / (high - low)))
    inside = (flat >= low) & (flat <= high)
    at = _C_ops.cast(
        _C_ops.clip(_C_ops.where(inside, at, _C_ops.full_like(at, 0, None, None)), 0, bins - 1), core.int64
    )
    if weight is None:
        amounts = _C_ops.cast(inside, core.int64)
    else:
        w = _C_ops.flatten(weight, 0, -1)
        amounts = _C_ops.where(inside, w, _C_ops.full_like(w, 0, None, None))
    counts = _C_ops.index_add(_C_ops.full([bins], 0, amounts.dtype, None), at, amounts, 0)
    if density:
        counts = _C_ops.cast(counts, core.float32)
        return counts / (_C_ops.sum(counts, [], None, False) * ((high - low) / bins))
    return counts


def histogram_bin_edges(input, bins=100, min=0.0, max=0.0, name=None):  # noqa: A002
    """The bounds of the intervals of ``histogram``."""
    if max < min:
        raise ValueError("max must be larger than min in range parameter")
    if min == max:
        if min == 0 and input.size:
            min, max = float(_C_ops.min(input, [], False)), float(_C_ops.max(input, [], False))  # noqa: A001
        if min == max:
            min, max = min - 0.5, max + 0.5  # noqa: A001
    from .creation import linspace

    return linspace(min, max, bins + 1, dtype=core.float32)


def histogramdd(x, bins=10, ranges=None, density=False, weights=None, name=None):
    """Counts of points [n, d] in a grid of d axes, and the bounds along each."""
    import numpy as np

    from .. import _core

    points = x.numpy().reshape(-1, x.shape[-1])
    if isinstance(bins, (list, tuple)) and bins and isinstance(bins[0], Tensor):
        bins = [b.numpy() for b in bins]
    spans = None if ranges is None else [tuple(ranges[i : i + 2]) for i in range(0, len(ranges), 2)]
    w = None if weights is None else weights.numpy().reshape(-1)
    counts, edges = np.histogramdd(points, bins, spans, density=density, weights=w)
    return (_core.to_tensor(counts.astype(points.dtype), None, None, True),
            [_core.to_tensor(e.astype(points.dtype), None, None, True) for e in edges])  # fmt: skip


_ = tensor_of
