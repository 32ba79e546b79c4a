"""Helpers of paddle.distributed.fleet."""

from ..recompute import recompute
from . import fs, hybrid_parallel_util, sequence_parallel_utils
from .fs import LocalFS

__all__ = ["LocalFS", "recompute"]
_ = fs, hybrid_parallel_util, sequence_parallel_utils
