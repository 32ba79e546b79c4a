"""Row kernels, depthwise convolution and the f64 product against NumPy in double precision."""

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

WIDTHS = [1, 2, 3, 7, 15, 16, 17, 31, 63, 64, 65, 100, 257, 1000]
TOLERANCE = {"float32": 3e-6, "float64": 1e-13, "bfloat16": 1e-2, "float16": 2e-3}


def tensor(a, dtype, grad=False):
    t = paddle.to_tensor(np.asarray(a, "float64")).astype(dtype)
    t.stop_gradient = not grad
    return t


def value(t):
    return t.astype("float64").numpy()


def np_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def close(got, expected, dtype, scale=1.0):
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE[dtype] * scale, atol=TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("n", WIDTHS)
def test_softmax_forward_and_backward(dtype, n):
    rng = np.random.default_rng(n)
    x = tensor(rng.normal(size=(5, n)) * 4, dtype, True)
    g = tensor(rng.normal(size=(5, n)), dtype)
    y = np_softmax(value(x))
    out = F.softmax(x)
    close(value(out), y, dtype, 2)
    (gx,) = paddle.grad(out, x, g)
    y, gv = value(out), value(g)
    close(value(gx), (gv - (gv * y).sum(-1, keepdims=True)) * y, dtype, 4)

    log = F.log_softmax(x)
    expected = value(x) - value(x).max(-1, keepdims=True)
    expected = expected - np.log(np.exp(expected).sum(-1, keepdims=True))
    close(value(log), expected, dtype, 4)
    (gx,) = paddle.grad(log, x, g)
    close(value(gx), gv - np.exp(value(log)) * gv.sum(-1, keepdims=True), dtype, 20)


def test_softmax_of_special_rows():
    inf, nan = np.inf, np.nan
    rows = np.array([[1, nan, 2], [inf, 0, 1], [-inf, -inf, -inf], [-inf, 0, 0], [1e30, -1e30, 0]], "float32")
    got = F.softmax(paddle.to_tensor(rows)).numpy()
    assert np.isnan(got[:3]).all()
    np.testing.assert_array_equal(got[3:], [[0, 0.5, 0.5], [1, 0, 0]])
    wide = np.full((2, 70), -1.0, "float32")
    wide[0, 69] = nan
    got = F.softmax(paddle.to_tensor(wide)).numpy()
    assert np.isnan(got[0]).all() and np.allclose(got[1], 1 / 70)


def test_softmax_of_strided_empty_and_other_axes():
    x = np.random.default_rng(0).normal(size=(6, 33)).astype("float32")
    np.testing.assert_allclose(F.softmax(paddle.to_tensor(x).T).numpy(), np_softmax(x.T), rtol=1e-6)
    np.testing.assert_allclose(F.softmax(paddle.to_tensor(x), axis=0).numpy(), np_softmax(x.T).T, rtol=1e-6)
    assert F.softmax(paddle.zeros([0, 4])).shape == [0, 4]
    assert F.softmax(paddle.zeros([4, 0])).shape == [4, 0]
    strided = paddle.to_tensor(x)
    F.softmax_(strided)
    np.testing.assert_allclose(strided.numpy(), np_softmax(x), rtol=1e-6)


