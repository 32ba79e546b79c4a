"""Shapes, joining, splitting, repeating and rearranging. Gathering and scattering are in ``indexing``."""

from __future__ import annotations

import math

from .. import _core
from ..base import core
from ..base.core import _C_ops
from ._common import (
    Tensor,
    accepts,
    axes_list,
    axis_in,
    check_tensors,
    finish,
    is_number,
    is_unknown,
    items_of,
    sizes_agree,
)
from .indexing import *  # noqa: F403
from .joining import (  # noqa: F401
    _at_least,
    _at_least_form,
    _axis_number,
    _many,
    _split_form,
    _tensor_list,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    cat,
    chunk,
    column_stack,
    concat,
    concatenate,
    dsplit,
    dstack,
    hsplit,
    hstack,
    row_stack,
    split,
    split_with_sizes,
    stack,
    tensor_split,
    unstack,
    vsplit,
    vstack,
)


def _varargs(op, what, first, more):
    """``x.reshape(2, 3)`` and ``x.reshape([2, 3])``."""
    if first is None and not more:
        raise core.ArgumentError(f"[{op}] missing the required argument '{what}'")
    return [first, *more] if more else first


@accepts(x="input")
def reshape(x, shape=None, *more, name=None, out=None):
    """`x` with another shape; -1 is what remains, 0 the size of `x` there. Shares memory where strides allow it."""
    shape = [shape] if isinstance(shape, int) and not more else _varargs("reshape", "shape", shape, more)
    return finish(_C_ops.reshape(x, shape), out)


@accepts(x="input", perm="dims")
def transpose(x, perm=None, *more, name=None, dim0=None, dim1=None):
    """`x` with its axes in the order `perm`; with two numbers, those axes swapped."""
    if dim0 is not None:
        return swapaxes(x, dim0, dim1)
    if isinstance(perm, int) and len(more) == 1:
        return swapaxes(x, perm, more[0])
    return _C_ops.transpose(x, _varargs("transpose", "perm", perm, more))


def permute(input=None, *given, x=None, dims=None, perm=None):
    """``transpose`` to the order `dims`."""
    given = next((d for d in (dims, perm) if d is not None), given)
    order = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else list(given)
    if not order and (input if x is None else x).ndim:
        raise core.ArgumentError("[permute] missing the required argument 'dims'")
    return _C_ops.transpose(input if x is None else x, axes_list(order))


@accepts(x="input", axis="dim")
def squeeze(x, axis=None, name=None):
    """`x` without axes of size 1: all of them, or those of `axis` that have size 1."""
    return _C_ops.squeeze(x, [] if axis is None else axis)


@accepts(x="input", axis="dim")
def unsqueeze(x, axis=None, name=None):
    """`x` with new axes of size 1."""
    return _C_ops.unsqueeze(x, axis)


@accepts(x="input", shape="size")
def expand(x, shape=None, *more, name=None):
    """`x` broadcast to `shape`; -1 keeps a size."""
    return _C_ops.expand(x, _varargs("expand", "shape", shape, more))


def expand_as(x, y=None, name=None, other=None):
    """`x` broadcast to the shape of `y`."""
    y = other if y is None else y
    check_tensors("expand_as", x=x, y=y)
    return _C_ops.expand(x, y.shape)


@accepts(x="input", repeat_times="dims")
def tile(x, repeat_times=None, name=None):
    """`x` repeated along each axis."""
    return _C_ops.tile(x, repeat_times)


def repeat(input, *repeats):
    """``tile`` as a method with the numbers as arguments."""
    return _C_ops.tile(
        input, list(repeats[0]) if len(repeats) == 1 and not isinstance(repeats[0], int) else list(repeats)
    )


@accepts(x="input", axis="dims dim")
def flip(x, axis=None, name=None):
    """`x` in reverse order along `axis`."""
    return _C_ops.flip(x, axes_list(axis))


reverse = flip


@accepts(x="input", axis="dims dim")
def roll(x, shifts, axis=None, name=None):
    """`x` shifted along `axis`, what leaves comes in on the other side; without an axis, over the flattened `x`."""
    shifts = shifts if isinstance(shifts, Tensor) else axes_list(shifts)
    return _C_ops.roll(x, shifts, axes_list(axis))


@accepts(x="input", k="n", axes="dims")
def rot90(x, k=1, axes=[0, 1], name=None):  # noqa: B006 - official's default
    """`x` turned by `k` right angles from the first of `axes` to the second.

    Raises:
        ValueError: not two different axes.
    """
    axes = [a + x.ndim if a < 0 else a for a in axes]
    if len(axes) != 2 or x.ndim < 2:
        raise ValueError(f"expected total rotation axes == 2, but got axes = {len(axes)}")
    if axes[0] == axes[1] or not all(0 <= a < x.ndim for a in axes):
        raise ValueError(f"[rot90] expected two different axes of {x.ndim}, got {axes}")
    k %= 4
    if k == 0:
        return x
    if k == 2:
        return _C_ops.flip(x, axes)
    order = list(range(x.ndim))
    order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
    if k == 1:
        return _C_ops.transpose(_C_ops.flip(x, [axes[1]]), order)
    return _C_ops.flip(_C_ops.transpose(x, order), [axes[1]])


