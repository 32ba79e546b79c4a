"""Readers: functions of no arguments that give a generator of samples, and what makes readers of readers."""

from . import decorator
from .batching import batch  # noqa: F401
from .decorator import (
    ComposeNotAligned,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    multiprocess_reader,
    shuffle,
    xmap_readers,
)

__all__ = [
    "cache", "map_readers", "buffered", "compose", "chain", "shuffle", "ComposeNotAligned", "firstn", "xmap_readers",
    "multiprocess_reader",
]  # fmt: skip
_ = decorator
