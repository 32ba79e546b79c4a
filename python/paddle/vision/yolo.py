"""Boxes of YOLO (Redmon & Farhadi, "YOLOv3", 2018)."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F  # noqa: N812

__all__ = []


def yolo_box(
    x, img_size, anchors, class_num, conf_thresh, downsample_ratio, clip_bbox=True, name=None, scale_x_y=1.0,
    iou_aware=False, iou_aware_factor=0.5,
):  # fmt: skip
    """Boxes and scores from the features of one scale.

    Args:
        x (Tensor): [N, anchors * (5 + classes), H, W] (with `iou_aware` [N, anchors * (6 + classes), H, W], the
            overlaps first).
        img_size (Tensor): [N, 2], height and width of each image.
        anchors (list of int): width and height of each.
        conf_thresh (float): boxes below it are zeros.
        downsample_ratio (int): of the network's input to `x`.
        clip_bbox (bool): to the image.
        scale_x_y (float): how far centres may leave their cells.
        iou_aware_factor (float): the weight of the predicted overlap.

    Returns:
        (boxes [N, anchors * H * W, 4], scores [N, anchors * H * W, classes]).
    """
    n, _, height, width = x.shape
    count = len(anchors) // 2
    overlap = None
    if iou_aware:
        overlap = F.sigmoid(x[:, :count])
        x = x[:, count:]
    x = x.reshape([n, count, 5 + class_num, height, width])
    grid_x = paddle.arange(width, dtype=x.dtype).reshape([1, 1, 1, width])
    grid_y = paddle.arange(height, dtype=x.dtype).reshape([1, 1, height, 1])
    wide = paddle.to_tensor(anchors[0::2], dtype=x.dtype).reshape([1, count, 1, 1])
    tall = paddle.to_tensor(anchors[1::2], dtype=x.dtype).reshape([1, count, 1, 1])
    bias = -0.5 * (scale_x_y - 1.0)
    image_h = img_size[:, 0].astype(x.dtype).reshape([n, 1, 1, 1])
    image_w = img_size[:, 1].astype(x.dtype).reshape([n, 1, 1, 1])
    cx = (grid_x + F.sigmoid(x[:, :, 0]) * scale_x_y + bias) / width * image_w
    cy = (grid_y + F.sigmoid(x[:, :, 1]) * scale_x_y + bias) / height * image_h
    w = paddle.exp(x[:, :, 2]) * wide / (downsample_ratio * width) * image_w
    h = paddle.exp(x[:, :, 3]) * tall / (downsample_ratio * height) * image_h
    sure = F.sigmoid(x[:, :, 4])
    if overlap is not None:
        sure = sure ** (1.0 - iou_aware_factor) * overlap**iou_aware_factor
    kept = (sure >= conf_thresh).astype(x.dtype)
    edges = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]
    if clip_bbox:
        zero = paddle.zeros_like(cx)
        edges = [
            paddle.maximum(edges[0], zero), paddle.maximum(edges[1], zero),
            paddle.minimum(edges[2], image_w - 1), paddle.minimum(edges[3], image_h - 1),
        ]  # fmt: skip
    boxes = paddle.stack(edges, -1) * kept.unsqueeze(-1)
    scores = F.sigmoid(x[:, :, 5:]).transpose([0, 1, 3, 4, 2]) * (sure * kept).unsqueeze(-1)
    return boxes.reshape([n, -1, 4]), scores.reshape([n, -1, class_num])
