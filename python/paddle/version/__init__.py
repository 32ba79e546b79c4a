"""Versions: of the API this package offers, and of the package itself."""

from __future__ import annotations

__all__ = [
    "cuda", "cudnn", "hip", "nccl", "show", "xpu", "xpu_xre", "xpu_xccl", "xpu_xhpc", "tensorrt", "cinn", "cuda_archs",
]  # fmt: skip

# The level of Paddle's API; what clients compare.
full_version = "3.3.1"
major, minor, patch, rc = "3", "3", "1", "0"
# The package's own version, a local part of the distribution's version "3.3.1+<build_version>".
build_version = "0.1.0"
commit = "0" * 40
is_tagged = True
istaged = True
with_mkl = "OFF"
with_pip_cuda_libraries = "OFF"
with_pip_tensorrt = "OFF"
cuda_version = cudnn_version = tensorrt_version = "False"
nccl_version = "0"
hip = None  # the version of HIP
xpu_version = xpu_xre_version = xpu_xccl_version = xpu_xhpc_version = "False"


def show() -> None:
    """Prints the versions."""
    print("full_version:", full_version)
    print("build_version:", build_version)
    for name in ("major", "minor", "patch", "rc"):
        print(f"{name}:", globals()[name])
    for name in ("cuda", "cudnn", "nccl", "xpu", "xpu_xre", "xpu_xccl", "xpu_xhpc", "tensorrt"):
        print(f"{name}:", globals()[name]())


def cuda() -> str:
    """The CUDA version the package was built for; "False" without."""
    return cuda_version


def cudnn() -> str:
    """The cuDNN version; "False" without."""
    return cudnn_version


def nccl() -> str:
    """The NCCL version; "0" without."""
    return nccl_version


def xpu() -> str:
    """The XPU version; "False" without."""
    return xpu_version


def xpu_xre() -> str:
    """The XRE version; "False" without."""
    return xpu_xre_version


def xpu_xccl() -> str:
    """The XCCL version; "False" without."""
    return xpu_xccl_version


def xpu_xhpc() -> str:
    """The XHPC version; "False" without."""
    return xpu_xhpc_version


def tensorrt() -> str:
    """The TensorRT version; "False" without."""
    return tensorrt_version


def cinn() -> str:
    """The compiler's version: the package's own, of which it is a part."""
    return build_version


def cuda_archs() -> list:
    """CUDA architectures with kernels in the package."""
    return []