@accepts(x="input")
def moveaxis(x, source, destination, name=None):
    """`x` with the axes `source` moved to `destination`, the others in their order."""
    source = [axis_in(a, x.ndim, "moveaxis") for a in axes_list(source)]
    destination = [axis_in(a, x.ndim, "moveaxis") for a in axes_list(destination)]
    if len(source) != len(destination) or len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise AssertionError(
            f"[moveaxis] expected as many different destinations as sources, got {source}, {destination}"
        )
    order = [a for a in range(x.ndim) if a not in source]
    for target, origin in sorted(zip(destination, source)):
        order.insert(target, origin)
    return _C_ops.transpose(x, order)


@accepts(x="input", axis0="dim0", axis1="dim1")
def swapaxes(x, axis0, axis1, name=None):
    """`x` with two axes swapped."""
    order = list(range(x.ndim))
    a, b = axis_in(axis0, x.ndim, "swapaxes"), axis_in(axis1, x.ndim, "swapaxes")
    order[a], order[b] = order[b], order[a]
    return _C_ops.transpose(x, order)


swapdims = swapaxes


def t(input, name=None):
    """The transpose of a matrix; vectors and numbers stay.

    Raises:
        ValueError: more than two axes.
    """
    if input.ndim > 2:
        raise ValueError(
            f"Input(input) only support N-D (N<=2) tensor, but received length of Input(input) is {input.ndim}."
        )
    return _C_ops.transpose(input, [1, 0]) if input.ndim == 2 else input


def matrix_transpose(x, name=None):
    """`x` with its last two axes swapped."""
    return swapaxes(x, -1, -2)


@accepts(x="input")
def ravel(x):
    """`x` flattened to one axis."""
    return _C_ops.flatten(x, 0, -1)


@accepts(x="input", axis="dim", shape="sizes")
def unflatten(x, axis, shape, name=None):
    """`x` with one axis split into `shape`."""
    axis = axis_in(axis, x.ndim, "unflatten")
    shape = shape.tolist() if isinstance(shape, Tensor) else list(shape)
    return _C_ops.reshape(x, [*x.shape[:axis], *shape, *x.shape[axis + 1 :]])


def view(x, shape_or_dtype=None, *more, name=None, size=None, dtype=None):
    """`x`'s memory under another shape, or its bytes as another dtype."""
    target = _varargs("view", "shape_or_dtype", next((t for t in (size, dtype, shape_or_dtype) if t is not None), None), ())
    if not more and (isinstance(target, (core.DType, str)) or _is_numpy_type(target)):
        return _core.view_dtype(x, target)
    return _C_ops.reshape(x, [target, *more] if more or isinstance(target, int) else target)


def _is_numpy_type(value):
    return isinstance(value, type) and not isinstance(value, (list, tuple))


def view_as(x, other, name=None):
    """`x`'s memory in the shape of `other`."""
    return _C_ops.reshape(x, other.shape)


def view_as_complex(input):
    """Pairs on the last axis as complex numbers."""
    return _C_ops.as_complex(input)


def view_as_real(input):
    """Complex numbers as pairs on a new last axis."""
    return _C_ops.as_real(input)


@accepts(x="input", axis="dim")
def repeat_interleave(x, repeats, axis=None, name=None, *, output_size=None):
    """Each slice of `x` along `axis` repeated `repeats` times (a number, or one per slice)."""
    if axis is None:
        x, axis = _C_ops.flatten(x, 0, -1), 0
    if isinstance(repeats, Tensor) and repeats.size == 1:
        repeats = _C_ops.expand(_C_ops.reshape(repeats, [1]), [x.shape[axis]]) if is_unknown(repeats) else int(repeats)
    size = -1 if output_size is None else output_size
    if isinstance(repeats, Tensor):
        return _C_ops.repeat_interleave_with_tensor_index(x, repeats, axis, size)
    return _C_ops.repeat_interleave(x, repeats, axis, size)


def broadcast_shape(x_shape, y_shape):
    """The shape that two shapes broadcast to.

    Raises:
        ValueError: they don't.
    """
    out = []
    for i in range(max(len(x_shape), len(y_shape))):
        a = x_shape[-1 - i] if i < len(x_shape) else 1
        b = y_shape[-1 - i] if i < len(y_shape) else 1
        if a == 1 or b == 1:
            out.append(b if a == 1 else a)
            continue
        if not sizes_agree(a, b):
            raise ValueError(f"[broadcast_shape] shapes {list(x_shape)} and {list(y_shape)} don't broadcast")
        out.append(b if _core.trace.is_symint(a) else a)
    return out[::-1]


def broadcast_shapes(*shapes):
    """The shape that all `shapes` broadcast to."""
    out = []
    for shape in shapes:
        out = broadcast_shape(out, list(shape))
    return out


