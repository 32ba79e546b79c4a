"""Boxes: suppressed, encoded, made for grids, sorted by size, proposed. Boxes are [x1, y1, x2, y2]."""

from __future__ import annotations

import paddle
from paddle import _C_ops

__all__ = []


def nms(boxes, iou_threshold=0.3, scores=None, category_idxs=None, categories=None, top_k=None):
    """The numbers of the boxes that are left when those that overlap a better one are taken away.

    Args:
        boxes (Tensor): [n, 4], float32 or float64, best first where there are no scores.
        iou_threshold (float): of intersection over union.
        scores (Tensor, optional): [n].
        category_idxs (Tensor, optional): [n]; boxes of different categories don't take each other away.
        categories (list, optional): the categories to look at.
        top_k (int, optional): how many to return at most.

    Returns:
        Tensor [m], int64, best first.

    Raises:
        ValueError: `category_idxs` without `categories` or without `scores`, or `top_k` beyond n.
    """
    if category_idxs is None:
        kept = _best(boxes, iou_threshold, scores)
        return kept if top_k is None else kept[:top_k]
    if categories is None:
        raise ValueError("if category_idxs is given, categories which is a list of unique id of all categories is "
                         "necessary")  # fmt: skip
    if scores is None:
        raise ValueError("if category_idxs is given, scores are necessary")
    if top_k is not None and top_k > scores.shape[0]:
        raise ValueError("top_k should be smaller equal than the number of boxes")
    found = []
    for kind in categories:
        members = paddle.nonzero(category_idxs == kind).reshape([-1])
        kept = _best(paddle.gather(boxes, members), iou_threshold, paddle.gather(scores, members))
        found.append(paddle.gather(members, kept))
    kept = paddle.concat(found)
    kept = paddle.gather(kept, _ranked(paddle.gather(scores, kept)))
    return kept if top_k is None else kept[:top_k]


def _ranked(scores):
    return paddle.argsort(scores, descending=True, stable=True)


def _best(boxes, threshold, scores):
    if scores is None:
        return _C_ops.nms(boxes, threshold)
    order = _ranked(scores)
    return paddle.gather(order, _C_ops.nms(paddle.gather(boxes, order), threshold))


def box_coder(
    prior_box, prior_box_var, target_box, code_type="encode_center_size", box_normalized=True, axis=0, name=None
):
    """Boxes relative to prior boxes, or back.

    Args:
        prior_box (Tensor): [m, 4].
        prior_box_var (Tensor | list): [m, 4] or four numbers to divide by.
        target_box (Tensor): [n, 4] to encode; [n, m, 4] (or priors along `axis` 1) to decode.
        code_type (str): "encode_center_size" or "decode_center_size".
        box_normalized (bool): the far edges are not part of the boxes.

    Returns:
        Tensor [n, m, 4].

    Raises:
        ValueError: another `code_type`.
    """
    tensor = isinstance(prior_box_var, paddle.Tensor)
    variance = [] if tensor or prior_box_var is None else list(prior_box_var)
    return _C_ops.box_coder(
        prior_box, prior_box_var if tensor else None, target_box, code_type, box_normalized, axis, variance
    )


def prior_box(
    input, image, min_sizes, max_sizes=None, aspect_ratios=[1.0], variance=[0.1, 0.1, 0.2, 0.2], flip=False,  # noqa: B006
    clip=False, steps=[0.0, 0.0], offset=0.5, min_max_aspect_ratios_order=False, name=None,  # noqa: B006
):  # fmt: skip
    """Boxes of several sizes and shapes around every place of a feature map (Liu et al., "SSD", 2016).

    Args:
        input (Tensor): [N, C, H, W], the features. image (Tensor): [N, C, H', W'].
        min_sizes, max_sizes (list of float): in pixels of the image; max_sizes[i] goes with min_sizes[i].
        aspect_ratios (list of float); flip (bool): also their inverses.
        clip (bool): to the image. steps (pair): pixels between places, x and y; 0 for image over features.
        offset (float): where in its cell a box has its centre.
        min_max_aspect_ratios_order (bool): min, max, then the ratios.

    Returns:
        (boxes, variances): [H, W, boxes, 4], in shares of the image.
    """
    listed = lambda v: [] if v is None else [float(n) for n in v] if isinstance(v, (list, tuple)) else [float(v)]  # noqa: E731
    return _C_ops.prior_box(
        input, image, listed(min_sizes), listed(max_sizes), listed(aspect_ratios), listed(variance), flip, clip,
        steps[0], steps[1], offset, min_max_aspect_ratios_order,
    )  # fmt: skip


