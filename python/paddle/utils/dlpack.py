"""Tensors to and from other frameworks, without copies."""

from __future__ import annotations

from ..base import core

__all__ = ["to_dlpack", "from_dlpack"]


def to_dlpack(x):
    """A DLPack capsule that shares ``x``'s memory.

    Raises:
        TypeError: not a Tensor.
    """
    if not isinstance(x, core.Tensor):
        raise TypeError(f"The type of 'x' in to_dlpack must be paddle.Tensor, but received {type(x)}.")
    return x.__dlpack__()


class _Holder:
    """A bare capsule in the form that NumPy takes."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0  # capsules of other devices are refused by who reads them


def _import(source):
    native = getattr(core._core, "from_dlpack", None)
    if native is not None:
        return native(source)
    import numpy as np

    array = np.from_dlpack(source if hasattr(source, "__dlpack__") else _Holder(source))
    return core._core.from_numpy(array if array.flags.writeable else array.copy())


def from_dlpack(dlpack, *, device=None, copy: bool | None = None):
    """A tensor that shares the memory of a capsule or of an object with ``__dlpack__``.

    Args:
        device: where the tensor shall be; elsewhere means a copy.
        copy: True forces a copy, False forbids one.

    Raises:
        TypeError: neither capsule nor such an object. BufferError: a copy would be needed but is forbidden.
    """
    if not hasattr(dlpack, "__dlpack__") and type(dlpack).__name__ != "PyCapsule":
        raise TypeError(
            f"The type of 'dlpack' in from_dlpack must be PyCapsule or an object with __dlpack__, "
            f"but received {type(dlpack)}."
        )
    tensor = _import(dlpack)
    if device is not None:
        from ..framework.place import convert_to_place

        place = convert_to_place(device)
        if str(place) != str(tensor.place):
            if copy is False:
                raise BufferError(f"[from_dlpack] a copy to {place} is needed, but copy=False")
            return tensor.to(place)
    return tensor.clone().detach() if copy else tensor
