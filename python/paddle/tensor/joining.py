"""Joining tensors along axes, and splitting them."""

from __future__ import annotations

from ..base import core
from ..base.core import _C_ops
from ._common import Tensor, accepts, axis_in, finish, tensor_of
from .indexing import *  # noqa: F403


def _tensor_list(x):
    return list(x) if isinstance(x, (list, tuple)) else x


@accepts(x="tensors", axis="dim")
def concat(x, axis=0, name=None, *, out=None):
    """Tensors one after the other along `axis`."""
    return finish(_C_ops.concat(_tensor_list(x), axis), out)


cat = concatenate = concat


@accepts(x="tensors", axis="dim")
def stack(x, axis=0, name=None, *, out=None):
    """Tensors of one shape along a new axis."""
    return finish(_C_ops.stack(_tensor_list(x), axis), out)


def _at_least(x, rank):
    if x.ndim >= rank:
        return x
    if rank == 3 and x.ndim == 2:
        return _C_ops.unsqueeze(x, [2])
    if rank == 3 and x.ndim == 1:
        return _C_ops.unsqueeze(x, [0, 2])
    return _C_ops.reshape(x, [1] * rank) if x.ndim == 0 else _C_ops.unsqueeze(x, [0])


def _at_least_form(rank):
    def form(*inputs, name=None):
        if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
            inputs = inputs[0]
        out = [_at_least(tensor_of(x), rank) for x in inputs]
        return out[0] if len(out) == 1 else out

    form.__name__ = form.__qualname__ = f"atleast_{rank}d"
    form.__doc__ = f"Each input with at least {rank} axes."
    return form


atleast_1d, atleast_2d, atleast_3d = (_at_least_form(n) for n in (1, 2, 3))


def _many(x):
    return [tensor_of(v) for v in x]


@accepts(x="tensors")
def hstack(x, name=None, *, out=None):
    """Tensors side by side: along axis 1, vectors along axis 0."""
    parts = [_at_least(v, 1) for v in _many(x)]
    return finish(_C_ops.concat(parts, 0 if parts[0].ndim == 1 else 1), out)


@accepts(x="tensors")
def vstack(x, name=None, *, out=None):
    """Tensors one below the other; vectors are rows."""
    return finish(_C_ops.concat([_at_least(v, 2) for v in _many(x)], 0), out)


row_stack = vstack


@accepts(x="tensors")
def dstack(x, name=None, *, out=None):
    """Tensors along the third axis."""
    return finish(_C_ops.concat([_at_least(v, 3) for v in _many(x)], 2), out)


@accepts(x="tensors")
def column_stack(x, name=None, *, out=None):
    """Vectors as columns, and matrices, side by side."""
    parts = [_C_ops.reshape(v, [-1, 1]) if v.ndim <= 1 else v for v in _many(x)]
    return finish(_C_ops.concat(parts, 1), out)


def block_diag(inputs, name=None):
    """The matrices `inputs` along the diagonal of a matrix of zeros."""
    parts = [_at_least(v, 2) for v in _many(inputs)]
    width = sum(p.shape[1] for p in parts)
    rows, before = [], 0
    for p in parts:
        rows.append(_C_ops.pad(p, [0, 0, before, width - before - p.shape[1]], 0.0))
        before += p.shape[1]
    return _C_ops.concat(rows, 0)


def _axis_number(axis):
    return int(axis) if isinstance(axis, Tensor) else axis


@accepts(x="tensor input", axis="dim", num_or_sections="split_size_or_sections")
def split(x, num_or_sections, axis=0, name=None):
    """`x` cut along `axis` into a number of equal parts, or into parts of the given sizes (one may be -1).

    Raises:
        ValueError: the sizes don't fit.
    """
    axis = _axis_number(axis)
    if isinstance(num_or_sections, int):
        return _C_ops.split_with_num(x, num_or_sections, axis)
    if isinstance(num_or_sections, Tensor):
        num_or_sections = num_or_sections.tolist()
    if not isinstance(num_or_sections, (list, tuple)):
        kind = type(num_or_sections).__name__
        raise core.ArgumentError(f"[split] expected num_or_sections to be an int, a list or a tuple, got {kind}")
    return _C_ops.split(x, list(num_or_sections), axis)


def split_with_sizes(self, split_sizes, dim=0):
    """Parts of the given sizes along `dim`."""
    return split(self, list(split_sizes), dim)


@accepts(x="input", axis="dim")
def chunk(x, chunks, axis=0, name=None):
    """`x` cut into `chunks` equal parts along `axis`."""
    if isinstance(chunks, (list, tuple, dict)):
        raise core.ArgumentError(f"[chunk] expected chunks to be an int, got {type(chunks).__name__}")
    return split(x, chunks, axis)


@accepts(x="input", axis="dim", num_or_indices="indices_or_sections indices sections")
def tensor_split(x, num_or_indices, axis=0, name=None):
    """`x` cut into a number of parts whose sizes differ by at most one, or at the given indices."""
    axis = axis_in(_axis_number(axis), x.ndim, "tensor_split")
    n = x.shape[axis]
    if isinstance(num_or_indices, int):
        small, larger = divmod(n, num_or_indices)
        sizes = [small + 1] * larger + [small] * (num_or_indices - larger)
        cuts = [sum(sizes[:i]) for i in range(1, len(sizes))]
    else:
        cuts = num_or_indices.tolist() if isinstance(num_or_indices, Tensor) else list(num_or_indices)
    bounds = [0] + [min(c, n) if c >= 0 else max(c + n, 0) for c in cuts] + [n]
    parts = [_C_ops.slice(x, [axis], [a], [max(a, b)], [], []) for a, b in zip(bounds, bounds[1:])]
    return [_C_ops.assign(part) for part in parts] if isinstance(num_or_indices, int) else parts  # as official has it


def _split_form(name, axis_of, least):
    def form(x, num_or_indices, name=None):
        if x.ndim < least:
            raise ValueError(f"[{form.__name__}] expected at least {least} axes, got {x.ndim}")
        return tensor_split(x, num_or_indices, axis_of(x))

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"``tensor_split`` along the axis of {name[0]}stack."
    return form


hsplit = _split_form("hsplit", lambda x: 1 if x.ndim > 1 else 0, 1)


vsplit = _split_form("vsplit", lambda x: 0, 2)


dsplit = _split_form("dsplit", lambda x: 2, 3)


def unstack(x, axis=0, num=None):
    """The parts of `x` along `axis`, without that axis.

    Raises:
        ValueError: `axis` is out of range, or `num` is not its size.
    """
    if not -x.ndim <= axis < x.ndim:
        raise ValueError("`axis` must be in the range [-{0}, {0})".format(x.ndim))
    if num is not None and num != x.shape[axis]:
        raise ValueError(f"[unstack] expected num to be the size {x.shape[axis]} of axis {axis}, got {num}")
    return _C_ops.unstack(x, axis, x.shape[axis])
