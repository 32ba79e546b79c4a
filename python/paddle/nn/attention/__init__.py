"""Which implementation attention may use."""

from __future__ import annotations

from .sdpa import SDPBackend, sdpa_kernel

__all__ = ["SDPBackend", "sdpa_kernel"]
