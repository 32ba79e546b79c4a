"""Functions of sparse tensors that layers use."""

from .activation import attention, leaky_relu, relu, relu6, softmax
from .conv import (
    conv2d,
    conv3d,
    max_pool3d,
    subm_conv2d,
    subm_conv2d_igemm,
    subm_conv3d,
    subm_conv3d_igemm,
)

__all__ = [
    "attention", "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax", "subm_conv2d",
    "subm_conv2d_igemm", "subm_conv3d", "subm_conv3d_igemm",
]  # fmt: skip
