"""Shapes whose sizes are numbers, symbolic sizes and tensors, in one list or as one tensor: eager, captured whole, in a static program."""

from __future__ import annotations

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

X = np.arange(24, dtype="float32").reshape(2, 3, 4)
# Each is given a = 2 (int64), b = 3 (int32) and x; the expected value says NumPy.
CALLS = {
    "ones": (lambda a, b, x: paddle.ones([a, 3, b]), np.ones([2, 3, 3], "float32")),
    "ones of a tensor": (lambda a, b, x: paddle.ones(paddle.stack([a, a])), np.ones([2, 2], "float32")),
    "zeros of a shape": (lambda a, b, x: paddle.zeros(paddle.shape(x)), np.zeros_like(X)),
    "full": (lambda a, b, x: paddle.full((a, b), 2.5), np.full([2, 3], 2.5, "float32")),
    "full of a tensor": (lambda a, b, x: paddle.full([a, 2, b], b), np.full([2, 2, 3], 3, "float32")),
    "full_like": (lambda a, b, x: paddle.full_like(x, a), np.full_like(X, 2)),
    "reshape": (lambda a, b, x: x.reshape([x.shape[0], b, a, -1]), X.reshape(2, 3, 2, 2)),
    "expand": (lambda a, b, x: paddle.expand(x[:1, :1, :1], [a, 3, b]), np.zeros([2, 3, 3], "float32")),
    "tile": (lambda a, b, x: paddle.tile(x, [1, a, b]), np.tile(X, [1, 2, 3])),
    "slice": (lambda a, b, x: paddle.slice(x, [0, 1], [0, a - 1], [a, b]), X[:, 1:3]),
    "strided_slice": (lambda a, b, x: paddle.strided_slice(x, [1], [0], [b], [a]), X[:, ::2]),
    "indexing": (lambda a, b, x: x[0:a, :b, -a:], X[:, :3, -2:]),
    "crop": (lambda a, b, x: paddle.crop(x, [a, 2, -1], [0, a - 1, 0]), X[:, 1:3]),
    "split": (lambda a, b, x: paddle.split(x, [a, -1], axis=2)[1], X[:, :, 2:]),
    "arange": (lambda a, b, x: paddle.arange(a, 10, b), np.arange(2, 10, 3)),
    "linspace": (lambda a, b, x: paddle.linspace(0.0, 1.0, b), np.array([0, 0.5, 1], "float32")),
    "pad": (lambda a, b, x: F.pad(x, [0, 0, 0, 0, a, b], value=7.0), np.pad(X, [(0, 0)] * 2 + [(2, 3)], constant_values=7)),
    "pad circular": (lambda a, b, x: F.pad(x, [a, 1], "circular", data_format="NCL"), np.pad(X, [(0, 0)] * 2 + [(2, 1)], "wrap")),
    "roll": (lambda a, b, x: paddle.roll(x, a, 1), np.roll(X, 2, 1)),
    "repeat_interleave": (lambda a, b, x: paddle.repeat_interleave(x, a, 1), np.repeat(X, 2, 1)),
    "repeat_interleave of all": (lambda a, b, x: paddle.repeat_interleave(x, b), np.repeat(X, 3)),
    "roll of all": (lambda a, b, x: paddle.roll(x, -b), np.roll(X, -3)),
}  # fmt: skip


def arguments(shape):
    return np.full(shape, 2, "int64"), np.full(shape, 3, "int32"), X


@pytest.mark.parametrize("name", CALLS)
def test_eager(name):
    f, want = CALLS[name]
    got = f(*(paddle.to_tensor(v) for v in arguments([])))
    np.testing.assert_allclose(got.numpy(), want)
    assert got.numpy().dtype == want.dtype


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("full_graph", [True, False])
def test_captured(name, full_graph):
    f, want = CALLS[name]
    got = paddle.jit.to_static(f, full_graph=full_graph)(*(paddle.to_tensor(v) for v in arguments([])))
    np.testing.assert_allclose(got.numpy(), want)
    assert got.numpy().dtype == want.dtype


