"""Operators on boxes and regions of images. Boxes are [x1, y1, x2, y2] in pixels."""

from .files import decode_jpeg, read_file
from .regions import (
    DeformConv2D,
    PSRoIPool,
    RoIAlign,
    RoIPool,
    deform_conv2d,
    psroi_pool,
    roi_align,
    roi_pool,
)

__all__ = [
    "DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "decode_jpeg", "deform_conv2d", "psroi_pool", "read_file",
    "roi_align", "roi_pool",
]  # fmt: skip
