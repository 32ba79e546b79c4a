"""Parameter, by its module's name."""

from __future__ import annotations

from ..base.framework import Parameter

__all__ = ["Parameter"]