def distribute_fpn_proposals(
    fpn_rois, min_level, max_level, refer_level, refer_scale, pixel_offset=False, rois_num=None, name=None
):
    """Boxes sorted to the levels of a feature pyramid by their size (Lin et al., 2017).

    Args:
        fpn_rois (Tensor): [n, 4].
        min_level, max_level (int): the levels; refer_level (int), refer_scale (int): a box of that size goes there.
        pixel_offset (bool): the far edges belong to the boxes.
        rois_num (Tensor, optional): [batch], how many boxes each image has.

    Returns:
        (boxes of each level, [n, 1] where each given box is among all of them, numbers of boxes of each level or None).
    """
    parts, counts, restore = _C_ops.distribute_fpn_proposals(
        fpn_rois, rois_num, min_level, max_level, refer_level, refer_scale, pixel_offset
    )
    return parts, restore, None if rois_num is None else counts


def generate_proposals(
    scores, bbox_deltas, img_size, anchors, variances, pre_nms_top_n=6000, post_nms_top_n=1000, nms_thresh=0.5,
    min_size=0.1, eta=1.0, pixel_offset=False, return_rois_num=False, name=None,
):  # fmt: skip
    """The best boxes of a region proposal network (Ren et al., "Faster R-CNN", 2015): decoded, clipped to the image, without small
    ones and those that overlap a better one.

    Args:
        scores (Tensor): [N, A, H, W].
        bbox_deltas (Tensor): [N, 4 * A, H, W].
        img_size (Tensor): [N, 2], height and width of each image.
        anchors, variances (Tensor): [H, W, A, 4].
        pre_nms_top_n, post_nms_top_n (int): how many are looked at, and how many are kept, of an image.
        nms_thresh (float): of intersection over union. eta (float): the threshold shrinks by it while it is above 0.5.
        min_size (float): of width and height, at least 1.
        pixel_offset (bool): the far edges belong to the boxes.
        return_rois_num (bool): whether the numbers of boxes are returned.

    Returns:
        (boxes [n, 4], scores [n, 1], numbers [N] int32 or None).

    Raises:
        ValueError: shapes don't fit. TypeError: dtypes don't.
    """
    rois, probs, numbers = _C_ops.generate_proposals(
        scores, bbox_deltas, img_size, anchors, variances, pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta,
        pixel_offset,
    )  # fmt: skip
    return rois, probs, numbers if return_rois_num else None


def matrix_nms(
    bboxes, scores, score_threshold, post_threshold, nms_top_k, keep_top_k, use_gaussian=False, gaussian_sigma=2.0,
    background_label=0, normalized=True, return_index=False, return_rois_num=True, name=None,
):  # fmt: skip
    """Detections whose scores are lowered by better ones of their class that they overlap (Wang et al., "SOLOv2", 2020).

    Args:
        bboxes (Tensor): [N, M, 4], float32 or float64.
        scores (Tensor): [N, classes, M].
        score_threshold (float): what is looked at. post_threshold (float): what is kept.
        nms_top_k, keep_top_k (int): how many of a class are looked at, how many of an image are kept; -1: all.
        use_gaussian (bool), gaussian_sigma (float): the kind of decay.
        background_label (int): a class that is left out; -1: none.
        normalized (bool): the far edges are not part of the boxes.
        return_index (bool), return_rois_num (bool): what else is returned.

    Returns:
        (rows [label, score, box] [n, 6], numbers of boxes [N] int32 or None, places among all boxes [n, 1] int32 or None).

    Raises:
        ValueError: shapes don't fit. TypeError: dtypes don't.
    """
    out, index, numbers = _C_ops.matrix_nms(
        bboxes, scores, score_threshold, nms_top_k, keep_top_k, post_threshold, use_gaussian, gaussian_sigma,
        background_label, normalized,
    )  # fmt: skip
    return out, numbers if return_rois_num else None, index if return_index else None
