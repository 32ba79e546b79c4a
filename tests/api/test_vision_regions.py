"""Pooling over boxes where boxes and numbers of points are far from what detectors use. Right values: the definition, point by point, in
NumPy."""

import numpy as np
import paddle
import pytest
from paddle.vision import ops


def interpolated(image, y, x):
    """One point of [C, H, W]: up to a pixel outside counts as the border, further outside as nothing."""
    _, height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    low, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    return (
        (image[:, top, left] * (1 - across) + image[:, top, right] * across) * (1 - down)
        + (image[:, low, left] * (1 - across) + image[:, low, right] * across) * down
    )


def roi_align(images, boxes, counts, size, scale=1.0, sampling=-1, aligned=True):
    image = np.repeat(np.arange(len(counts)), counts)
    out = np.zeros([len(boxes), images.shape[1], *size])
    for r, box in enumerate(boxes):
        left, top, right, bottom = box * scale - 0.5 * aligned
        width, height = right - left, bottom - top
        if not aligned:
            width, height = max(width, 1.0), max(height, 1.0)
        cell = height / size[0], width / size[1]
        rows, columns = (sampling if sampling > 0 else int(np.ceil(c)) for c in cell)
        for i in range(size[0]):
            for j in range(size[1]):
                for a in range(rows):
                    for b in range(columns):
                        y = top + (i + (a + 0.5) / rows) * cell[0]
                        x = left + (j + (b + 0.5) / columns) * cell[1]
                        out[r, :, i, j] += interpolated(images[image[r]], y, x)
        out[r] /= max(rows * columns, 1)
    return out


BOXES = {
    "inside": [[0.3, 0.2, 3.1, 3.4], [1, 1, 2.5, 4], [0, 0, 3, 3]],
    "on the edges": [[-1, -1, 4, 5], [-0.5, -0.5, 4.5, 5.5], [3, 4, 4, 5]],
    "outside": [[-9, -9, -3, -4], [20, 20, 30, 30], [-1.5, 4, 2, 9]],
    "large": [[-40, -30, 50, 60], [-3, -200, 4, 210], [1, 1, 100, 2]],
    "empty": [[2, 2, 2, 2], [1, 3, 1, 4], [4, 4, 4, 4]],
    "backwards": [[3, 3, 1, 1], [2, 0, 1, 4], [4, 4, -2, -1]],
}


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("sampling", [-1, 1, 3, 40])
@pytest.mark.parametrize("kind", BOXES)
def test_roi_align_point_by_point(kind, sampling, aligned):
    stream = np.random.RandomState(3)
    images, boxes, counts = stream.randn(2, 3, 5, 4), np.array(BOXES[kind], "float64"), [1, 2]
    want = roi_align(images, boxes, counts, (2, 3), 0.9, sampling, aligned)
    x = paddle.to_tensor(images, stop_gradient=False)
    got = ops.roi_align(x, paddle.to_tensor(boxes), paddle.to_tensor(counts), (2, 3), 0.9, sampling, aligned)
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)
    # Pooling is linear in the images: its transpose is what a product with any images says.
    weights = stream.randn(*want.shape)
    (got * paddle.to_tensor(weights)).sum().backward()
    other = stream.randn(*images.shape)
    along = roi_align(other, boxes, counts, (2, 3), 0.9, sampling, aligned)
    np.testing.assert_allclose((x.grad.numpy() * other).sum(), (along * weights).sum(), atol=1e-10)


def test_any_number_of_points():
    """As many points as nobody can walk: the mean tends to the integral of the interpolated image."""
    image = np.random.RandomState(0).randn(1, 2, 6, 5)
    box = np.array([[0.7, 1.2, 3.9, 4.1]])
    want = roi_align(image, box, [1], (1, 2), sampling=400)
    one = paddle.to_tensor([1])
    for points in (400, 2**31, 2**40):
        got = ops.roi_align(paddle.to_tensor(image), paddle.to_tensor(box), one, (1, 2), sampling_ratio=points)
        np.testing.assert_allclose(got.numpy(), want, atol=1e-4)
    nowhere = paddle.to_tensor([[2.0, 2.0, 2.0, 2.0]], dtype="float64")
    got = ops.roi_align(paddle.to_tensor(image), nowhere, one, 1, sampling_ratio=2**40)
    np.testing.assert_allclose(got.numpy()[0, :, 0, 0], interpolated(image[0], 1.5, 1.5), rtol=1e-12)


def test_boxes_far_larger_than_the_image():
    image = np.ones([1, 1, 4, 4], "float32")
    for edge in (1e6, 1e12, 1e30):
        box = paddle.to_tensor(np.array([[-edge, -edge, edge, edge]], "float32"))
        got = ops.roi_align(paddle.to_tensor(image), box, paddle.to_tensor([1]), 1)
        assert 0 <= float(got) <= 1e-6  # hardly any of its points are on the image
        ops.roi_pool(paddle.to_tensor(image), box, paddle.to_tensor([1]), 2)
        ops.psroi_pool(paddle.to_tensor(image), box, paddle.to_tensor([1]), 1)


