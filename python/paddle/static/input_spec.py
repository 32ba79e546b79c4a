"""InputSpec: what a program knows about an input before it is called."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import _trace_api as api

__all__ = ["InputSpec"]


class InputSpec:
    """Shape, dtype and name of an input.

    Args:
        shape (list|tuple): sizes; None or -1 for one that may vary between calls.
        dtype: a paddle dtype, its name, or a NumPy dtype.
        name (str, optional): the input's name in a saved program.
        stop_gradient (bool): no gradient flows to the input.

    Raises:
        TypeError: ``shape`` is neither list nor tuple.
        ValueError: a size isn't an integer or is below -1.
    """

    def __init__(self, shape, dtype="float32", name: str | None = None, stop_gradient: bool = False) -> None:
        self.shape = _checked_shape(shape)
        self.dtype = api.as_dtype(dtype if dtype is not None else "float32")
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor, name: str | None = None) -> InputSpec:
        """The spec of ``tensor``; ``name`` defaults to the tensor's."""
        if not api.is_tensor(tensor):
            raise ValueError(f"Input `tensor` should be a Tensor, but received {type(tensor).__name__}.")
        return cls(tuple(tensor.shape), tensor.dtype, name or getattr(tensor, "name", None))

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray, name: str | None = None) -> InputSpec:
        """The spec of a NumPy array."""
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: int | list | tuple) -> InputSpec:
        """Insert ``batch_size`` in front of the shape (in place); returns self."""
        if isinstance(batch_size, (list, tuple)):
            if len(batch_size) != 1:
                raise ValueError(f"Length of batch_size: {batch_size} shall be 1, but received {len(batch_size)}.")
            batch_size = batch_size[0]
        if not isinstance(batch_size, (int, np.integer)) or isinstance(batch_size, bool):
            raise TypeError(f"type(batch_size) shall be `int`, but received {type(batch_size).__name__}.")
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Remove the first size (in place); returns self."""
        if len(self.shape) == 0:
            raise ValueError("Not support to unbatch a InputSpec when len(shape) == 0.")
        self.shape = self.shape[1:]
        return self

    def _key(self) -> tuple[Any, ...]:
        return (self.shape, self.dtype, self.name, self.stop_gradient)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype}, name={self.name}, "
            f"stop_gradient={self.stop_gradient})"
        )

    def __hash__(self) -> int:
        return hash(tuple(str(k) for k in self._key()))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other


def _checked_shape(shape) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)):
        raise TypeError(
            f"Type of `shape` in InputSpec should be one of (tuple, list), but received {type(shape).__name__}."
        )
    out = []
    for i, n in enumerate(shape):
        if n is None:
            n = -1
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise ValueError(f"shape[{i}] should be an `int`, but received `{type(n).__name__}`:{n}.")
        if n < -1:
            raise ValueError(f"shape[{i}] should be -1, None or a size, but received {n}.")
        out.append(int(n))
    return tuple(out)
