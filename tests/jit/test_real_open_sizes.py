"""Sizes that no call has shown at capture (InputSpec's None, results of nonzero, sizes computed as tensors)."""

from __future__ import annotations

import math

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")
pytest.importorskip("paddle._core")
if not hasattr(getattr(paddle, "_core", None), "trace"):
    pytest.skip("the extension module is not built", allow_module_level=True)

from paddle import nn  # noqa: E402
from paddle.jit import _trace_api  # noqa: E402
from paddle.static import InputSpec  # noqa: E402


@pytest.fixture(autouse=True)
def reference_core():
    previous = _trace_api.install(paddle._core.trace)
    yield
    _trace_api.install(previous)


def saved(f, specs, folder):
    """``f`` captured with ``specs``, and again from its file."""
    static = paddle.jit.to_static(f, input_spec=specs, full_graph=True)
    paddle.jit.save(static, str(folder / "m"))
    return [static, paddle.jit.load(str(folder / "m"))]


def agree(f, specs, calls, folder):
    for made in saved(f, specs, folder):
        for args in calls:
            args = [paddle.to_tensor(a) for a in args]
            got, want = made(*args), f(*args)
            got, want = ([v] if isinstance(v, paddle.Tensor) else list(v) for v in (got, want))
            for a, b in zip(got, want):
                assert a.shape == b.shape
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


ROWS = [[np.arange(n * 2, dtype="float32").reshape(n, 2)] for n in (3, 7)]
OPEN = [InputSpec([None, 2], "float32")]


def test_division_by_an_open_size(tmp_path):
    def f(x):
        n = x.shape[0]
        return x.sum(0) / n, x * (1.0 / n), x * n**-0.5, x / (n * 0.5), x * (3 / n)

    agree(f, OPEN, ROWS, tmp_path)


def test_an_open_size_compared_with_a_float(tmp_path):
    def f(x):
        if x.shape[0] > 4.5:
            return x * 2
        return x

    agree(f, OPEN, ROWS, tmp_path)


@pytest.mark.parametrize("f", [lambda x: x * math.sqrt(x.shape[0]), lambda x: paddle.unbind(x)[0]])
def test_the_number_of_an_open_size_is_an_error(f, tmp_path):
    static = paddle.jit.to_static(f, input_spec=OPEN, full_graph=True)
    with pytest.raises(ValueError, match="open size"):
        paddle.jit.save(static, str(tmp_path / "m"))


def test_sizes_computed_by_the_program(tmp_path):
    def f(ids):
        n = ids.max() + 1
        counts = paddle.zeros([n, 2], "float32")
        return paddle.index_add(counts, ids, 0, paddle.ones([ids.shape[0], 2])), paddle.full([n * 2], 3.0)

    agree(f, [InputSpec([None], "int64")], [[np.array([0, 0, 1, 4])], [np.array([2, 1])]], tmp_path)


def test_only_the_size_of_a_result_is_used(tmp_path):
    def f(x):
        return paddle.zeros([paddle.nonzero(x > 3).shape[0], 2])

    agree(f, OPEN, ROWS, tmp_path)


def test_open_batches_of_two_inputs_meet(tmp_path):
    specs = [InputSpec([None, 4], "float32"), InputSpec([None, 4], "float32")]

    def f(a, b):
        best = paddle.argmax(a, 1, keepdim=True)
        return paddle.bmm(a.unsqueeze(1), b.unsqueeze(2)), paddle.take_along_axis(b, best, 1), paddle.concat([a, b], 1)

    draw = np.random.RandomState(0)
    calls = [[draw.rand(n, 4).astype("float32"), draw.rand(n, 4).astype("float32")] for n in (2, 5)]
    agree(f, specs, calls, tmp_path)


def test_segments_and_messages(tmp_path):
    def f(x, ids):
        sums = paddle.geometric.segment_sum(x, ids)
        return sums, paddle.geometric.send_u_recv(x, ids, ids, "mean", out_size=x.shape[0])

    calls = [[np.random.rand(n, 2).astype("float32"), np.arange(n) // 2] for n in (4, 9)]
    agree(f, [OPEN[0], InputSpec([None], "int64")], calls, tmp_path)


def test_resizing_to_a_size_that_is_a_tensor(tmp_path):
    def f(x, y):
        a = nn.functional.interpolate(x, size=paddle.shape(y)[2:], mode="bilinear")
        return a, nn.functional.interpolate(x, scale_factor=0.5, mode="nearest")

    specs = [InputSpec([None, 1, None, 6], "float32"), InputSpec([None, 1, None, None], "float32")]
    calls = [[np.random.rand(n, 1, 2 * n, 6).astype("float32"), np.ones((n, 1, 3, n + 4), "float32")] for n in (2, 3)]
    agree(f, specs, calls, tmp_path)


@pytest.mark.parametrize("direction", ["forward", "bidirect"])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_over_an_open_length(kind, direction, tmp_path):
    paddle.seed(3)
    layer = kind(4, 5, num_layers=2, direction=direction)
    layer.eval()
    specs = [InputSpec([None, None, 4], "float32"), InputSpec([None], "int64")]
    static = paddle.jit.to_static(lambda x, n: layer(x, sequence_length=n)[0], input_spec=specs, full_graph=True)
    for batch, steps in ((2, 6), (3, 4)):
        x, n = paddle.randn([batch, steps, 4]), paddle.to_tensor([steps] + [2] * (batch - 1))
        np.testing.assert_allclose(static(x, n).numpy(), layer(x, sequence_length=n)[0].numpy(), rtol=1e-5, atol=1e-6)


def test_regions_of_an_open_number_of_images(tmp_path):
    def f(x, boxes, counts):
        return paddle.vision.ops.roi_align(x, boxes, counts, 3, spatial_scale=0.5, sampling_ratio=2)

    specs = [InputSpec([None, 2, 8, 8], "float32"), InputSpec([None, 4], "float32"), InputSpec([None], "int32")]
    box = np.array([[0, 0, 8, 8], [2, 3, 9, 12], [1, 1, 15, 5]], "float32")
    calls = [
        [np.random.rand(2, 2, 8, 8).astype("float32"), box, np.array([1, 2], "int32")],
        [np.random.rand(3, 2, 8, 8).astype("float32"), box[:2], np.array([0, 2, 0], "int32")],
    ]
    agree(f, specs, calls, tmp_path)


def test_results_that_only_a_loop_makes(tmp_path):
    def f(x):
        total, k = x.sum(), paddle.zeros([], "int64")
        while total < 100:
            x = x + 1
            total = x.sum()
            k = k + 1
            if x.max() > 9:
                return x * 2, k
        return x, k

    agree(f, OPEN, [*ROWS, [np.full((30, 2), 1.0, "float32")]], tmp_path)


def test_a_program_that_asserts_is_read_again(tmp_path):
    def f(x):
        assert (x > 0).all(), "positive numbers, please"
        return x * 2

    static, loaded = saved(f, OPEN, tmp_path)
    np.testing.assert_array_equal(loaded(paddle.ones([3, 2])).numpy(), np.full((3, 2), 2.0))
    for made in (static, loaded):
        with pytest.raises(AssertionError, match="positive numbers"):
            made(-paddle.ones([3, 2]))
