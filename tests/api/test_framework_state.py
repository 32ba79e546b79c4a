"""Modes, dtypes, devices, flags, random state, printing, metrics, helpers."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import paddle


def test_grad_modes_nest_and_decorate():
    x = paddle.ones([1])
    x.stop_gradient = False
    with paddle.no_grad():
        assert (x * 2).stop_gradient
        with paddle.enable_grad():
            assert not (x * 2).stop_gradient
    with paddle.set_grad_enabled(False):
        assert not paddle.is_grad_enabled()

    @paddle.no_grad()
    def doubled(v):
        """doc"""
        return v * 2

    @paddle.no_grad()
    def generated():
        yield (x * 2).stop_gradient

    assert doubled(x).stop_gradient and doubled.__doc__ == "doc" and doubled.__name__ == "doubled"
    assert list(generated()) == [True]
    assert paddle.is_grad_enabled() and not (x * 2).stop_gradient


def test_no_grad_is_restored_when_the_body_raises():
    with pytest.raises(KeyError), paddle.no_grad():
        raise KeyError
    assert paddle.is_grad_enabled()


def test_default_dtype():
    try:
        paddle.set_default_dtype(np.float64)
        assert paddle.get_default_dtype() == "float64" and str(paddle.to_tensor(1.5).dtype) == "paddle.float64"
    finally:
        paddle.set_default_dtype("float32")
    with pytest.raises(TypeError):
        paddle.set_default_dtype("int32")


def test_limits_of_types():
    assert (paddle.iinfo("int8").min, paddle.iinfo(paddle.int64).max) == (-128, 2**63 - 1)
    info = paddle.finfo(paddle.bfloat16)
    assert (info.eps, info.bits, info.dtype) == (2.0**-7, 16, "bfloat16")
    assert paddle.finfo("float32").tiny == float(np.finfo("float32").tiny)
    with pytest.raises(ValueError):
        paddle.finfo("int32")


def test_flags():
    before = paddle.get_flags("FLAGS_check_nan_inf")
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    assert paddle.get_flags(["FLAGS_check_nan_inf"]) == {"FLAGS_check_nan_inf": True}
    paddle.set_flags(before)
    with pytest.raises(ValueError, match="FLAGS_use_cinn"):
        paddle.set_flags({"FLAGS_use_cin": True})
    with pytest.raises(TypeError):
        paddle.get_flags(3)


def test_devices():
    assert str(paddle.set_device("cpu")) == "Place(cpu)" and paddle.get_device() == "cpu"
    with pytest.raises(ValueError, match="nosuch"):
        paddle.set_device("nosuch")
    assert paddle.in_dynamic_mode() and not paddle.is_compiled_with_cuda()
    assert paddle.device.cuda.device_count() == 0


def test_random_state_replays():
    paddle.seed(42)
    state = paddle.get_rng_state()
    first = paddle.rand([5]).numpy()
    paddle.set_rng_state(state)
    np.testing.assert_array_equal(paddle.rand([5]).numpy(), first)
    paddle.seed(42)
    np.testing.assert_array_equal(paddle.rand([5]).numpy(), first)


def test_printing_equals_official():
    from paddle.framework.printing import tensor_to_string

    text = tensor_to_string(paddle.to_tensor([-300, 1, 22]))
    assert text == "Tensor(shape=[3], dtype=int64, place=Place(cpu), stop_gradient=True,\n       [-300,  1  ,  22 ])"
    text = tensor_to_string(paddle.to_tensor([[1.0, 10.0], [100.0, 2.5]]))
    assert text.endswith("[[1.        , 10.       ],\n        [100.      , 2.50000000]])")


def test_versions():
    assert paddle.__version__ == "3.3.1"
    paddle.utils.require_version("2.5", "3.9")
    with pytest.raises(Exception, match="4.0"):
        paddle.utils.require_version("4.0")
    with pytest.raises(ImportError, match="removed"):
        importlib.import_module("paddle.fluid")


def test_nests():
    nest = {"b": 1, "a": [2, (3, 4)]}
    assert paddle.utils.flatten(nest) == [2, 3, 4, 1]
    assert paddle.utils.map_structure(lambda v: -v, nest) == {"b": -1, "a": [-2, (-3, -4)]}
    assert paddle.utils.pack_sequence_as(nest, list("wxyz")) == {"b": "z", "a": ["w", ("x", "y")]}


def test_metrics():
    scores = paddle.to_tensor([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    labels = paddle.to_tensor([[1], [1], [2]])
    metric = paddle.metric.Accuracy(topk=(1, 2))
    metric.update(metric.compute(scores, labels))
    assert metric.accumulate() == [pytest.approx(2 / 3), 1.0] and metric.name() == ["acc_top1", "acc_top2"]
    assert float(paddle.metric.accuracy(scores, labels)) == pytest.approx(2 / 3)
    guess, true = np.array([0.9, 0.8, 0.1, 0.6]), np.array([1, 0, 1, 1])
    precision, recall, area = paddle.metric.Precision(), paddle.metric.Recall(), paddle.metric.Auc()
    precision.update(guess, true)
    recall.update(guess, true)
    area.update(np.stack([1 - guess, guess], 1), true)
    assert (precision.accumulate(), recall.accumulate()) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert area.accumulate() == pytest.approx(1 / 3)  # of the three (positive, negative) pairs one is in order


def test_import_is_light():
    code = (
        "import sys, paddle; print([m for m in ('paddle.nn', 'paddle.optimizer', 'paddle.io', "
        "'multiprocessing', 'scipy') "
        "if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
