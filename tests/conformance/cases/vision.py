"""paddle.vision.ops."""

BOXES = (
    "T([[1.0, 1.0, 6.0, 5.0], [1.5, 1.0, 6.5, 5.5], [3.0, 4.0, 9.0, 9.0], [0.0, 0.0, 2.0, 2.0], [3.2, 4.1, 9.5, 9.2]])"
)
SCORES = "T([0.6, 0.9, 0.5, 0.8, 0.7])"
CASES = [
    f"paddle.vision.ops.nms({BOXES}, 0.3)", f"paddle.vision.ops.nms({BOXES}, 0.5, {SCORES})",
    f"paddle.vision.ops.nms({BOXES}, 0.3, {SCORES}, T([0, 0, 1, 1, 0]), [0, 1])",
    f"paddle.vision.ops.nms({BOXES}, 0.3, {SCORES}, T([0, 0, 1, 1, 0]), [0, 1], 2)",
    f"paddle.vision.ops.box_coder({BOXES}, [0.1, 0.1, 0.2, 0.2], {BOXES})",
    f"paddle.vision.ops.box_coder({BOXES}, R([5, 4], low=0.1, high=0.3), {BOXES}, box_normalized=False)",
    f"paddle.vision.ops.box_coder({BOXES}, [0.1, 0.1, 0.2, 0.2], R([2, 5, 4]), code_type='decode_center_size')",
    f"paddle.vision.ops.box_coder({BOXES}, R([5, 4], low=0.1, high=0.3), R([5, 3, 4]), code_type='decode_center_size', axis=1)",
    "paddle.vision.ops.prior_box(R([1, 2, 3, 4]), R([1, 3, 30, 36]), [4.0, 8.0], [6.0, 12.0], [2.0], flip=True, clip=True)",
    "paddle.vision.ops.prior_box(R([1, 2, 3, 4]), R([1, 3, 30, 36]), 4.0, steps=[5.0, 6.0], min_max_aspect_ratios_order=True)",
    f"paddle.vision.ops.distribute_fpn_proposals({BOXES} * 40, 2, 5, 4, 224, rois_num=T([2, 3], 'int32'))",
    f"paddle.vision.ops.distribute_fpn_proposals({BOXES} * 40, 2, 5, 4, 224)",
    "paddle.vision.ops.yolo_box(R([1, 14, 2, 3]), T([[60, 90]], 'int32'), [10, 13, 16, 30], 2, 0.3, 32)",
    "paddle.vision.ops.yolo_box(R([1, 14, 2, 3]), T([[60, 90]], 'int32'), [10, 13, 16, 30], 2, 0.3, 32, False, scale_x_y=1.2)",
    "paddle.vision.ops.yolo_box(R([1, 16, 2, 3]), T([[60, 90]], 'int32'), [10, 13, 16, 30], 2, 0.3, 32, iou_aware=True)",
    f"paddle.vision.ops.roi_align(R([2, 3, 10, 10]), {BOXES}, T([2, 3], 'int32'), 2)",
    f"paddle.vision.ops.roi_align(R([2, 3, 10, 10]), {BOXES}, T([2, 3], 'int32'), (2, 3), 0.5, 2, aligned=False)",
    f"grads(lambda x: paddle.vision.ops.roi_align(x, {BOXES}, T([5], 'int32'), 2), R([1, 1, 10, 10]))",
    f"paddle.vision.ops.roi_pool(R([2, 3, 10, 10]), {BOXES}, T([2, 3], 'int32'), 2)",
    f"paddle.vision.ops.roi_pool(R([1, 3, 10, 10]), {BOXES}, T([5], 'int32'), (3, 2), 0.5)",
    f"paddle.vision.ops.psroi_pool(R([2, 8, 10, 10]), {BOXES}, T([2, 3], 'int32'), 2)",
    "paddle.vision.ops.deform_conv2d(R([1, 2, 5, 5]), R([1, 18, 3, 3], low=-1, high=1), R([3, 2, 3, 3]))",
    "paddle.vision.ops.deform_conv2d(R([1, 2, 5, 5]), R([1, 18, 5, 5]), R([3, 2, 3, 3]), R([3]), padding=1, mask=R([1, 9, 5, 5], low=0, high=1))",
    "paddle.vision.ops.deform_conv2d(R([1, 4, 5, 5]), R([1, 36, 3, 3]), R([2, 2, 3, 3]), groups=2, deformable_groups=2)",
    "grads(lambda x, o, w: paddle.vision.ops.deform_conv2d(x, o, w), R([1, 1, 4, 4]), R([1, 18, 2, 2], low=-0.4, high=0.4), R([1, 1, 3, 3]))",
]  # fmt: skip
