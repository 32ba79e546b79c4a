"""What makes primitives of operators and operators of primitives."""

from . import prim2orig  # noqa: F401

__all__ = []
