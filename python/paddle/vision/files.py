"""Files as tensors."""

from __future__ import annotations

import io

import numpy as np
import paddle

__all__ = []


def read_file(filename, name=None):
    """The bytes of a file: uint8 [n]."""
    return paddle.to_tensor(np.fromfile(filename, np.uint8))


def decode_jpeg(x, mode="unchanged", name=None):
    """The JPEG image in the bytes `x` (uint8 [n]): uint8 [C, H, W].

    Args:
        mode (str): "unchanged", "gray" or "rgb".

    Raises:
        ValueError: another mode. ModuleNotFoundError: PIL isn't there.
    """
    modes = {"unchanged": None, "gray": "L", "rgb": "RGB"}
    if mode not in modes:
        raise ValueError(f"[decode_jpeg] expected mode unchanged, gray or rgb, got {mode!r}")
    from PIL import Image

    image = Image.open(io.BytesIO(x.numpy().tobytes()))
    if modes[mode]:
        image = image.convert(modes[mode])
    array = np.array(image)
    array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
    return paddle.to_tensor(np.ascontiguousarray(array))
