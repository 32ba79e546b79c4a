"""Programs that write no weights: what passes make of convolutions and products computes what the operators did."""

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle import nn

TOLERANCE = {"float32": 3e-5, "float64": 1e-12, "bfloat16": 5e-2}


class Block(nn.Layer):
    """What a residual network is made of; every way that a layer can be followed."""

    def __init__(self, channels=32, stride=1, bias=True):
        super().__init__()
        self.stem = nn.Conv2D(3, channels, 7, stride=2, padding=3, bias_attr=None if bias else False)
        self.norm = nn.BatchNorm2D(channels)
        self.pool = nn.MaxPool2D(3, 2, 1)
        self.first = nn.Conv2D(channels, channels, 3, stride=stride, padding=1, bias_attr=False)
        self.first_norm = nn.BatchNorm2D(channels)
        self.second = nn.Conv2D(channels, channels, 3, padding=1)
        self.second_norm = nn.BatchNorm2D(channels)
        self.down = nn.Conv2D(channels, channels, 1, stride=stride, bias_attr=False)
        self.fc = nn.Linear(channels, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.norm(self.stem(x))))
        y = F.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        x = F.relu(y + self.down(x))
        return self.fc(x.mean(axis=[2, 3]))


def randomised(net, seed=0):
    """Statistics and scales as training leaves them."""
    r = np.random.default_rng(seed)
    for name, t in net.state_dict().items():
        if "variance" in name:
            t.set_value(r.uniform(0.5, 2, t.shape).astype("float32"))
        elif len(t.shape) == 1:
            t.set_value((r.standard_normal(t.shape) * 0.3 + ("norm.weight" in name)).astype("float32"))
    return net


def image(n=2, size=40, seed=1, dtype="float32"):
    return paddle.to_tensor(np.random.default_rng(seed).standard_normal((n, 3, size, size)).astype("float32")).astype(
        dtype
    )


def both(net, *args):
    compiled = paddle.jit.to_static(lambda *a: net(*a), full_graph=True)
    with paddle.no_grad():
        return net(*args), compiled(*args), compiled


def near(got, expected, dtype="float32"):
    got, expected = (t.astype("float64").numpy() for t in (got, expected))
    np.testing.assert_allclose(got, expected, atol=TOLERANCE[dtype] * max(1, np.abs(expected).max()), rtol=0)


