"""Where the C++ headers and libraries are."""

from __future__ import annotations

import os

__all__ = ["get_include", "get_lib"]


def _beside(name: str) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def get_include() -> str:
    """The folder of the C++ headers.

    Returns:
        str.
    """
    return _beside("include")


def get_lib() -> str:
    """The folder of the libraries to link to.

    Returns:
        str.
    """
    return _beside("libs")
