"""With what images are read."""

from __future__ import annotations

__all__ = ["get_image_backend", "image_load", "set_image_backend"]

_BACKENDS = ("pil", "cv2", "tensor")
_backend = "pil"


def _check(backend):
    if backend not in _BACKENDS:
        raise ValueError(f"Expected backend are one of ['pil', 'cv2', 'tensor'], but got {backend}")
    return backend


def set_image_backend(backend):
    """Images are read as PIL images ("pil"), arrays [H, W, C] ("cv2": BGR), or tensors ("tensor").

    Raises:
        ValueError: another name.
    """
    global _backend
    _backend = _check(backend)


def get_image_backend():
    """What ``set_image_backend`` was given; "pil" at first."""
    return _backend


def checked_backend(backend):
    """The backend of a data set, by default the one in use.

    Raises:
        ValueError: neither "pil" nor "cv2".
    """
    backend = _backend if backend is None else backend
    if backend not in ("pil", "cv2"):
        raise ValueError(f"Expected backend are one of ['pil', 'cv2'], but got {backend}")
    return backend


def image_load(path, backend=None):
    """The image in the file `path`, as `backend` (or ``get_image_backend``) says.

    Raises:
        ValueError: another backend. ModuleNotFoundError: PIL isn't there.
    """
    backend = _check(_backend if backend is None else backend)
    from PIL import Image

    image = Image.open(path)
    if backend == "pil":
        return image
    import numpy as np

    array = np.array(image.convert("RGB"))
    if backend == "cv2":
        return np.ascontiguousarray(array[..., ::-1])
    import paddle

    return paddle.to_tensor(array)
