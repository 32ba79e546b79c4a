"""Linear algebra: products, norms, covariances, decompositions, equations."""

from __future__ import annotations

import math

from . import _core
from .base.core import _C_ops
from .tensor._common import Tensor, accepts, finish, tensor_of
from .tensor.linalg import (  # noqa: F401
    bmm,
    corrcoef,
    cov,
    cross,
    matrix_norm,
    matrix_power,
    multi_dot,
    norm,
    vecdot,
    vector_norm,
)
from .tensor.manipulation import broadcast_shape, matrix_transpose  # noqa: F401

globals().update(_core._public.get("paddle.linalg", {}))
_INF = math.inf
diagonal = _C_ops.diagonal


def _matmul(x, y, transpose_x=False, transpose_y=False):
    return _C_ops.matmul(x, y, transpose_x, transpose_y)


def _batched(x, y):
    """Both with their common batch; `y` a matrix of right sides."""
    batch = broadcast_shape(x.shape[:-2], y.shape[:-2])
    return (
        _C_ops.expand(x, [*batch, *x.shape[-2:]]) if list(x.shape[:-2]) != batch else x,
        _C_ops.expand(y, [*batch, *y.shape[-2:]]) if list(y.shape[:-2]) != batch else y,
    )


@accepts(x="A input", y="B other")
def solve(x, y, left=True, name=None, *, out=None):
    """X with x X = y (X x = y without `left`); a vector `y` gives a vector.

    Raises:
        ValueError: `x` is singular.
    """
    if not left:
        return matrix_transpose(solve(matrix_transpose(x), matrix_transpose(y)))
    vector = y.ndim == 1
    a, b = _batched(x, _C_ops.unsqueeze(y, [-1]) if vector else y)
    result = _C_ops.solve(a, b)
    result = _C_ops.squeeze(result, [-1]) if vector else result
    if out is not None:
        return out._become(result)
    return result


def triangular_solve(x, y, upper=True, transpose=False, unitriangular=False, name=None):
    """X with x X = y for a triangular `x` (x^T X = y with `transpose`; ones on the diagonal with `unitriangular`)."""
    return _C_ops.triangular_solve(*_batched(x, y), upper, transpose, unitriangular)


def cholesky_solve(x, y, upper=False, name=None):
    """X with A X = x, where `y` is the Cholesky factor of A."""
    first = triangular_solve(y, x, upper, upper)
    return triangular_solve(y, first, upper, not upper)


def cholesky_inverse(x, upper=False, name=None):
    """The inverse of the matrix whose Cholesky factor is `x`."""
    from .tensor.creation import eye

    return cholesky_solve(eye(x.shape[-1], dtype=x.dtype), x, upper)


def qr(x, mode="reduced", name=None):
    """x = q r; with mode "r" only r."""
    q, r = _C_ops.qr(x, mode)
    return r if mode == "r" else (q, r)


def svdvals(x, name=None):
    """The singular values in descending order."""
    return _C_ops.svd(x, False)[1]


def eigvalsh(x, UPLO="L", name=None):  # noqa: N803 - the public name
    """The eigenvalues of symmetric matrices in ascending order."""
    return _C_ops.eigvalsh(x, UPLO)


def _scaled_columns(u, s):
    return u * _C_ops.unsqueeze(s, [-2])


@accepts(x="A input")
def lu(x, pivot=True, get_infos=False, name=None, *, out=None):
    """P^T x = L U, packed: (L and U in one matrix, pivots int32 counted from 1), and with `get_infos` for each matrix 0
    or the number of its first pivot that is 0.
    """
    packed, pivots, infos = _C_ops.lu(x, pivot)
    return finish((packed, pivots, infos) if get_infos else (packed, pivots), out)


@accepts(x="LU_data", y="LU_pivots", unpack_ludata="unpack_data")
def lu_unpack(x, y, unpack_ludata=True, unpack_pivots=True, name=None, *, out=None):
    """(P, L, U) of what ``lu`` gives; None for what isn't asked for.

    Raises:
        ValueError: `x` is no matrix, or `y` has another batch.
    """
    p, lower, upper = _C_ops.lu_unpack(x, y, unpack_ludata, unpack_pivots)
    lower, upper = (lower, upper) if unpack_ludata else (None, None)
    return finish((p if unpack_pivots else None, lower, upper), out)


def lu_solve(b, lu, pivots, trans="N", name=None):
    """X with A X = b, where ``lu, pivots = paddle.linalg.lu(A)``.

    Args:
        b: right-hand sides, [..., n, k], of ``lu``'s dtype.
        lu: both factors, [..., n, n]. pivots: the rows' exchanges, [..., n], from 1.
        trans: "N" for A, "T" for its transpose, "C" for its conjugate transpose.

    Raises:
        ValueError: ``trans`` is another.
    """
    if trans not in ("N", "T", "C"):
        raise ValueError(f"[lu_solve] expected trans 'N', 'T' or 'C', got {trans!r}")
    p, lower, upper = _C_ops.lu_unpack(lu, pivots, True, True)
    turned = lambda m: matrix_transpose(m)  # noqa: E731
    if trans == "N":
        first = triangular_solve(lower, _C_ops.matmul(turned(p), b), False, False, True)
        return triangular_solve(upper, first)
    if trans == "C":
        lower, upper = _C_ops.conj(lower), _C_ops.conj(upper)
    first = triangular_solve(turned(upper), b, False)
    return _C_ops.matmul(p, triangular_solve(turned(lower), first, True, False, True))