@pytest.mark.parametrize("name", CALLS)
def test_the_size_of_the_result(name):
    """What the program computes from sizes that only running tells."""
    f, want = CALLS[name]

    def sizes(a, b, x):
        y = f(a, b, x)
        return y.reshape([y.shape[0] * (y.shape[-1] if y.ndim > 1 else 1), -1]), paddle.to_tensor([n + 0 * a for n in y.shape])

    got, shape = paddle.jit.to_static(sizes, full_graph=True)(*(paddle.to_tensor(v) for v in arguments([])))
    np.testing.assert_allclose(got.numpy(), want.reshape([want.shape[0] * (want.shape[-1] if want.ndim > 1 else 1), -1]))
    assert shape.tolist() == list(want.shape)


@pytest.mark.parametrize("name", CALLS)
def test_in_a_static_program(name):
    f, want = CALLS[name]
    paddle.enable_static()
    try:
        main, start = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, start):
            a, b = paddle.static.data("a", [], "int64"), paddle.static.data("b", [], "int32")
            out = f(a, b, paddle.static.data("x", [None, 3, 4], "float32"))
            feed = dict(zip(["a", "b", "x"], arguments([])))
            (got,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[out])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(got, want)


def test_gradient_passes_a_padding_and_a_shift_that_only_running_tells():
    @paddle.jit.to_static(full_graph=True)
    def f(x, n):
        y = F.pad(x, [n, 0], value=1.0)
        return (paddle.roll(y, n, 0) ** 2).sum()

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    f(x.reshape([1, 1, 2]), paddle.to_tensor(1)).backward()
    np.testing.assert_allclose(x.grad.numpy(), [2, 4])


def test_gradient_passes_a_tiling_whose_result_gives_other_sizes():
    @paddle.jit.to_static(full_graph=True)
    def f(x, n):
        y = paddle.tile(x, [n, 1])
        pairs = y.reshape([y.shape[0] // 2, 2, 3])
        return (F.pad(pairs.mean(1), [0, 1]) ** 2).sum()

    for n in (2, 6):
        x = paddle.to_tensor([[1.0, 2.0, 3.0], [3.0, 4.0, 7.0]], stop_gradient=False)
        loss = f(x, paddle.to_tensor(n))
        loss.backward()
        np.testing.assert_allclose(loss.numpy(), n * (4 + 9 + 25), rtol=1e-6)
        np.testing.assert_allclose(x.grad.numpy(), np.tile([[2.0, 3.0, 5.0]], [2, 1]) * n, rtol=1e-6)


def test_compiled_reductions_over_sizes_that_only_running_tells():
    """What loops over them need beside their results grows with the number of elements."""

    @paddle.jit.to_static(full_graph=True)
    def f(x):
        y = x[x > 0].unsqueeze(1) * paddle.to_tensor([1.0, 2.0])
        z = (y - y.mean(0)) ** 2
        return z.mean(0), paddle.nn.functional.softmax(z.T, -1).max(-1)

    for n in (4, 50, 40_000, 12):
        x = np.random.RandomState(n).randn(n).astype("float32")
        y = x[x > 0][:, None].astype("float64") * [1.0, 2.0]
        z = (y - y.mean(0)) ** 2
        e = np.exp(z - z.max(0))
        variance, most = f(paddle.to_tensor(x))
        np.testing.assert_allclose(variance.numpy(), z.mean(0), rtol=1e-4)
        np.testing.assert_allclose(most.numpy(), (e / e.sum(0)).max(0), rtol=1e-4)


def test_sizes_that_do_not_fit_are_found_when_they_are_known():
    f = paddle.jit.to_static(lambda x, n: paddle.split(x, [n, -1]), full_graph=True)
    x = paddle.arange(4)
    assert [p.shape for p in f(x, paddle.to_tensor(1))] == [[1], [3]]
    with pytest.raises(ValueError, match="split"):
        f(x, paddle.to_tensor(9))
