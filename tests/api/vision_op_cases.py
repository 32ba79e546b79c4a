"""Calls of paddle.vision.ops whose results official paddle 3.3.1 gave once: ``PYTHON tests/api/vision_op_cases.py OUT.json`` with official's
Python writes them anew."""

import json
import sys

import numpy as np
import paddle
from paddle.vision import ops


def boxes(stream, count, size):
    """[count, 4] in a square of that size."""
    low = stream.rand(count, 2) * size * 0.6
    return np.concatenate([low, low + 1 + stream.rand(count, 2) * size * 0.5], 1).astype("float32")


def calls():
    """name -> a function without arguments that returns tensors, lists of them, or None."""
    s = np.random.RandomState(5)
    t = lambda a: paddle.to_tensor(np.asarray(a))  # noqa: E731
    rand = lambda *shape: t(s.randn(*shape).astype("float32"))  # noqa: E731
    x, regions, counts = rand(2, 8, 9, 7), t(boxes(s, 5, 8)), t(np.array([2, 3], "int32"))
    found = {
        "roi_align": lambda: ops.roi_align(x, regions, counts, (2, 3)),
        "roi_align, sampled": lambda: ops.roi_align(x, regions, counts, 2, 0.5, 2, aligned=False),
        "roi_pool": lambda: ops.roi_pool(x, regions, counts, (2, 3), 0.7),
        "psroi_pool": lambda: ops.psroi_pool(x, regions, counts, 2, 0.8),
    }
    offset, weight = rand(2, 2 * 2 * 6, 8, 5), rand(4, 4, 2, 3)
    found["deform_conv2d"] = lambda: ops.deform_conv2d(x, offset, weight, None, 1, 0, 1, 2, 2)
    shifted, moved = rand(1, 2 * 9, 4, 3), rand(1, 9, 4, 3)
    filters, bias = rand(3, 8, 3, 3), rand(3)
    found["deform_conv2d, modulated"] = lambda: ops.deform_conv2d(
        x[:1], shifted, filters, bias, 2, (0, 0), 1, 1, 1, moved
    )
    many, scores = t(boxes(s, 12, 10)), t(s.rand(12).astype("float32"))
    kinds = t(s.randint(0, 3, 12).astype("int64"))
    found["nms"] = lambda: ops.nms(many, 0.3)
    found["nms, scores"] = lambda: ops.nms(many, 0.2, scores)
    found["nms, kinds"] = lambda: ops.nms(many, 0.1, scores, kinds, [0, 1, 2], 4)
    prior, var, target = t(boxes(s, 4, 10)), t(s.rand(4, 4).astype("float32") + 0.1), t(boxes(s, 3, 10))
    deltas = rand(3, 4, 4)
    found["box_coder, encode"] = lambda: ops.box_coder(prior, var, target)
    found["box_coder, encode pixels"] = lambda: ops.box_coder(
        prior, [0.1, 0.2, 0.3, 0.4], target, "encode_center_size", False
    )
    found["box_coder, decode"] = lambda: ops.box_coder(prior, var, deltas, "decode_center_size")
    found["box_coder, decode rows"] = lambda: ops.box_coder(
        prior[:3], [0.1, 0.2, 0.3, 0.4], deltas, "decode_center_size", False, axis=1
    )
    features, picture = rand(1, 2, 3, 2), rand(1, 3, 30, 20)
    found["prior_box"] = lambda: ops.prior_box(
        features, picture, [4.0, 7.0], [9.0, 12.0], [2.0, 3.0], flip=True, clip=True
    )
    found["prior_box, ordered"] = lambda: ops.prior_box(
        features, picture, 4.0, [9.0], [2.0], steps=[5.0, 6.0], offset=0.3, min_max_aspect_ratios_order=True
    )
    wide = boxes(s, 8, 10) * np.array([[1], [3], [9], [20], [40], [60], [100], [2]], "float32")
    found["distribute_fpn_proposals"] = lambda: ops.distribute_fpn_proposals(
        t(wide), 2, 5, 4, 224, rois_num=t(np.array([5, 3], "int32"))
    )
    found["distribute_fpn_proposals, pixels"] = lambda: ops.distribute_fpn_proposals(
        t(wide), 2, 5, 4, 100, True, t(np.array([8], "int32"))
    )
    maps, moves = t(s.rand(2, 3, 4, 3).astype("float32")), rand(2, 12, 4, 3)
    anchors, spread = t(boxes(s, 36, 30).reshape(4, 3, 3, 4)), t(s.rand(4, 3, 3, 4).astype("float32"))
    size = t(np.array([[40.0, 30.0], [25.0, 35.0]], "float32"))
    found["generate_proposals"] = lambda: ops.generate_proposals(
        maps, moves, size, anchors, spread, 20, 6, 0.5, 3.0, return_rois_num=True
    )
    found["generate_proposals, pixels"] = lambda: ops.generate_proposals(
        maps, moves, size, anchors, spread, 30, 9, 0.7, 2.0, 0.9, True, True
    )
    crowd, class_scores = t(np.stack([boxes(s, 7, 10), boxes(s, 7, 10)])), t(s.rand(2, 3, 7).astype("float32"))
    found["matrix_nms"] = lambda: ops.matrix_nms(crowd, class_scores, 0.2, 0.1, 6, 8, return_index=True)
    found["matrix_nms, gaussian"] = lambda: ops.matrix_nms(
        crowd, class_scores, 0.1, 0.05, -1, -1, True, 1.5, -1, False, return_rois_num=False
    )
    pick = paddle._C_ops.multiclass_nms3  # (boxes, scores, numbers, scores above, looked at, kept, overlap, ...)
    found["multiclass_nms3"] = lambda: pick(crowd, class_scores, None, 0.1, 6, 7, 0.3, True, 1.0, 0)
    found["multiclass_nms3, all"] = lambda: pick(crowd, class_scores, None, 0.0, -1, -1, 0.7, False, 0.9, -1)
    maps5, images = rand(2, 21, 3, 4), t(np.array([[90, 120], [60, 70]], "int32"))
    corners = [10, 13, 16, 30, 33, 23]
    found["yolo_box"] = lambda: ops.yolo_box(maps5, images, corners, 2, 0.4, 32)
    found["yolo_box, unclipped"] = lambda: ops.yolo_box(maps5, images, corners, 2, 0.1, 16, False, scale_x_y=1.2)
    found["yolo_box, overlaps"] = lambda: ops.yolo_box(
        maps5[:, :16], images, corners[:4], 2, 0.2, 32, iou_aware=True, iou_aware_factor=0.4
    )
    square = rand(2, 14, 4, 4)
    truth = np.concatenate([s.rand(2, 3, 2) * 0.8 + 0.1, s.rand(2, 3, 2) * 0.4 + 0.05], 2).astype("float32")
    truth[1, 2] = 0
    labels, sure = t(s.randint(0, 2, (2, 3)).astype("int32")), t(s.rand(2, 3).astype("float32"))
    found["yolo_loss"] = lambda: ops.yolo_loss(square, t(truth), labels, corners, [1, 2], 2, 0.5, 8)
    found["yolo_loss, scores"] = lambda: ops.yolo_loss(
        square, t(truth), labels, corners, [0, 1], 2, 0.3, 8, sure, False, scale_x_y=1.1
    )
    return found


def plain(value):
    """Tensors as [dtype, shape, elements]."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    array = value.numpy()
    return [array.dtype.name, list(array.shape), [float(f"{float(v):.6g}") for v in array.reshape(-1)]]


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(plain(f()))}" for k, f in calls().items()) + "\n}\n")
