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


def test_sizes_that_do_not_fit_are_found_when_they_are_known():
    f = paddle.jit.to_static(lambda x, n: paddle.split(x, [n, -1]), full_graph=True)
    x = paddle.arange(4)
    assert [p.shape for p in f(x, paddle.to_tensor(1))] == [[1], [3]]
    with pytest.raises(ValueError, match="split"):
        f(x, paddle.to_tensor(9))