def crop(x, shape=None, offsets=None, name=None):
    """The part of `x` of size `shape` (-1: to the end) that begins at `offsets`."""
    offsets = [0] * x.ndim if offsets is None else offsets
    offsets = items_of(offsets)
    shape = items_of(x.shape if shape is None else shape)
    if len(shape) != x.ndim or len(offsets) != x.ndim:
        raise ValueError(f"[crop] expected {x.ndim} sizes and offsets, got {shape} and {offsets}")
    ends = [x.shape[i] if is_number(s) and s == -1 else offsets[i] + s for i, s in enumerate(shape)]
    for i, (begin, end) in enumerate(zip(offsets, ends)):
        if is_number(begin) and begin < 0 or is_number(end) and is_number(x.shape[i]) and end > x.shape[i]:
            raise ValueError(f"[crop] [{begin}, {end}) is not within axis {i} of size {x.shape[i]}")
    return _C_ops.assign(_C_ops.slice(x, list(range(x.ndim)), offsets, ends, [], []))


def unfold(x, axis, size, step, name=None):
    """Windows of `size` every `step` along `axis`, on a new last axis; a view."""
    return _C_ops.tensor_unfold(x, axis, size, step)


def as_strided(x, shape, stride, offset=0, name=None):
    """`x`'s memory under a shape and strides; a view."""
    return _C_ops.as_strided(x, list(shape), list(stride), offset)


def shard_index(input, index_num, nshards, shard_id, ignore_value=-1):
    """Indices within shard `shard_id` of `nshards` over `index_num`, `ignore_value` for those of other shards.

    Raises:
        ValueError: `shard_id` is out of range.
    """
    if not 0 <= shard_id < nshards:
        raise ValueError(f"The shard_id({shard_id}) should be in [0, {nshards})")
    size = (index_num + nshards - 1) // nshards
    mine = (input // size) == shard_id
    return _C_ops.where(mine, input % size, _C_ops.full_like(input, ignore_value, None, None))


@accepts(x="input")
def cast(x, dtype):
    """`x` in another dtype."""
    return _C_ops.cast(x, dtype)


def tolist(x):
    """The elements as nested lists of Python numbers."""
    return x.tolist()


def cartesian_prod(x, name=None):
    """All combinations of one element of each vector, as rows."""
    if len(x) == 1:
        return x[0]
    grids = _C_ops.meshgrid(list(x))
    return _C_ops.stack([_C_ops.reshape(g, [-1]) for g in grids], 1)


def combinations(x, r=2, with_replacement=False, name=None):
    """The combinations of `r` elements of a vector, as rows."""
    import itertools

    if x.ndim != 1:
        raise TypeError(f"Expect a 1-D vector, but got x shape {x.shape}")
    if r < 0:
        raise ValueError(f"Expect a non-negative number, but got r={r}")
    if r == 0:
        return _C_ops.empty([0], x.dtype, None)
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(pick(range(x.shape[0]), r))
    if not rows:
        return _C_ops.empty([0, r], x.dtype, None)
    index = _core.to_tensor(rows, core.int64, None, True)
    return _C_ops.reshape(_C_ops.index_select(x, _C_ops.reshape(index, [-1]), 0), [len(rows), r])


def slice(input, axes, starts, ends):  # noqa: A001 - the public name
    """input[..., start:end, ...] along each of `axes`; a view."""
    return _C_ops.slice(input, list(axes), _bounds(starts), _bounds(ends), [], [])


def _bounds(values):
    return values if isinstance(values, Tensor) else [v if isinstance(v, (int, Tensor)) else int(v) for v in values]


def strided_slice(x, axes, starts, ends, strides, name=None):
    """x[..., start:end:stride, ...] along each of `axes`; a view."""
    return _C_ops.strided_slice(x, list(axes), _bounds(starts), _bounds(ends), _bounds(strides))


def narrow(input, dim, start, length):
    """input[..., start:start + length, ...] along `dim`; a view."""
    start = _axis_number(start)
    if start < 0:
        start += input.shape[dim]
    return _C_ops.slice(input, [dim], [start], [start + length], [], [])


def vander(x, n=None, increasing=False, name=None):
    """Powers of a vector as columns, falling unless `increasing`."""
    if x.ndim != 1:
        raise ValueError("The input of x is expected to be a 1-D Tensor.")
    n = x.shape[0] if n is None else n
    if n < 0:
        raise ValueError("N must be non-negative.")
    if n == 0:
        return _C_ops.empty([x.shape[0], 0], x.dtype, None)
    powers = list(range(n)) if increasing else list(range(n))[::-1]
    return _C_ops.stack([_C_ops.full_like(x, 1, None, None) if p == 0 else _C_ops.pow(x, p) for p in powers], 1)


def resize_(x, shape, fill_zero=False, name=None):
    """Gives `x` another shape, keeping its first elements; new ones are 0 if `fill_zero`."""
    n, flat = math.prod(shape), _C_ops.reshape(x, [-1])
    if n > x.size:
        rest = _C_ops.full([n - x.size], 0, x.dtype, None)
        flat = _C_ops.concat([flat, rest], 0)
    else:
        flat = _C_ops.slice(flat, [0], [0], [n], [], [])
    x._become(_C_ops.reshape(flat, list(shape)).detach())
    return x
