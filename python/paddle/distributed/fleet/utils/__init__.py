"""Helpers of paddle.distributed.fleet."""

from ..recompute import recompute  # noqa: F401
