"""Boxes: suppressed, encoded, made for grids, sorted by size. Boxes are [x1, y1, x2, y2]."""

from __future__ import annotations

import math

import numpy as np
import paddle

__all__ = []


def _areas(boxes, offset):
    return np.maximum(boxes[:, 2] - boxes[:, 0] + offset, 0) * np.maximum(boxes[:, 3] - boxes[:, 1] + offset, 0)


def overlaps(box, others, offset=0.0):
    """Intersection over union of one box and several."""
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0]) + offset
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1]) + offset
    common = np.maximum(width, 0) * np.maximum(height, 0)
    return common / np.maximum(_areas(box[None], offset) + _areas(others, offset) - common, 1e-10)


def _suppressed(boxes, order, threshold):
    """Those of `order` that overlap none of the kept before them by more than the threshold."""
    kept = []
    while len(order):
        first, order = order[0], order[1:]
        kept.append(first)
        order = order[overlaps(boxes[first], boxes[order]) <= threshold]
    return np.array(kept, np.int64)


def nms(boxes, iou_threshold=0.3, scores=None, category_idxs=None, categories=None, top_k=None):
    """The numbers of the boxes that are left when those that overlap a better one are taken away.

    Args:
        boxes (Tensor): [n, 4], best first where there are no scores.
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
    array = boxes.numpy()
    n = len(array)
    if category_idxs is None:
        order = np.arange(n) if scores is None else np.argsort(-scores.numpy(), kind="stable")
        kept = _suppressed(array, order, iou_threshold)
        return paddle.to_tensor(kept[:top_k] if top_k is not None else kept)
    if categories is None:
        raise ValueError("if category_idxs is given, categories which is a list of unique id of all categories is "
                         "necessary")  # fmt: skip
    if scores is None:
        raise ValueError("if category_idxs is given, scores are necessary")
    values, kinds = scores.numpy(), category_idxs.numpy()
    if top_k is not None and top_k > n:
        raise ValueError("top_k should be smaller equal than the number of boxes")
    found = []
    for kind in categories:
        members = np.nonzero(kinds == kind)[0]
        found.append(_suppressed(array, members[np.argsort(-values[members], kind="stable")], iou_threshold))
    kept = np.concatenate(found) if found else np.zeros(0, np.int64)
    kept = kept[np.argsort(-values[kept], kind="stable")]
    return paddle.to_tensor(kept[:top_k] if top_k is not None else kept)


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
    if code_type not in ("encode_center_size", "decode_center_size"):
        raise ValueError(f"[box_coder] expected encode_center_size or decode_center_size, got {code_type!r}")
    extra = 0.0 if box_normalized else 1.0
    variance = prior_box_var
    if not isinstance(variance, paddle.Tensor) and variance is not None:
        variance = paddle.to_tensor(variance, dtype=target_box.dtype).reshape([1, 4])
    width, height = prior_box[:, 2] - prior_box[:, 0] + extra, prior_box[:, 3] - prior_box[:, 1] + extra
    cx, cy = prior_box[:, 0] + width * 0.5, prior_box[:, 1] + height * 0.5
    if code_type == "encode_center_size":
        tw = (target_box[:, 2] - target_box[:, 0] + extra).unsqueeze(1)
        th = (target_box[:, 3] - target_box[:, 1] + extra).unsqueeze(1)
        tx = ((target_box[:, 2] + target_box[:, 0]) * 0.5).unsqueeze(1)
        ty = ((target_box[:, 3] + target_box[:, 1]) * 0.5).unsqueeze(1)
        out = paddle.stack(
            [
                (tx - cx) / width,
                (ty - cy) / height,
                paddle.log(paddle.abs(tw / width)),
                paddle.log(paddle.abs(th / height)),
            ],
            -1,
        )
        return out if variance is None else out / variance.unsqueeze(0)
    lift = (lambda t: t.unsqueeze(0)) if axis == 0 else (lambda t: t.unsqueeze(1))
    moved = (
        target_box
        if variance is None
        else target_box * (variance.unsqueeze(0) if variance.shape[0] == 1 else lift(variance))
    )
    x, y = moved[..., 0] * lift(width) + lift(cx), moved[..., 1] * lift(height) + lift(cy)
    w, h = paddle.exp(moved[..., 2]) * lift(width), paddle.exp(moved[..., 3]) * lift(height)
    return paddle.stack([x - w / 2, y - h / 2, x + w / 2 - extra, y + h / 2 - extra], -1)


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
    listed = lambda v: list(v) if isinstance(v, (list, tuple)) else [v]  # noqa: E731
    sizes, largest = listed(min_sizes), [] if max_sizes is None else listed(max_sizes)
    ratios = [1.0]
    for r in listed(aspect_ratios):
        if all(abs(r - known) >= 1e-6 for known in ratios):
            ratios += [r, 1.0 / r] if flip else [r]
    shapes = []
    for i, s in enumerate(sizes):
        square = [(s, s)]
        big = [(math.sqrt(s * largest[i]),) * 2] if largest else []
        others = [(s * math.sqrt(r), s / math.sqrt(r)) for r in ratios if abs(r - 1.0) >= 1e-6]
        shapes += square + big + others if min_max_aspect_ratios_order else square + others + big
    (height, width), (image_h, image_w) = input.shape[2:], image.shape[2:]
    step_x = image_w / width if steps[0] == 0 else steps[0]
    step_y = image_h / height if steps[1] == 0 else steps[1]
    cx = ((np.arange(width) + offset) * step_x)[None, :, None]
    cy = ((np.arange(height) + offset) * step_y)[:, None, None]
    w, h = np.array([s[0] for s in shapes]) / 2, np.array([s[1] for s in shapes]) / 2
    edges = [(cx - w) / image_w, (cy - h) / image_h, (cx + w) / image_w, (cy + h) / image_h]
    boxes = np.stack(np.broadcast_arrays(*[e + np.zeros((height, width, len(shapes))) for e in edges]), -1)
    if clip:
        boxes = boxes.clip(0, 1)
    variances = np.broadcast_to(np.asarray(variance, np.float32), boxes.shape)
    return paddle.to_tensor(boxes.astype("float32")), paddle.to_tensor(variances.copy())


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
    boxes = fpn_rois.numpy()
    offset = 1.0 if pixel_offset else 0.0
    scale = np.sqrt(_areas(boxes, offset))
    level = np.floor(refer_level + np.log2(scale / refer_scale + 1e-6)).clip(min_level, max_level).astype(int)
    image = np.zeros(len(boxes), int)
    if rois_num is not None:
        image = np.repeat(np.arange(rois_num.shape[0]), rois_num.numpy())
    parts, order, counts = [], [], []
    for k in range(min_level, max_level + 1):
        members = np.nonzero(level == k)[0]
        order.append(members)
        parts.append(paddle.to_tensor(boxes[members]))
        if rois_num is not None:
            amount = np.bincount(image[members], minlength=rois_num.shape[0]).astype(np.int32)
            counts.append(paddle.to_tensor(amount))
    restore = np.argsort(np.concatenate(order), kind="stable").astype(np.int32)[:, None]
    return parts, paddle.to_tensor(restore), counts if rois_num is not None else None
