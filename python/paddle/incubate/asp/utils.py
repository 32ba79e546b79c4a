"""Masks of n:m sparsity as NumPy arrays: at least n of m elements are zero."""

from __future__ import annotations

import enum
import functools
import itertools

import numpy as np

__all__ = []


class MaskAlgo(enum.Enum):
    """Which function makes a mask."""

    MASK_1D = "get_mask_1d"
    MASK_2D_GREEDY = "get_mask_2d_greedy"
    MASK_2D_BEST = "get_mask_2d_best"


class CheckMethod(enum.Enum):
    """Which function checks one."""

    CHECK_1D = "check_mask_1d"
    CHECK_2D = "check_mask_2d"

    @staticmethod
    def get_checking_method(mask_algo):
        """The check for what ``mask_algo`` makes."""
        if not isinstance(mask_algo, MaskAlgo):
            raise AssertionError(f"mask_algo should be MaskAlgo type, got {type(mask_algo)}")
        return CheckMethod.CHECK_1D if mask_algo is MaskAlgo.MASK_1D else CheckMethod.CHECK_2D


def calculate_density(x) -> float:
    """The share of elements that aren't zero."""
    x = np.asarray(x)
    return float(np.count_nonzero(x)) / x.size


def _padded(mat, m, both):
    mat = np.asarray(mat)
    if mat.ndim > 2:
        raise AssertionError(f"The input x should be one or two dimensional, got {mat.ndim} dimensions")
    mat = np.atleast_2d(mat)
    rows, columns = -mat.shape[0] % m if both else 0, -mat.shape[1] % m
    return np.pad(mat, ((0, rows), (0, columns)))


def _blocks(padded, m):
    """[rows / m, columns / m, m, m], a view."""
    rows, columns = padded.shape
    return padded.reshape(rows // m, m, columns // m, m).transpose(0, 2, 1, 3)


def _whole(blocks, shape, padded_shape):
    full = blocks.transpose(0, 2, 1, 3).reshape(padded_shape)
    return full[: shape[0], : shape[1]].reshape(shape)


def check_mask_1d(mat, n, m) -> bool:
    """Whether of every m elements in a row (padded with zeros) at least n are zero."""
    groups = _padded(mat, m, False).reshape(-1, m)
    return bool((np.count_nonzero(groups, axis=1) <= m - n).all())


def get_mask_1d(mat, n, m):
    """Zeros at the n of every m elements in a row that are smallest in size, else ones, in the shape of ``mat``."""
    mat = np.asarray(mat)
    padded = _padded(mat, m, False)
    groups = padded.reshape(-1, m)
    mask = np.zeros_like(groups)
    np.put_along_axis(mask, np.argsort(np.abs(groups), axis=1, kind="stable")[:, n:], 1, axis=1)
    return mask.reshape(padded.shape)[:, : np.atleast_2d(mat).shape[1]].reshape(mat.shape)


def check_mask_2d(mat, n, m) -> bool:
    """Whether in every m x m block (padded with zeros) each row and each column has at least n zeros."""
    nonzero = _blocks(_padded(mat, m, True), m) != 0
    return bool((nonzero.sum(-1) <= m - n).all() and (nonzero.sum(-2) <= m - n).all())


def _greedy(block, n, m):
    """The largest first, where its row and its column have room."""
    mask, rows, columns = np.zeros((m, m)), np.zeros(m, int), np.zeros(m, int)
    for index in np.argsort(np.abs(block), axis=None)[::-1]:
        i, j = divmod(int(index), m)
        if rows[i] < n and columns[j] < n:
            mask[i, j] = 1.0
            rows[i] += 1
            columns[j] += 1
    return mask


def get_mask_2d_greedy(mat, n, m):
    """Ones at elements such that m x m blocks have n of them in each row and column at most, the largest first."""
    padded = _padded(mat, m, True)
    masks = np.array([[_greedy(b, n, m) for b in row] for row in _blocks(padded, m)])
    return _whole(masks, np.atleast_2d(mat).shape, padded.shape)


@functools.cache
def _patterns(n, m):
    """All m x m masks with n ones in every row and column: [count, m, m]."""
    rows = [r for r in itertools.product((0, 1), repeat=m) if sum(r) == n]
    return np.array([p for p in itertools.product(rows, repeat=m) if (np.sum(p, axis=0) == n).all()], float)


def get_mask_2d_best(mat, n, m):
    """Of the masks with n ones in every row and column of m x m blocks, those that keep the largest sum of sizes."""
    padded, patterns = _padded(mat, m, True), _patterns(n, m)
    blocks = _blocks(np.abs(padded), m)
    sums = np.tensordot(blocks.reshape(*blocks.shape[:2], -1), patterns.reshape(len(patterns), -1), axes=(2, 1))
    return _whole(patterns[sums.argmax(-1)], np.atleast_2d(mat).shape, padded.shape)


_FUNCTIONS = {f.__name__: f for f in (get_mask_1d, get_mask_2d_greedy, get_mask_2d_best, check_mask_1d, check_mask_2d)}


def _as_matrix(t):
    """A tensor of one to four dimensions as the matrix whose rows are grouped, and what undoes that."""
    if t.ndim <= 1:
        return t.reshape(1, -1), lambda m: m.reshape(t.shape)
    if t.ndim == 2:
        return t, lambda m: m
    if t.ndim == 3:
        return t.reshape(t.shape[0] * t.shape[1], t.shape[2]), lambda m: m.reshape(t.shape)
    if t.ndim == 4:  # filters: groups run over input channels
        moved = t.transpose(0, 2, 3, 1)
        return moved.reshape(-1, t.shape[1]), lambda m: m.reshape(moved.shape).transpose(0, 3, 1, 2)
    raise ValueError(f"The dimension of input tensor is not supported in create_mask, Only dimension < 4 is supported but got {t.ndim}")


def create_mask(tensor, func_name=MaskAlgo.MASK_1D, n=2, m=4):
    """A mask of ones and zeros, in the shape and dtype of ``tensor`` (an array of up to four dimensions)."""
    tensor = np.asarray(tensor)
    matrix, back = _as_matrix(tensor)
    return back(_FUNCTIONS[MaskAlgo(func_name).value](matrix, n=n, m=m)).astype(tensor.dtype)


def check_sparsity(tensor, func_name=CheckMethod.CHECK_1D, n=2, m=4) -> bool:
    """Whether ``tensor`` (an array of up to four dimensions) has the sparsity that ``func_name`` checks."""
    return _FUNCTIONS[CheckMethod(func_name).value](_as_matrix(np.asarray(tensor))[0], n=n, m=m)