@pytest.mark.parametrize("pool", [ops.roi_align, ops.roi_pool, ops.psroi_pool])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_boxes_that_are_nowhere_are_errors(pool, number):
    x, box = paddle.ones([1, 1, 4, 4]), paddle.to_tensor([[0.0, 0.0, number, 2.0]])
    with pytest.raises(ValueError, match="finite"):
        pool(x, box, paddle.to_tensor([1]), 1)


@pytest.mark.parametrize("pool", [ops.roi_align, ops.roi_pool, ops.psroi_pool])
@pytest.mark.parametrize("shape", [[0, 1, 4, 4], [1, 1, 0, 4], [1, 1, 4, 0]])
def test_boxes_need_pixels(pool, shape):
    counts = paddle.to_tensor(np.full(shape[0], 1, "int32"))
    with pytest.raises(ValueError, match="boxes"):
        pool(paddle.ones(shape), paddle.ones([1, 4]), counts, 1)
    out = pool(paddle.ones(shape), paddle.ones([0, 4]), counts * 0, 1)
    assert out.shape == [0, 1, 1, 1]


def test_gradients_say_which_sizes_do_not_fit():
    call = paddle._C_ops.roi_align_grad
    g, boxes, one = paddle.ones([2, 3, 2, 2]), paddle.ones([2, 4]), paddle.to_tensor([2])
    call(g, boxes, one, [1, 3, 5, 5], 1.0, 2, True)
    for shape in ([1, 2, 5, 5], [1, 3, 5], [2, 3, 5, 5]):
        with pytest.raises(ValueError, match="input_shape|boxes_num"):
            call(g, boxes, one, shape, 1.0, 2, True)
    with pytest.raises(ValueError, match="boxes"):
        call(g, paddle.ones([3, 4]), paddle.to_tensor([3]), [1, 3, 5, 5], 1.0, 2, True)
    with pytest.raises(ValueError, match="box"):
        call(g, paddle.ones([2, 3]), one, [1, 3, 5, 5], 1.0, 2, True)
    with pytest.raises(ValueError, match="channels"):
        paddle._C_ops.psroi_pool_grad(g, boxes, one, [1, 11, 5, 5], 1.0)


def test_numbers_of_boxes_that_cancel_out():
    boxes = paddle.ones([4, 4])
    for counts in ([5, -1], [2**62, 2**62], [2, 1], [3, 2]):
        with pytest.raises(ValueError, match="rois_num"):
            ops.distribute_fpn_proposals(boxes, 2, 5, 4, 224, rois_num=paddle.to_tensor(np.array(counts, "int64")))
        with pytest.raises(ValueError, match="boxes_num"):
            ops.roi_align(paddle.ones([2, 1, 3, 3]), boxes, paddle.to_tensor(np.array(counts, "int64")), 1)


def test_sizes_of_proposals_and_targets_are_checked_against_each_other():
    call = paddle._C_ops.generate_proposals
    scores, deltas, size, anchors = paddle.ones([2, 2, 2, 3]), paddle.ones([2, 8, 2, 3]), paddle.ones([2, 2]), paddle.ones([2, 3, 2, 4])
    rest = (anchors, anchors, 10, 5, 0.5, 2.0, 1.0)
    call(scores, deltas, size, *rest)
    for s, d in (([1, 2], deltas), ([2, 1], deltas), ([2, 2], paddle.ones([1, 8, 2, 3])), ([2, 2], paddle.ones([2, 8, 2, 2]))):
        with pytest.raises(ValueError, match="expected"):
            call(scores, d, paddle.ones(s), *rest)
    x, truth = paddle.ones([2, 14, 3, 3]), paddle.ones([2, 2, 4])
    match = lambda *score: paddle._C_ops.yolo_match(x, truth, *score, [4, 5, 8, 6], [0, 1], 2, 0.5, 32, 1.0)  # noqa: E731
    match(paddle.ones([2, 2]))
    with pytest.raises(ValueError, match="gt_score"):
        match(paddle.ones([1, 2]))


def test_prior_boxes_share_the_image_unless_both_steps_are_given():
    features, image = paddle.ones([1, 1, 2, 4]), paddle.ones([1, 3, 20, 20])
    centre = lambda *steps: ops.prior_box(features, image, [4.0], steps=steps)[0].numpy()[1, 1, 0].reshape(2, 2).mean(0) * 20  # noqa: E731
    np.testing.assert_allclose(centre(3.0, 6.0), [4.5, 9.0], rtol=1e-6)
    for steps in ((0.0, 0.0), (3.0, 0.0), (0.0, 6.0)):
        np.testing.assert_allclose(centre(*steps), [1.5 * 5, 1.5 * 10], rtol=1e-6)