def pinv(x, rcond=1e-15, hermitian=False, name=None):
    """The pseudo-inverse; singular values up to `rcond` times the largest count as 0."""
    u, s, vh = _C_ops.svd(x, False)
    limit = tensor_of(rcond, s) * _C_ops.max(s, [-1], True)
    zero = _C_ops.full_like(s, 0, None, None)
    inverse = _C_ops.where(s > limit, 1.0 / _C_ops.where(s > limit, s, zero + 1), zero)
    return _matmul(_scaled_columns(matrix_transpose(vh), inverse), u, False, True)


@accepts(x="input")
def matrix_rank(x, tol=None, hermitian=False, atol=None, rtol=None, name=None):
    """How many singular values exceed `tol` (by default the largest times size and precision)."""
    s = _C_ops.abs(_C_ops.eigh(x, "L")[0]) if hermitian else svdvals(x)
    largest = _C_ops.max(s, [-1], True)
    if tol is None and atol is None and rtol is None:
        from .framework.dtype import finfo

        tol = largest * (max(x.shape[-2:]) * finfo(x.dtype).eps)
    elif tol is None:
        absolute = 0.0 if atol is None else atol
        relative = (0.0 if atol is not None else _default_rtol(x)) if rtol is None else rtol
        tol = _C_ops.maximum(tensor_of(absolute, s), largest * relative)
    elif isinstance(tol, Tensor):
        tol = _C_ops.unsqueeze(tol, [-1])
    return _C_ops.sum(_C_ops.cast(s > tol, "int64"), [-1], None, False)


def _default_rtol(x):
    from .framework.dtype import finfo

    return max(x.shape[-2:]) * finfo(x.dtype).eps


def cond(x, p=None, name=None):
    """The condition number in the norm `p` (2 by default)."""
    if p in (None, 2, -2):
        s = svdvals(x)
        high, low = _C_ops.max(s, [-1], False), _C_ops.min(s, [-1], False)
        return low / high if p == -2 else high / low
    if p not in ("fro", "nuc", 1, -1, _INF, -_INF):
        raise ValueError(f"[cond] unsupported {p} for p, only support ('fro', 'nuc', 1, -1, 2, -2, inf, -inf) or none")
    return matrix_norm(x, p) * matrix_norm(_C_ops.inverse(x), p)


def lstsq(x, y, rcond=None, driver=None, name=None):
    """The solution of least squares of x X = y, the residuals, the rank of `x`, and its singular values."""
    from .framework.dtype import finfo

    rcond = finfo(x.dtype).eps * max(x.shape[-2:]) if rcond is None else rcond
    solution = _matmul(pinv(x, rcond), y)
    s = svdvals(x)
    rank = _C_ops.cast(
        _C_ops.sum(_C_ops.cast(s > rcond * _C_ops.max(s, [-1], True), "int64"), [-1], None, False), "int32"
    )
    m, n = x.shape[-2:]
    if m > n and bool((rank == n).all()):
        difference = _matmul(x, solution) - y
        residuals = _C_ops.sum(difference * difference, [-2], None, False)
    else:
        residuals = _C_ops.empty([0], x.dtype, None)
    return solution, residuals, rank, s


def matrix_exp(x, name=None):
    """The exponential of square matrices: a Taylor polynomial of the scaled matrix, squared back."""
    from .tensor.creation import eye

    sizes = _C_ops.sum(_C_ops.abs(x), [-2], None, False)
    sizes = _C_ops.where(_C_ops.isfinite(sizes), sizes, _C_ops.full([], 0, sizes.dtype, None))  # the others give NaN
    size = float(_C_ops.max(sizes, [], False)) if x.size else 0.0
    squarings = max(0, math.ceil(math.log2(size)) + 2) if size > 0 else 0
    scaled = x / 2.0**squarings
    result = term = _C_ops.expand(eye(x.shape[-1], dtype=x.dtype), x.shape)
    for k in range(1, 19):
        term = _matmul(term, scaled) / float(k)
        result = result + term
    for _ in range(squarings):
        result = _matmul(result, result)
    return result


def ormqr(x, tau, y, left=True, transpose=False, name=None):
    """`y` times the orthogonal matrix of ``householder_product``, from the left or the right."""
    m = x.shape[-2]
    batch = list(x.shape[:-2])
    padded = _C_ops.concat([x, _C_ops.full([*batch, m, m - x.shape[-1]], 0, x.dtype, None)], -1)
    q = _C_ops.householder_product(padded, tau)
    return _matmul(q, y, transpose, False) if left else _matmul(y, q, False, transpose)


def svd_lowrank(x, q=None, niter=2, M=None, name=None):  # noqa: N803 - the public name
    """The `q` largest singular values and their vectors, by projection onto a random subspace."""
    from .tensor.random import randn

    m, n = x.shape[-2:]
    q = min(6, m, n) if q is None else q
    a = x if M is None else x - M
    basis = _C_ops.qr(_matmul(a, randn([n, q], dtype=x.dtype)), "reduced")[0]
    for _ in range(niter):
        basis = _C_ops.qr(_matmul(a, basis, True), "reduced")[0]
        basis = _C_ops.qr(_matmul(a, basis), "reduced")[0]
    u, s, vh = _C_ops.svd(_matmul(basis, a, True), False)
    return _matmul(basis, u), s, matrix_transpose(vh)


def pca_lowrank(x, q=None, center=True, niter=2, name=None):
    """``svd_lowrank`` of `x` with the mean of each column taken away."""
    if center:
        x = x - _C_ops.mean(x, [-2], True)
    return svd_lowrank(x, q, niter)


def __getattr__(name):
    import paddle

    if name.startswith("__"):
        raise AttributeError(f"module 'paddle.linalg' has no attribute {name!r}")
    try:
        return getattr(paddle, name)
    except AttributeError:
        raise AttributeError(f"module 'paddle.linalg' has no attribute {name!r}") from None
