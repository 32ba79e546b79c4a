"""The classes of sparse tensors. Both are made of ordinary tensors, so what is computed from them has gradients."""

from __future__ import annotations

import math

import paddle
from paddle import Tensor

from ..framework.printing import format_array
from ..framework.size import Size

__all__ = []


def flat_index(indices, sizes):
    """Coordinates [dims, n] as places in the flattened tensor, int64 [n]."""
    place = paddle.zeros([indices.shape[1]], "int64")
    for row, size in zip(indices, sizes):
        place = place * size + row
    return place


def unflatten(place, sizes):
    """The inverse: coordinates [dims, n]."""
    rows = []
    for size in reversed(sizes):
        rows.append(place % size)
        place = place // size
    return paddle.stack(rows[::-1])


class SparseTensor(Tensor):
    """What both formats share. Operators on dense tensors don't take it: ``to_dense()`` does, or ``paddle.sparse``."""

    def _set(self, shape, values):
        self._shape, self._values = [int(n) for n in shape], values
        return self

    shape = property(lambda self: Size(self._shape))
    ndim = property(lambda self: len(self._shape))
    dtype = property(lambda self: self._values.dtype)
    place = property(lambda self: self._values.place)
    size = property(lambda self: math.prod(self._shape))
    name = property(lambda self: self._values.name)
    is_leaf = property(lambda self: self._values.is_leaf)
    stop_gradient = property(
        lambda self: self._values.stop_gradient, lambda self, stop: setattr(self._values, "stop_gradient", stop)
    )

    @property
    def grad(self):
        """The gradient, of the same format and coordinates; None before ``backward``."""
        g = self._values.grad
        return None if g is None else self.with_values(g)

    def values(self):
        """The elements that are stored: [nnz, ...]."""
        return self._values

    def nnz(self):
        """How many are stored."""
        return self._values.shape[0]

    def is_sparse(self):
        return True

    def is_dense(self):
        return False

    def is_sparse_coo(self):
        return isinstance(self, SparseCooTensor)

    def is_sparse_csr(self):
        return isinstance(self, SparseCsrTensor)

    def numel(self):
        return paddle.to_tensor(self.size, dtype="int64")

    def dim(self):
        return len(self._shape)

    def numpy(self):
        """The elements of ``to_dense()``."""
        return self.to_dense().numpy()

    def backward(self, grad_tensor=None, retain_graph=False):
        """As of dense tensors; `grad_tensor` is sparse with the same coordinates."""
        if isinstance(grad_tensor, SparseTensor):
            grad_tensor = grad_tensor.values()
        self._values.backward(paddle.ones_like(self._values) if grad_tensor is None else grad_tensor, retain_graph)

    def clear_gradient(self, set_to_zero=True):
        self._values.clear_gradient(set_to_zero)

    clear_grad = clear_gradient

    def retain_grads(self):
        self._values.retain_grads()

    def detach(self):
        return self.with_values(self._values.detach())

    def clone(self):
        return self.with_values(self._values.clone())

    def astype(self, dtype):
        return self.with_values(self._values.astype(dtype))

    cast = astype

    def to_sparse_coo(self, sparse_dim=None):
        return self

    def __len__(self):
        return self._shape[0]

    def __add__(self, other):
        return paddle.sparse.add(self, other)

    def __sub__(self, other):
        return paddle.sparse.subtract(self, other)

    def __mul__(self, other):
        return paddle.sparse.multiply(self, other)

    def __truediv__(self, other):
        return paddle.sparse.divide(self, other)

    def __matmul__(self, other):
        return paddle.sparse.matmul(self, other)

    def __neg__(self):
        return paddle.sparse.neg(self)

    __hash__ = object.__hash__

    def __str__(self):
        return repr(self)

    def __format__(self, spec):
        return format(repr(self), spec)

    def _describe(self, parts):
        text = ", \n       ".join(f"{name}={format_array(v.numpy(), 8 + len(name))}" for name, v in parts)
        return (
            f"Tensor(shape={self._shape}, dtype={self.dtype}, place={self.place}, stop_gradient={self.stop_gradient}, \n"
            f"       {text})"
        )


