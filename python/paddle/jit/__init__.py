"""Dynamic-to-static: run Python functions and Layers as compiled programs, save and load them."""

from __future__ import annotations

from .api import (
    enable_to_static,
    ignore_module,
    load,
    not_to_static,
    report,
    save,
    set_code_level,
    set_verbosity,
    to_static,
)
from .explain import explain
from .translated_layer import TranslatedLayer

__all__ = [
    "TranslatedLayer",
    "enable_to_static",
    "explain",
    "ignore_module",
    "load",
    "not_to_static",
    "report",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
