"""The binary form of one tensor, as in ``.pdiparams`` and in files saved with ``use_binary_format``.

Layout, little endian: u32 version 0; u64 number of LoD levels, each a u64 byte count and that many bytes; u32 version
0; i32 length of the description, the description (protobuf: 1 = element type, 2 = dimensions); the elements.
"""

from __future__ import annotations

import math
import struct

import numpy as np

from .unpickler import LoadError

# Numbering of element types in this format (VarType.Type).
_TYPES = {
    0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64", 20: "uint8", 21: "int8",
    22: "uint16", 23: "complex64", 24: "complex128",
}  # fmt: skip
_NUMBERS = {name: number for number, name in _TYPES.items()}


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def write_array(file, array) -> None:
    """Writes one array; uint16 stands for bfloat16."""
    name = str(array.dtype)
    if name not in _NUMBERS:
        raise TypeError(f"[save] element type {name} has no binary form")
    description = b"\x08" + _varint(_NUMBERS[name]) + b"".join(b"\x10" + _varint(n) for n in array.shape)
    file.write(struct.pack("<IQIi", 0, 0, 0, len(description)))
    file.write(description)
    file.write(np.ascontiguousarray(array).tobytes())


def read_array(file, where="<file>"):
    """Reads one array; None at the end of the file.

    Raises:
        LoadError: the file is damaged, with the byte where it shows.
    """
    head = file.read(4)
    if not head:
        return None
    if len(head) < 4 or head != b"\0\0\0\0":
        raise LoadError(f"[load] {where}: byte {file.tell() - len(head)}: not a tensor in binary form")
    (levels,) = struct.unpack("<Q", _exactly(file, 8, where))
    for _ in range(levels):
        (size,) = struct.unpack("<Q", _exactly(file, 8, where))
        _exactly(file, size, where)
    version, size = struct.unpack("<Ii", _exactly(file, 8, where))
    if version != 0 or not 0 <= size < 1 << 20:
        raise LoadError(f"[load] {where}: byte {file.tell()}: damaged header of a tensor")
    dtype, shape = _description(_exactly(file, size, where), where)
    data = _exactly(file, math.prod(shape) * dtype.itemsize, where)
    return np.frombuffer(data, dtype).reshape(shape).copy()


def _exactly(file, size, where):
    try:
        data = file.read(size)
    except (MemoryError, OverflowError):
        data = b""
    if len(data) != size:
        raise LoadError(
            f"[load] {where}: byte {file.tell()}: the file ends early, {size - len(data)} bytes are missing"
        )
    return data


def _description(data, where):
    dtype, shape, at = None, [], 0

    def number():
        nonlocal at
        value = shift = 0
        while at < len(data) and shift < 64:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << 64) if value >> 63 else value
        raise LoadError(f"[load] {where}: damaged description of a tensor")

    while at < len(data):
        tag = number()
        if tag == 0x08:
            dtype = _TYPES.get(number())
        elif tag == 0x10:
            shape.append(number())
        elif tag == 0x12:
            end = number() + at
            while at < end:
                shape.append(number())
        else:
            raise LoadError(f"[load] {where}: damaged description of a tensor")
    if dtype is None or any(n < 0 for n in shape):
        raise LoadError(f"[load] {where}: a tensor of unknown element type or shape {shape}")
    return np.dtype(dtype), tuple(shape)