def second_order(f, x, dtype="float64"):
    """d/dx of sum(g'(x) * v) against central differences of the first gradient."""
    rng = np.random.default_rng(3)
    v, w = rng.normal(size=x.shape), rng.normal(size=x.shape)

    def first(at, create_graph=False):
        t = tensor(at, dtype, True)
        out = f(t)
        (g,) = paddle.grad(
            out, t, tensor(np.cos(np.arange(out.size)).reshape(out.shape), dtype), create_graph=create_graph
        )
        return t, g

    t, g = first(x, True)
    (h,) = paddle.grad((g * tensor(v, dtype)).sum(), t)
    step = 1e-5
    up, down = value(first(x + step * w)[1]), value(first(x - step * w)[1])
    np.testing.assert_allclose((value(h) * w).sum(), ((up - down) * v).sum() / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "f",
    [
        F.softmax,
        F.log_softmax,
        lambda x: F.layer_norm(x, [x.shape[-1]], epsilon=1e-3),
        lambda x: F.cross_entropy(x, paddle.to_tensor([1, 0, 2, 1]), reduction="none"),
    ],
)
def test_fused_gradients_can_be_differentiated(f):
    second_order(f, np.random.default_rng(1).normal(size=(4, 5)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("n", WIDTHS[1:])
@pytest.mark.parametrize("with_bias", [True, False])
def test_layer_norm(dtype, n, with_bias):
    rng = np.random.default_rng(n)
    x, g = tensor(rng.normal(size=(9, n)) * 3 + 1, dtype, True), tensor(rng.normal(size=(9, n)), dtype)
    w = tensor(1 + 0.3 * rng.normal(size=n), dtype, True)
    b = tensor(rng.normal(size=n), dtype, True) if with_bias else None
    out = F.layer_norm(x, [n], w, b, 1e-3)
    xv, wv, gv = value(x), value(w), value(g)
    inv = 1 / np.sqrt(xv.var(-1, keepdims=True) + 1e-3)
    hat = (xv - xv.mean(-1, keepdims=True)) * inv
    close(value(out), hat * wv + (value(b) if with_bias else 0), dtype, 8)
    grads = paddle.grad(out, [x, w, b] if with_bias else [x, w], g)
    gw = gv * wv
    gx = inv * (gw - gw.mean(-1, keepdims=True) - hat * (gw * hat).mean(-1, keepdims=True))
    close(value(grads[0]), gx, dtype, 20)
    close(value(grads[1]), (gv * hat).sum(0), dtype, 40)
    if with_bias:
        close(value(grads[2]), gv.sum(0), dtype, 40)


@pytest.mark.parametrize(
    "shape,fmt", [((3, 5, 4, 6), "NCHW"), ((3, 4, 6, 5), "NHWC"), ((7, 5), "NC"), ((200, 3), "NC"), ((2, 3, 9), "NCL")]
)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_norm(shape, fmt, training, dtype):
    rng = np.random.default_rng(5)
    c = shape[-1] if fmt == "NHWC" else shape[1]
    axes = tuple(i for i in range(len(shape)) if i != (len(shape) - 1 if fmt == "NHWC" else 1))
    lift = [c if i not in axes else 1 for i in range(len(shape))]
    x, g = tensor(rng.normal(size=shape) * 2 + 3, dtype, True), tensor(rng.normal(size=shape), dtype)
    mean, var = tensor(rng.normal(size=c), dtype), tensor(rng.uniform(0.5, 2, size=c), dtype)
    w, b = tensor(1 + 0.2 * rng.normal(size=c), dtype, True), tensor(rng.normal(size=c), dtype, True)
    old_mean, old_var = value(mean), value(var)
    out = F.batch_norm(x, mean, var, w, b, training=training, momentum=0.8, epsilon=1e-3, data_format=fmt)
    xv, gv, wv = value(x), value(g), value(w).reshape(lift)
    m = xv.mean(axes, keepdims=True) if training else old_mean.reshape(lift)
    v = xv.var(axes, keepdims=True) if training else old_var.reshape(lift)
    hat = (xv - m) / np.sqrt(v + 1e-3)
    close(value(out), hat * wv + value(b).reshape(lift), dtype, 8)
    close(value(mean), 0.8 * old_mean + 0.2 * m.ravel() if training else old_mean, dtype, 4)
    close(value(var), 0.8 * old_var + 0.2 * v.ravel() if training else old_var, dtype, 4)
    gx, gs, gb = paddle.grad(out, [x, w, b], g)
    gw = gv * wv / np.sqrt(v + 1e-3)
    if training:
        gw = gw - gw.mean(axes, keepdims=True) - hat * (gw * hat).mean(axes, keepdims=True)
    close(value(gx), gw, dtype, 20)
    close(value(gs), (gv * hat).sum(axes), dtype, 100)
    close(value(gb), gv.sum(axes), dtype, 100)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("label_dtype", ["int64", "int32"])
def test_cross_entropy(dtype, label_dtype):
    rng = np.random.default_rng(2)
    x = tensor(rng.normal(size=(7, 37)) * 3, dtype, True)
    label = np.array([0, 36, 5, -100, 9, 1, -100])
    out = F.cross_entropy(x, paddle.to_tensor(label.astype(label_dtype)), reduction="none")
    p, counted = np_softmax(value(x)), label >= 0
    expected = np.where(counted, -np.log(p[np.arange(7), np.maximum(label, 0)]), 0)
    close(value(out).ravel(), expected, dtype, 4)
    (gx,) = paddle.grad(out.sum(), x)
    p[np.arange(7)[counted], label[counted]] -= 1
    close(value(gx), p * counted[:, None], dtype, 4)


def test_cross_entropy_refuses_labels_that_are_no_class():
    x = paddle.zeros([2, 3])
    x.stop_gradient = False
    with pytest.raises((IndexError, ValueError)):
        F.cross_entropy(x, paddle.to_tensor([0, 3]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "kernel,padding,dilation,multiplier", [(3, 1, 1, 1), (5, 2, 1, 2), (3, 2, 2, 1), (2, 0, 1, 1), (1, 0, 1, 3)]
)
@pytest.mark.parametrize("width", [5, 17, 56])
def test_depthwise_convolution(dtype, kernel, padding, dilation, multiplier, width):
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(2, 3, 7, width)), rng.normal(size=(3 * multiplier, 1, kernel, kernel))
    out = F.conv2d(tensor(x, dtype), tensor(w, dtype), padding=padding, dilation=dilation, groups=3)
    padded = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    reach = dilation * (kernel - 1)
    h, wide = padded.shape[2] - reach, padded.shape[3] - reach
    expected = np.zeros((2, 3 * multiplier, h, wide))
    for k in range(3 * multiplier):
        for u in range(kernel):
            for v in range(kernel):
                part = padded[:, k // multiplier, u * dilation : u * dilation + h, v * dilation : v * dilation + wide]
                expected[:, k] += w[k, 0, u, v] * part
    close(value(out), expected, dtype, 10)


@pytest.mark.parametrize(
    "m,k,n", [(1, 5, 9), (4, 4, 8), (7, 33, 25), (8, 256, 24), (97, 300, 31), (130, 513, 1030), (33, 17, 2)]
)
@pytest.mark.parametrize("tx,ty", [(False, False), (True, True), (True, False)])
def test_f64_product(m, k, n, tx, ty):
    rng = np.random.default_rng(m)
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    got = paddle.matmul(paddle.to_tensor(a.T if tx else a), paddle.to_tensor(b.T if ty else b), tx, ty)
    np.testing.assert_allclose(got.numpy(), a @ b, rtol=1e-12, atol=1e-12 * k)
    batch = paddle.matmul(paddle.to_tensor(np.stack([a, 2 * a])), paddle.to_tensor(b))
    np.testing.assert_allclose(batch.numpy()[1], 2 * (a @ b), rtol=1e-12, atol=1e-12 * k)


def test_embedding_gradient_adds_up_repeated_rows():
    ids = np.array([[3, 0, 3], [3, 2, 0]])
    table = tensor(np.zeros((5, 300)), "float32", True)
    g = np.random.default_rng(0).normal(size=(2, 3, 300)).astype("float32")
    (grad,) = paddle.grad(F.embedding(paddle.to_tensor(ids), table, padding_idx=2), table, paddle.to_tensor(g))
    expected = np.zeros((5, 300))
    np.add.at(expected, ids[ids != 2], g[ids != 2].astype("float64"))
    np.testing.assert_allclose(grad.numpy(), expected, rtol=1e-5, atol=1e-6)


def naive_conv2d(x, w, stride, padding, dilation, groups):
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    n, filters, (kh, kw) = x.shape[0], w.shape[0], w.shape[2:]
    h = (x.shape[2] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    wide = (x.shape[3] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((n, filters, h, wide))
    per = w.shape[1]
    for k in range(filters):
        c = k // (filters // groups) * per
        for i in range(h):
            for j in range(wide):
                rows = i * stride[0] + dilation[0] * np.arange(kh)
                cols = j * stride[1] + dilation[1] * np.arange(kw)
                out[:, k, i, j] = (x[:, c : c + per][:, :, rows[:, None], cols] * w[k]).sum((1, 2, 3))
    return out


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(
    "stride,padding,dilation,groups",
    [
        ((1, 1), (1, 1), (1, 1), 1),
        ((2, 3), (1, 2), (1, 1), 2),
        ((1, 2), (0, 3), (2, 1), 1),
        ((3, 1), (4, 4), (1, 3), 4),
    ],
)
def test_f64_convolution(layout, stride, padding, dilation, groups):
    rng = np.random.default_rng(6)
    x, w = rng.normal(size=(2, 4, 9, 11)), rng.normal(size=(8, 4 // groups, 3, 2))
    dx, dw = rng.normal(size=x.shape), rng.normal(size=w.shape)
    lay = (lambda a: np.ascontiguousarray(a.transpose(0, 2, 3, 1))) if layout == "NHWC" else (lambda a: a)
    xt, wt = tensor(lay(x), "float64", True), tensor(w, "float64", True)
    out = F.conv2d(xt, wt, None, list(stride), list(padding), list(dilation), groups, layout)
    expected = naive_conv2d(x, w, stride, padding, dilation, groups)
    np.testing.assert_allclose(out.numpy(), lay(expected), rtol=1e-12, atol=1e-12)
    g = rng.normal(size=expected.shape)
    gx, gw = paddle.grad(out, [xt, wt], tensor(lay(g), "float64"))
    along_x = (g * naive_conv2d(dx, w, stride, padding, dilation, groups)).sum()
    along_w = (g * naive_conv2d(x, dw, stride, padding, dilation, groups)).sum()
    np.testing.assert_allclose((gx.numpy() * lay(dx)).sum(), along_x, rtol=1e-11)
    np.testing.assert_allclose((gw.numpy() * dw).sum(), along_w, rtol=1e-11)
