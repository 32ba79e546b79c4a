"""paddle.distributed.fleet: parallel training by strategy."""

from .recompute import recompute, recompute_hybrid, recompute_sequential  # noqa: F401
