"""Boxes and loss of YOLO (Redmon & Farhadi, "YOLOv3", 2018)."""

from __future__ import annotations

from paddle import _C_ops

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

    Raises:
        ValueError: shapes don't fit.
    """
    return _C_ops.yolo_box(
        x, img_size, list(anchors), class_num, conf_thresh, downsample_ratio, clip_bbox, scale_x_y, iou_aware,
        iou_aware_factor,
    )  # fmt: skip


def yolo_loss(
    x, gt_box, gt_label, anchors, anchor_mask, class_num, ignore_thresh, downsample_ratio, gt_score=None,
    use_label_smooth=True, name=None, scale_x_y=1.0,
):  # fmt: skip
    """The loss of the features of one scale: places and sizes of boxes, whether there is one, and its class.

    Args:
        x (Tensor): [N, len(anchor_mask) * (5 + classes), H, H], floating point.
        gt_box (Tensor): [N, B, 4]: centre, width and height, in shares of the image; boxes without size don't count.
        gt_label (Tensor): [N, B], int32.
        anchors (list of int): width and height of each, of all scales.
        anchor_mask (list of int): which of them this scale has.
        class_num (int): the number of classes.
        ignore_thresh (float): predictions that overlap a box by more, and aren't its own, aren't judged.
        downsample_ratio (int): of the network's input to `x`.
        gt_score (Tensor, optional): [N, B], how much each box counts.
        use_label_smooth (bool): classes are wanted with a little less than 1, others with a little more than 0.
        scale_x_y (float): how far centres may leave their cells.

    Returns:
        Tensor [N].

    Raises:
        ValueError: shapes don't fit. TypeError: dtypes don't.
    """
    return _C_ops.yolo_loss(
        x, gt_box, gt_label, gt_score, list(anchors), list(anchor_mask), class_num, ignore_thresh, downsample_ratio,
        use_label_smooth, scale_x_y,
    )  # fmt: skip
