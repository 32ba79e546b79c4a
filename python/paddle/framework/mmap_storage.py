"""A file of numbers, read where they are asked for."""

from __future__ import annotations

import numpy as np

from ..base import core
from .dtype import dtype_name

__all__ = []


class MmapStorage:
    """The bytes of a file, mapped into memory.

    Args:
        filename: an existing file.
        nbytes (int): how many of its bytes.

    Raises:
        OSError: the file can't be read. ValueError: it is shorter.
    """

    def __init__(self, filename, nbytes: int) -> None:
        self._bytes = np.memmap(filename, np.uint8, "r", shape=(int(nbytes),))

    def get_slice(self, dtype, start: int = 0, stop: int | None = None):
        """Elements `start` to `stop` of the file as a tensor of one dimension.

        Raises:
            IndexError: there are not as many.
        """
        name = dtype if isinstance(dtype, str) else dtype_name(dtype)
        kept = np.uint16 if name == "bfloat16" else np.dtype(name)
        elements = self._bytes[: self._bytes.size // np.dtype(kept).itemsize * np.dtype(kept).itemsize].view(kept)
        stop = elements.size if stop is None else stop
        if not 0 <= start <= stop <= elements.size:
            raise IndexError(
                f"[MmapStorage.get_slice] expected a part of {elements.size} elements, got {start} to {stop}"
            )
        tensor = core.to_tensor(np.array(elements[start:stop]))
        return tensor.view("bfloat16") if name == "bfloat16" else tensor
