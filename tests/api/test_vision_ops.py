"""paddle.vision.ops against official paddle's answers (``vision_op_cases.py`` made them), in eager, captured, and with gradients."""

import json
import pathlib

import numpy as np
import paddle
import pytest
import vision_op_cases
from paddle.vision import ops

OFFICIAL = json.loads((pathlib.Path(__file__).parents[1] / "fixtures" / "vision_ops.json").read_text())
CALLS = vision_op_cases.calls()


def same(got, want, at=""):
    if want is None:
        assert got is None, at
        return
    if not isinstance(want[0], str):
        assert len(got) == len(want), at
        for i, (g, w) in enumerate(zip(got, want)):
            same(g, w, f"{at}[{i}]")
        return
    assert [got[0], got[1]] == want[:2], at
    np.testing.assert_allclose(got[2], want[2], rtol=2e-4, atol=2e-4, err_msg=at)


@pytest.mark.parametrize("name", OFFICIAL)
def test_answers(name):
    same(vision_op_cases.plain(CALLS[name]()), OFFICIAL[name], name)


def test_all_are_asked():
    assert list(CALLS) == list(OFFICIAL)


def numeric(function, x, step=1e-3):
    """The gradient of a sum by central differences."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        for sign in (1, -1):
            moved = x.copy()
            moved[i] += sign * step
            grad[i] += sign * float(function(paddle.to_tensor(moved)))
    return grad / (2 * step)


@pytest.mark.parametrize("op", ["roi_align", "roi_pool", "psroi_pool"])
def test_gradients_of_regions(op):
    stream = np.random.RandomState(2)
    x = stream.randn(2, 4, 5, 4)
    boxes, counts = paddle.to_tensor(np.array([[0.3, 0.2, 3.1, 3.4], [1, 1, 2.5, 4], [0, 0, 3, 3]])), paddle.to_tensor([1, 2])
    weights = paddle.to_tensor(stream.randn(3, 1 if op == "psroi_pool" else 4, 2, 2))
    total = lambda t: (getattr(ops, op)(t, boxes, counts, 2) ** 2 * weights).sum()  # noqa: E731
    t = paddle.to_tensor(x, stop_gradient=False)
    total(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), numeric(total, x), atol=1e-5)


def test_gradients_of_the_yolo_loss():
    stream = np.random.RandomState(4)
    x = stream.randn(1, 14, 2, 2)
    truth = paddle.to_tensor(np.array([[[0.3, 0.6, 0.2, 0.3], [0.8, 0.2, 0.5, 0.4]]]))
    labels = paddle.to_tensor(np.array([[0, 1]], "int32"))
    total = lambda t: ops.yolo_loss(t, truth, labels, [4, 5, 8, 6], [0, 1], 2, 0.9, 8).sum()  # noqa: E731
    t = paddle.to_tensor(x, stop_gradient=False)
    total(t).backward()
    np.testing.assert_allclose(t.grad.numpy(), numeric(total, x), atol=1e-5)


def test_detection_is_captured(tmp_path):
    class Head(paddle.nn.Layer):
        def forward(self, x, boxes, counts):
            features = ops.roi_align(x, boxes, counts, 2)
            kept = ops.nms(boxes, 0.3)
            return paddle.gather(features, kept), kept

    x = paddle.randn([2, 3, 8, 8])
    boxes = paddle.to_tensor(vision_op_cases.boxes(np.random.RandomState(1), 6, 8))
    counts = paddle.to_tensor(np.array([4, 2], "int32"))
    head = Head()
    want = head(x, boxes, counts)
    spec = [([None, 3, None, None], "float32"), ([None, 4], "float32"), ([None], "int32")]
    paddle.jit.save(head, str(tmp_path / "head"), input_spec=[paddle.static.InputSpec(s, d) for s, d in spec])
    for got, expected in zip(paddle.jit.load(str(tmp_path / "head"))(x, boxes, counts), want):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)


def test_wrong_arguments():
    x, boxes = paddle.ones([1, 3, 4, 4]), paddle.ones([2, 4])
    with pytest.raises(ValueError, match="boxes_num"):
        ops.roi_align(x, boxes, paddle.to_tensor(np.array([3], "int32")), 2)
    with pytest.raises(ValueError, match="multiples"):
        ops.psroi_pool(x, boxes, paddle.to_tensor(np.array([2], "int32")), 2)
    with pytest.raises(ValueError, match="categories"):
        ops.nms(boxes, 0.3, paddle.ones([2]), paddle.to_tensor([0, 1]))
    with pytest.raises(ValueError, match="top_k"):
        ops.nms(boxes, 0.3, paddle.ones([2]), paddle.to_tensor([0, 1]), [0, 1], 3)
