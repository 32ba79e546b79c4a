"""Functions of several tensors, under the name that other frameworks have for them."""

from .tensor import atleast_1d, atleast_2d, atleast_3d, broadcast_shapes, einsum, meshgrid, norm, split, unique_consecutive

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "einsum", "norm", "split", "unique_consecutive", "meshgrid",
]  # fmt: skip
