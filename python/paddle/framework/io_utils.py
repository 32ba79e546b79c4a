"""Forms in which tensors stand in files, and small file helpers."""

from __future__ import annotations

import contextlib
import io
import os
import threading

import numpy as np

from ..base import core

NAME_TABLE = "StructuredToParameterName@@"
BIG_PARAMS = "UnpackBigParamInfor@@"


def tensor_to_numpy(tensor):
    """The values on the host; bfloat16 as the uint16 of its bits, which is how files hold it."""
    if tensor.dtype == core.bfloat16:
        array = tensor.numpy()
        if array.dtype == np.uint16:
            return array
        return (tensor.astype("float32").numpy().view(np.uint32) >> 16).astype(np.uint16)
    return tensor.numpy()


def numpy_to_tensor(array, name=None):
    """A tensor of the array's values; uint16 means bfloat16."""
    if array.dtype == np.uint16:
        tensor = core.to_tensor((array.astype(np.uint32) << 16).view(np.float32)).astype("bfloat16")
    else:
        tensor = core.to_tensor(array if array.flags.writeable else array.copy())
    if name is not None:
        tensor.name = name
    return tensor


def is_file_object(path) -> bool:
    """Whether ``path`` is something to read from or write to, not a name."""
    return isinstance(path, io.IOBase) or (hasattr(path, "read") or hasattr(path, "write"))


@contextlib.contextmanager
def atomic_writer(path):
    """A binary file that takes the place of ``path`` only when all has been written; file objects are used as they are.

    Readers never see half a file, and a crash leaves the former one.
    """
    if is_file_object(path):
        yield path
        return
    path = os.fspath(path)
    if not os.path.basename(path):
        raise ValueError(
            "The input path MUST be format of dirname/filename [dirname\\filename in Windows system], but "
            "received filename is empty string."
        )
    directory = os.path.dirname(path)
    if directory:
        os.makedirs(directory, exist_ok=True)
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:200]}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def reader(path):
    """A binary file to read ``path``; file objects are used as they are."""
    if is_file_object(path):
        yield path
    else:
        with open(path, "rb") as file:
            yield file


def split_big_arrays(state, protocol, limit=None):
    """Protocols 2 and 3 can't hold objects over 4 GiB: arrays above ``limit`` elements are cut into slices.

    The slices take names ``<key>@@.<i>``; shape and names go under ``UnpackBigParamInfor@@``.
    """
    if not 1 < protocol < 4:
        return state
    out, info = {}, {}
    for key, value in state.items():
        if isinstance(value, np.ndarray):
            most = int((2**30 - 1) / value.dtype.itemsize) if limit is None else limit
            if value.size > most:
                flat = value.reshape(-1)
                slices = [f"{key}@@.{i}" for i in range((value.size + most - 1) // most)]
                info[key] = {"OriginShape": value.shape, "slices": slices}
                for i, part in enumerate(slices):
                    out[part] = flat[i * most : (i + 1) * most]
                continue
        out[key] = value
    if info:
        out[BIG_PARAMS] = info
    return out


def join_big_arrays(state):
    """The inverse of ``split_big_arrays``, in place."""
    if isinstance(state, dict) and BIG_PARAMS in state:
        for key, value in state.pop(BIG_PARAMS).items():
            parts = [state.pop(part) for part in value["slices"]]
            state[key] = np.concatenate(parts).reshape(value["OriginShape"])
    return state