class SparseCooTensor(SparseTensor):
    """Coordinates: ``indices()`` int64 [sparse_dim, nnz] and ``values()`` [nnz, ...], the rest of the axes dense."""

    @staticmethod
    def make(indices, values, shape, coalesced=False):
        t = SparseCooTensor.__new__(SparseCooTensor)._set(shape, values)
        t._indices, t._coalesced = indices, coalesced
        return t

    def with_values(self, values):
        return self.make(self._indices, values, self._shape[: self.sparse_dim()] + values.shape[1:], self._coalesced)

    def indices(self):
        """The coordinates, int64 [sparse_dim, nnz]."""
        return self._indices

    def sparse_dim(self):
        """How many axes have coordinates."""
        return self._indices.shape[0]

    def dense_dim(self):
        return len(self._shape) - self.sparse_dim()

    def is_coalesced(self):
        """Is every coordinate there once, in order?"""
        return self._coalesced

    def coalesce(self, name=None):
        """Values of equal coordinates added up, in the order of the coordinates."""
        if self._coalesced:
            return self
        sizes = self._shape[: self.sparse_dim()]
        places, inverse = paddle.unique(flat_index(self._indices, sizes), return_inverse=True)
        total = paddle.zeros([places.shape[0], *self._values.shape[1:]], self._values.dtype)
        total = paddle.index_add(total, inverse.reshape([-1]), 0, self._values)
        return self.make(unflatten(places, sizes), total, self._shape, True)

    def to_dense(self):
        """All elements; values of equal coordinates add up."""
        zeros = paddle.zeros(self._shape, self._values.dtype)
        if self.nnz() == 0:
            return zeros
        if self._values.dtype == paddle.bool:  # of equal coordinates: whether any is true
            counts = paddle.zeros(self._shape, "int32")
            return paddle.scatter_nd_add(counts, self._indices.transpose([1, 0]), self._values.astype("int32")) > 0
        return paddle.scatter_nd_add(zeros, self._indices.transpose([1, 0]), self._values)

    def to_sparse_csr(self):
        """The same in compressed rows; 2-D, or 3-D a batch of matrices.

        Raises:
            ValueError: another rank, or dense axes.
        """
        if self.dense_dim() or self.ndim not in (2, 3):
            raise ValueError(f"[to_sparse_csr] expected a tensor of 2 or 3 sparse axes, got shape {self.shape}")
        x = self.coalesce()
        rows, cols = x._indices[-2], x._indices[-1]
        height = self._shape[-2]
        batches = self._shape[0] if self.ndim == 3 else 1
        line = rows + (x._indices[0] * height if self.ndim == 3 else 0)
        counts = (
            paddle.bincount(line, minlength=batches * height) if x.nnz() else paddle.zeros([batches * height], "int64")
        )
        starts = paddle.cumsum(counts.astype("int64").reshape([batches, height]), axis=1)
        crows = paddle.concat([paddle.zeros([batches, 1], "int64"), starts], axis=1).reshape([-1])
        return SparseCsrTensor.make(crows, cols, x._values, self._shape)

    def __repr__(self):
        return self._describe([("indices", self._indices), ("values", self._values)])


class SparseCsrTensor(SparseTensor):
    """Compressed rows of a matrix, or of a batch of matrices: ``crows()`` says where each row begins and ends in
    ``cols()`` and ``values()``."""

    @staticmethod
    def make(crows, cols, values, shape):
        t = SparseCsrTensor.__new__(SparseCsrTensor)._set(shape, values)
        t._crows, t._cols = crows, cols
        return t

    def with_values(self, values):
        return self.make(self._crows, self._cols, values, self._shape)

    def crows(self):
        """int64 [rows + 1], for a batch one after another."""
        return self._crows

    def cols(self):
        """int64 [nnz]."""
        return self._cols

    def to_sparse_coo(self, sparse_dim=None):
        """The same by coordinates."""
        height = self._shape[-2]
        batches = self._shape[0] if self.ndim == 3 else 1
        ends = self._crows.reshape([batches, height + 1])
        counts = (ends[:, 1:] - ends[:, :-1]).reshape([-1])
        line = paddle.repeat_interleave(paddle.arange(batches * height, dtype="int64"), counts)
        cols = self._cols.astype("int64")
        parts = [line, cols] if self.ndim == 2 else [line // height, line % height, cols]
        return SparseCooTensor.make(paddle.stack(parts), self._values, self._shape, True)

    def to_sparse_csr(self):
        return self

    def to_dense(self):
        """All elements."""
        return self.to_sparse_coo().to_dense()

    def __repr__(self):
        return self._describe([("crows", self._crows), ("cols", self._cols), ("values", self._values)])


def expect_sparse(op, x):
    if not isinstance(x, SparseTensor):
        raise TypeError(f"[sparse.{op}] expected a sparse tensor, got {type(x).__name__}")
    return x


def like(x, coo):
    """`coo` in the format of x."""
    return coo.to_sparse_csr() if x.is_sparse_csr() else coo


def dense_to_coo(x, sparse_dim):
    """The elements that aren't 0 of a dense tensor; the axes from `sparse_dim` on stay dense."""
    if not 0 < sparse_dim <= x.ndim:
        raise ValueError(f"[to_sparse_coo] expected sparse_dim in [1, {x.ndim}], got {sparse_dim}")
    there = x.detach() != 0
    if sparse_dim < x.ndim:
        there = paddle.any(there, axis=list(range(sparse_dim, x.ndim)))
    places = paddle.nonzero(there)
    return SparseCooTensor.make(places.transpose([1, 0]), paddle.gather_nd(x, places), x.shape, True)
