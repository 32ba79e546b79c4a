"""Helpers: nests, versions, optional imports, deprecation, an installation check."""

from __future__ import annotations

import importlib

from .deprecated import deprecated
from .layers_utils import (
    assert_same_structure,
    convert_to_list,
    flatten,
    is_sequence,
    map_structure,
    pack_sequence_as,
    to_sequence,
)
from .lazy_import import try_import
from .versions import require_version

__all__ = ["deprecated", "run_check", "require_version", "try_import"]
_ = (
    deprecated,
    assert_same_structure,
    convert_to_list,
    flatten,
    is_sequence,
    map_structure,
    pack_sequence_as,
    to_sequence,
)
_ = require_version, try_import

_MODULES = ("dlpack", "download", "cpp_extension", "unique_name", "install_check", "layers_utils")


def run_check() -> None:
    """Runs a small training step and says whether it worked."""
    from .install_check import run_check as check

    check()


def __getattr__(name):
    if name in _MODULES:
        module = importlib.import_module("." + name, __name__)
        globals()[name] = module
        return module
    if name == "flops":
        return importlib.import_module("..hapi", __name__).flops
    raise AttributeError(f"module 'paddle.utils' has no attribute {name!r}")
