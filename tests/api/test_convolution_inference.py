"""Convolutions in programs for inference: by Winograd's algorithm or with a filter in a layout of its own; eager and
training only where FLAGS_winograd says so."""

import os
import subprocess
import sys

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

SHAPES = [
    (1, 8, 8, 56, 56, 1), (2, 16, 24, 28, 28, 1), (1, 9, 13, 14, 15, 1), (3, 32, 17, 7, 7, 1), (8, 16, 16, 5, 9, 0),
    (1, 8, 8, 33, 70, 2), (1, 12, 12, 130, 6, 1), (1, 16, 8, 4, 129, [0, 1, 2, 3]), (2, 300, 20, 30, 30, 1),
    (1, 8, 25, 64, 3, 1),
]  # fmt: skip


def reference(x, w, pad):
    top, bottom, left, right = [pad] * 4 if isinstance(pad, int) else pad
    x = np.pad(x.astype("float64"), [(0, 0), (0, 0), (top, bottom), (left, right)])
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,kcij->nkhw", windows, w.astype("float64"))


def data(n, c, k, h, w, seed=0):
    r = np.random.default_rng(seed)
    return r.standard_normal((n, c, h, w)).astype("float32"), (r.standard_normal((k, c, 3, 3)) / np.sqrt(9 * c)).astype(
        "float32"
    )


@pytest.fixture(params=["base", "avx2", "avx512"])
def isa(request):
    try:
        paddle.set_flags({"FLAGS_cpu_isa": request.param})
    except ValueError:
        pytest.skip("this processor lacks it")
    yield request.param
    paddle.set_flags({"FLAGS_cpu_isa": ""})


@pytest.fixture
def winograd():
    paddle.set_flags({"FLAGS_winograd": True})
    yield
    paddle.set_flags({"FLAGS_winograd": False})


@pytest.mark.parametrize("shape", SHAPES)
def test_winograd_is_near_the_direct_sum(isa, winograd, shape):
    n, c, k, h, w, pad = shape
    x, f = data(n, c, k, h, w)
    y = F.conv2d(paddle.to_tensor(x), paddle.to_tensor(f), padding=pad).numpy()
    np.testing.assert_allclose(y, reference(x, f, pad), atol=3e-5 if c <= 64 else 1e-4)


def test_the_flag_changes_the_algorithm():
    x, f = map(paddle.to_tensor, data(2, 32, 32, 32, 32))
    direct = F.conv2d(x, f, padding=1).numpy()
    paddle.set_flags({"FLAGS_winograd": True})
    try:
        assert not np.array_equal(F.conv2d(x, f, padding=1).numpy(), direct)
        # Not what it doesn't fit: other strides, dilations, groups, layouts, types.
        for kwargs in ({"stride": 2}, {"dilation": 2}, {"groups": 32}):
            g = f[:, :1] if "groups" in kwargs else f
            on = F.conv2d(x, g, padding=1, **kwargs).numpy()
            paddle.set_flags({"FLAGS_winograd": False})
            np.testing.assert_array_equal(F.conv2d(x, g, padding=1, **kwargs).numpy(), on)
            paddle.set_flags({"FLAGS_winograd": True})
    finally:
        paddle.set_flags({"FLAGS_winograd": False})


def test_nan_and_infinity_come_through(winograd):
    x, f = data(1, 16, 16, 32, 32)
    x[0, 3, 10, 12] = np.nan
    y = F.conv2d(paddle.to_tensor(x), paddle.to_tensor(f), padding=1).numpy()
    expected = np.isnan(reference(x, f, 1))
    assert np.isnan(y)[expected].all()  # tiles spread it a little further
    assert not np.isnan(y[:, :, :4]).any()


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Conv2D(8, 16, 3, padding=1)
        self.norm = paddle.nn.BatchNorm2D(16)
        self.down = paddle.nn.Conv2D(16, 16, 1, stride=2)
        self.last = paddle.nn.Conv2D(16, 16, 3, padding=1, bias_attr=False)

    def forward(self, x):
        return self.last(F.relu(self.down(F.relu(self.norm(self.first(x))))))


@pytest.mark.parametrize("symbolic", [False, True])
def test_programs_follow_their_weights(symbolic):
    paddle.seed(0)
    net = Net()
    net.eval()
    spec = [paddle.static.InputSpec([None, 8, None, None], "float32")] if symbolic else None
    fast = paddle.jit.to_static(net.forward, full_graph=True, input_spec=spec)
    with paddle.no_grad():
        for size in (32, 40, 32):
            x = paddle.randn([2, 8, size, size])
            for _ in range(3):
                expected = net(x).numpy()
                np.testing.assert_allclose(fast(x).numpy(), expected, atol=1e-5 * np.abs(expected).max())
                for p in net.parameters():  # in place: the program must notice
                    p.set_value(p * 1.25 + 0.01)
            net.last.weight.set_value(paddle.randn([16, 16, 3, 3]) * 0.1)
            np.testing.assert_allclose(fast(x).numpy(), net(x).numpy(), atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("kernel, stride", [(3, 1), (3, 2), (1, 1), (5, 1)])
@pytest.mark.parametrize("channels, filters", [(16, 24), (9, 13), (40, 21), (3, 64)])
def test_scales_become_part_of_kept_filters(isa, kernel, stride, channels, filters):
    paddle.seed(0)
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(channels, filters, kernel, stride=stride, padding=kernel // 2, bias_attr=False),
        paddle.nn.BatchNorm2D(filters),
    )
    net.eval()
    r = np.random.default_rng(0)
    fast = paddle.jit.to_static(net.forward, full_graph=True)
    x = paddle.to_tensor(r.standard_normal((2, channels, 20, 17)).astype("float32"))
    with paddle.no_grad():
        for _ in range(2):  # in place: the program must notice
            net[1].weight.set_value(r.uniform(-2, 2, filters).astype("float32"))
            expected = net(x).numpy()
            np.testing.assert_allclose(fast(x).numpy(), expected, atol=3e-5 * np.abs(expected).max())


def test_training_stays_direct():
    paddle.seed(0)
    net = paddle.nn.Conv2D(16, 16, 3, padding=1)
    x = paddle.randn([2, 16, 32, 32])
    y = paddle.jit.to_static(net.forward, full_graph=True)(x)
    np.testing.assert_array_equal(y.numpy(), net(x).numpy())
    assert not y.stop_gradient


ONE_CHANNEL = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Conv2D(1, 8, 5), paddle.nn.ReLU(), paddle.nn.MaxPool2D(2), paddle.nn.Conv2D(8, 1, 3))
net.eval()
with paddle.no_grad():
    paddle.jit.to_static(net, full_graph=True)(paddle.rand([2, 1, 20, 20]))
"""


def test_no_layout_leaves_only_the_reference_of_convolutions():
    """Images of one channel: a view's stride of that axis is no matter, but tells oneDNN a layout it has no kernel for."""
    environment = dict(os.environ, ONEDNN_VERBOSE="1", DNNL_VERBOSE="1", FLAGS_compile_cache_dir="")
    run = subprocess.run([sys.executable, "-c", ONE_CHANNEL], env=environment, capture_output=True, text=True, check=True)
    used = [line.split(",")[4] for line in run.stdout.splitlines() if ",exec,cpu,convolution," in line]
    assert used and not [u for u in used if u.startswith("ref")]
