"""Custom operators in C++. Official Paddle's extension ABI is not offered; each entry says so and what to do
instead."""

from __future__ import annotations

import os

__all__ = ["CppExtension", "CUDAExtension", "load", "setup", "get_build_directory", "BuildExtension"]

CUDA_HOME = os.environ.get("CUDA_HOME")
IS_WINDOWS = False


class ExtensionUnavailableError(NotImplementedError):
    """Raised by everything that would build or load an extension against official Paddle's headers."""


def _refuse(name):
    raise ExtensionUnavailableError(
        f"paddle.utils.cpp_extension.{name}: extensions written against official Paddle's C++ headers can't "
        f"be built here. "
        "Write the operator in Python (paddle.autograd.PyLayer), or add an operator record to this project's sources"
    )


def CppExtension(sources, *args, **kwargs):  # noqa: N802
    """Not available; raises."""
    _refuse("CppExtension")


def CUDAExtension(sources, *args, **kwargs):  # noqa: N802
    """Not available; raises."""
    _refuse("CUDAExtension")


def load(
    name,
    sources,
    extra_cxx_cflags=None,
    extra_cuda_cflags=None,
    extra_ldflags=None,
    extra_include_paths=None,
    extra_library_paths=None,
    build_directory=None,
    verbose=False,
):
    """Not available; raises."""
    _refuse("load")


def setup(**attr):
    """Not available; raises."""
    _refuse("setup")


def load_op_meta_info_and_register_op(lib_filename):
    """Not available; raises."""
    _refuse("load_op_meta_info_and_register_op")


class BuildExtension:
    """Not available; making one raises."""

    def __init__(self, *args, **kwargs):
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options):
        _refuse("BuildExtension.with_options")


def get_build_directory(verbose: bool = False) -> str:
    """The folder that built extensions would go to."""
    return os.environ.get("PADDLE_EXTENSION_DIR", os.path.join(os.path.expanduser("~/.cache"), "paddle_extensions"))
