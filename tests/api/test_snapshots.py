"""What is a copy and what looks into the same memory: values that official Paddle 3.3.1 and NumPy give."""

import copy

import numpy as np
import pytest

import paddle
import paddle.nn.functional as F


@pytest.mark.parametrize("snapshot", [lambda t: t.numpy(), np.asarray, np.array], ids=["numpy", "asarray", "array"])
def test_an_array_taken_before_a_step_keeps_its_values(snapshot):
    layer = paddle.nn.Linear(2, 2)
    before = snapshot(layer.weight)
    layer(paddle.ones([1, 2])).sum().backward()
    paddle.optimizer.SGD(0.5, layer.parameters()).step()
    np.testing.assert_allclose(before - layer.weight.numpy(), np.full((2, 2), 0.5), rtol=1e-5)


def test_writing_to_an_array_leaves_the_tensor():
    x = paddle.zeros([2])
    x.numpy()[0] = 9
    assert x.tolist() == [0, 0]
    y = paddle.arange(6).reshape([2, 3]).T
    np.testing.assert_array_equal(y.numpy(), np.arange(6).reshape(2, 3).T)


@pytest.mark.parametrize(
    "key, source",
    [
        (np.s_[:], np.s_[::-1]),
        (np.s_[1:], np.s_[:-1]),
        (np.s_[:-1], np.s_[1:]),
        (np.s_[[0, 1, 2]], np.s_[3:6]),
        (np.s_[[3, 4, 5]], np.s_[2:5]),
    ],
)
def test_a_value_that_overlaps_is_read_before_it_is_written(key, source):
    array, x = np.arange(6.0), paddle.arange(6.0)
    array[key] = array[source].copy()
    x[key] = x[source]
    np.testing.assert_array_equal(x.numpy(), array)


def test_rows_swap_through_views():
    array, x = np.arange(12.0).reshape(4, 3), paddle.arange(12.0).reshape([4, 3])
    array[::2] = array[::-2].copy()
    x[::2] = x[::-2]
    np.testing.assert_array_equal(x.numpy(), array)


def test_deepcopy_of_a_result_is_a_leaf_with_its_values():
    x = paddle.ones([2])
    x.stop_gradient = False
    y = x * 2
    twin = copy.deepcopy(y)
    assert twin.is_leaf and not twin.stop_gradient
    np.testing.assert_array_equal(twin.numpy(), [2, 2])
    (twin * 3).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("pos_weight", [None, 3.0])
def test_the_slope_of_bce_with_logits_at_zero(pos_weight):
    # dL/dx = (1 - z) s(x) - w z (1 - s(x)), s(0) = 1/2: what an output layer that starts at 0 trains by
    z = np.array([0.0, 1.0, 0.25], "float32")
    x = paddle.zeros([3])
    x.stop_gradient = False
    weight = None if pos_weight is None else paddle.to_tensor([pos_weight])
    F.binary_cross_entropy_with_logits(x, paddle.to_tensor(z), pos_weight=weight, reduction="sum").backward()
    np.testing.assert_allclose(x.grad.numpy(), (1 - z) * 0.5 - (pos_weight or 1.0) * z * 0.5, rtol=1e-6)
