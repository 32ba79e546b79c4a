"""Pointwise functions: the operators themselves."""

from __future__ import annotations

from .. import _core

globals().update({k: v for k, v in _core._public.get("paddle", {}).items()})
