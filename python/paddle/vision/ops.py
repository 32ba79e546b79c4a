"""Operators on boxes and regions of images. Boxes are [x1, y1, x2, y2] in pixels."""

from .boxes import box_coder, distribute_fpn_proposals, generate_proposals, matrix_nms, nms, prior_box
from .conv_norm import ConvNormActivation  # noqa: F401 - beside the public names, as models use it
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
from .yolo import yolo_box, yolo_loss

__all__ = [
    "DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "box_coder", "decode_jpeg", "deform_conv2d",
    "distribute_fpn_proposals", "generate_proposals", "matrix_nms", "nms", "prior_box", "psroi_pool", "read_file",
    "roi_align", "roi_pool", "yolo_box", "yolo_loss",
]  # fmt: skip
