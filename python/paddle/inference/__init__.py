"""Running saved programs: a Config says what, ``create_predictor`` prepares it, and the Predictor runs it."""

from .config import Config, XpuConfig
from .mixed_precision import convert_to_mixed_precision
from .predictor import Predictor, PredictorPool, Tensor, create_predictor
from .types import (
    DataType,
    PlaceType,
    PrecisionType,
    get_num_bytes_of_data_type,
    get_trt_compile_version,
    get_trt_runtime_version,
    get_version,
)

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "XpuConfig",
    "convert_to_mixed_precision",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]
