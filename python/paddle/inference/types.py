"""Enumerations and small questions of the inference interface."""

from __future__ import annotations

import enum

__all__ = [
    "DataType",
    "PlaceType",
    "PrecisionType",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]


class PrecisionType(enum.Enum):
    """What a device computes in."""

    Float32, Int8, Half, Bfloat16 = range(4)


class PlaceType(enum.Enum):
    """Kinds of devices."""

    UNK, CPU, GPU, XPU, CUSTOM = -1, 0, 1, 2, 4


class DataType(enum.Enum):
    """Element types of inputs and outputs."""

    FLOAT32, INT64, INT32, UINT8, INT8, FLOAT16, BOOL, FLOAT64, BFLOAT16 = range(9)

    @classmethod
    def of(cls, dtype) -> DataType:
        """From a paddle dtype.

        Raises:
            ValueError: the interface has no such type.
        """
        name = str(dtype).rsplit(".", 1)[-1].upper()
        if name not in cls.__members__:
            raise ValueError(f"[inference] no data type for {dtype}")
        return cls[name]


_BYTES = {
    "FLOAT32": 4,
    "INT64": 8,
    "INT32": 4,
    "UINT8": 1,
    "INT8": 1,
    "FLOAT16": 2,
    "BOOL": 1,
    "FLOAT64": 8,
    "BFLOAT16": 2,
}


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """Bytes of one element."""
    return _BYTES[dtype.name]


def get_version() -> str:
    """The version as text, one fact a line."""
    from ..version import commit, full_version

    return f"version: {full_version}\ncommit: {commit}\nwith_gpu: OFF\nwith_mkldnn: ON\nwith_cinn: ON"


def get_trt_compile_version() -> tuple:
    """(0, 0, 0): there is no TensorRT."""
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple:
    """(0, 0, 0): there is no TensorRT."""
    return (0, 0, 0)
