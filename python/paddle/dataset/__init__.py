"""Helpers of data files. Sets of data themselves are in ``paddle.vision.datasets`` and ``paddle.text``."""

from __future__ import annotations

from . import common

__all__ = []
_ = common