def ops_of(net, *args):
    with paddle.no_grad():
        explanation = paddle.jit.explain(net, *args)
    return dict(explanation.stages)["fused"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("stride", [1, 2])
def test_a_residual_block(dtype, stride):
    net = randomised(Block(stride=stride)).eval().astype(dtype)
    expected, got, _ = both(net, image(dtype=dtype))
    near(got, expected, dtype)


def test_norms_and_sums_are_gone():
    net = randomised(Block(stride=2)).eval()
    text = ops_of(net, image())
    held, main = text.split('"builtin.hold"')[-1].split('"pd_op.data"', 1)
    assert "pd_op.batch_norm" not in text and main.count("pd_op.fused_conv2d_add_act") == 4, text
    assert "pd_op.rsqrt" in held and "pd_op.rsqrt" not in main
    assert "32x3x7x7" not in held  # filters are scaled where kernels bring them into their layouts
    assert 'data_format: "NCHW"' not in main  # all of it with channels last
    assert "pd_op.add" not in main and "pd_op.relu" not in main


def test_double_precision_stays_with_its_own_kernels():
    text = ops_of(randomised(Block()).eval().astype("float64"), image(dtype="float64"))
    assert "fused_conv2d_add_act" not in text and "NHWC" not in text


def test_any_batch():
    net = randomised(Block()).eval()
    f = paddle.jit.to_static(net, input_spec=[paddle.static.InputSpec([None, 3, 40, 40])], full_graph=True)
    with paddle.no_grad():
        for n in (2, 5, 3, 2):
            x = image(n, seed=n)
            near(f(x), Block.forward(net, x))


def test_weights_that_change_are_read_again():
    net = randomised(Block()).eval()
    x = image()
    _, before, compiled = both(net, x)
    with paddle.no_grad():
        for change in (
            lambda: net.first.weight.set_value(net.first.weight * 2),
            lambda: net.second_norm._variance.set_value(net.second_norm._variance * 3),
            lambda: net.fc.weight.set_value(net.fc.weight * -1),
        ):
            change()
            near(compiled(x), net(x))
            near(compiled(x), net(x))
    assert np.abs(before.numpy() - compiled(x).numpy()).max() > 1e-2


def test_a_filter_that_two_convolutions_share():
    class Twice(nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv, self.a, self.b = nn.Conv2D(16, 16, 3, padding=1), nn.BatchNorm2D(16), nn.BatchNorm2D(16)

        def forward(self, x):
            return self.b(self.conv(F.relu(self.a(self.conv(x)))))

    net = randomised(Twice()).eval()
    expected, got, _ = both(net, paddle.randn([2, 16, 12, 12]))
    near(got, expected)


def test_what_is_used_twice_is_not_fused_away():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2D(16, 16, 3, padding=1), nn.BatchNorm2D(16)

        def forward(self, x):
            y = self.conv(x)
            z = self.norm(y)
            return y, z, F.relu(z)

    net = randomised(Net()).eval()
    expected, got, _ = both(net, paddle.randn([2, 16, 9, 9]))
    for a, b in zip(got, expected):
        near(a, b)


def test_training_keeps_the_statistics_of_the_batch():
    net = randomised(Block()).train()
    other = randomised(Block()).train()
    other.set_state_dict(net.state_dict())
    compiled = paddle.jit.to_static(net, full_graph=True)
    for seed in (1, 2):
        near(compiled(image(4, seed=seed)), Block.forward(other, image(4, seed=seed)))
    for name, t in other.state_dict().items():
        if "mean" in name or "variance" in name:
            near(net.state_dict()[name], t)


def test_nan_and_infinity_come_through():
    net = randomised(Block(channels=16)).eval()
    compiled = paddle.jit.to_static(lambda x: F.relu(net.norm(net.stem(x))), full_graph=True)
    x = image().numpy()
    x[0, 0, 5, 5], x[1, 0, 30, 30] = np.nan, np.inf
    with paddle.no_grad():
        got, expected = compiled(paddle.to_tensor(x)).numpy(), F.relu(net.norm(net.stem(paddle.to_tensor(x)))).numpy()
    assert np.isnan(expected[0]).any() and np.array_equal(np.isnan(got), np.isnan(expected))


@pytest.mark.parametrize("size", [(1, 16, 64), (3, 48, 16), (2, 32, 80)])
def test_winograd_with_channels_last(size):
    """Tiles at the border, blocks of filters that aren't full; the chain keeps the layout."""
    n, c, k = size
    convs = [nn.Conv2D(c, k, 3, padding=1), nn.Conv2D(k, c, 3, padding=[0, 1]), nn.Conv2D(c, c, 1, stride=2)]

    def f(x):
        y = F.relu(convs[0](x))
        return convs[2](F.relu(convs[1](y) + x[:, :, 1:-1]))

    x = np.random.default_rng(0).standard_normal((n, c, 19, 30)).astype("float32")
    with paddle.no_grad():
        got = paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor(x))
        for conv in convs:
            conv.to(dtype="float64")
        near(got, f(paddle.to_tensor(x.astype("float64"))))


def test_layout_ends_where_an_operator_does_not_know_it():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = (nn.Conv2D(16, 16, 3, stride=s, padding=1) for s in (2, 2, 1))
            self.norm = nn.GroupNorm(4, 16)

        def forward(self, x):
            y = F.silu(self.a(x))
            z = paddle.concat([self.b(y), F.avg_pool2d(y, 2, 2, ceil_mode=True)], axis=1)
            w = self.norm(self.c(z[:, :16] * 2 + z.mean(axis=1, keepdim=True)))
            return w.flatten(1), z.max(axis=[1, 2]), y.sum(axis=[0, 2, 3])

    net = Net().eval()
    expected, got, _ = both(net, paddle.randn([2, 16, 18, 22]))
    for a, b in zip(got, expected):
        near(a, b)


@pytest.mark.parametrize("rows", [1, 2, 7, 16, 17, 130])
@pytest.mark.parametrize("columns", [1, 63, 64, 200])
def test_products_with_a_matrix_that_stays(rows, columns):
    r = np.random.default_rng(rows)
    w, b, x = (r.standard_normal(s).astype("float32") for s in ((48, columns), (columns,), (rows, 48)))
    tw, tb = paddle.create_parameter([48, columns], "float32"), paddle.create_parameter([columns], "float32")
    tw.set_value(w)
    tb.set_value(b)
    plain = paddle.jit.to_static(lambda t: paddle.matmul(t, tw), full_graph=True)
    turned = paddle.jit.to_static(lambda t: paddle.matmul(tw, t, transpose_x=True, transpose_y=True), full_graph=True)
    fused = paddle.jit.to_static(
        lambda t: F.linear(t, tw, tb) + paddle.ones([rows, columns]) * t[0, 0], full_graph=True
    )
    exact = x.astype("float64") @ w
    with paddle.no_grad():
        for _ in range(2):
            t = paddle.to_tensor(x)
            np.testing.assert_allclose(plain(t).numpy(), exact, atol=1e-4)
            np.testing.assert_allclose(turned(t).numpy(), exact.T, atol=1e-4)
            np.testing.assert_allclose(fused(t).numpy(), exact + b + x[0, 0], atol=1e-4)
        tw.set_value(2 * w)
        np.testing.assert_allclose(plain(t).numpy(), 2 * exact, atol=2e-4)


def test_a_held_result_that_is_given_out_is_the_callers():
    w = paddle.create_parameter([4, 4], "float32")
    f = paddle.jit.to_static(lambda x: (x * 2, w * 2), full_graph=True)
    with paddle.no_grad():
        expected = (w * 2).numpy()
        f(paddle.ones([2]))[1].add_(paddle.ones([4, 4]))
        np.testing.assert_array_equal(f(paddle.ones([2]))[1].numpy(), expected)
