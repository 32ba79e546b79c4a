"""Second names of keyword arguments."""

from ..tensor._common import accepts

__all__ = ["accepts"]
