"""Attention over more keys than queries and the reverse, and its derivatives of second order. Right values: the definition in NumPy's float64,
central differences, and which keys official Paddle 3.3.1 lets a query see: those up to its own number."""

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

LENGTHS = [(3, 3), (2, 4), (4, 2), (1, 7), (7, 1), (65, 130), (130, 33)]


def define(q, k, v, mask=None, causal=True):
    """[B, S, H, D] in float64; a mask of numbers."""
    q, k, v = (np.swapaxes(t.astype("float64"), 1, 2) for t in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else scores + mask
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.swapaxes(weights / weights.sum(-1, keepdims=True) @ v, 1, 2)


def drawn(rows, columns, dtype="float32", seed=0):
    stream = np.random.RandomState(seed)
    return [stream.randn(2, n, 2, 4).astype(dtype) for n in (rows, columns, columns)]


def tensors(arrays):
    return [paddle.to_tensor(a, stop_gradient=False) for a in arrays]


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: paddle.jit.to_static(f, full_graph=True)])
@pytest.mark.parametrize("rows, columns", LENGTHS)
def test_causal(rows, columns, wrap):
    arrays = drawn(rows, columns)
    attend = wrap(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    given = tensors(arrays)
    out = attend(*given)
    np.testing.assert_allclose(out.numpy(), define(*arrays), rtol=1e-4, atol=1e-5)
    g = np.random.RandomState(1).randn(*out.shape).astype("float32")
    (out * paddle.to_tensor(g)).sum().backward()
    moves = drawn(rows, columns, "float64", 2)
    ends = [define(*(a + s * 1e-5 * m for a, m in zip(arrays, moves))) for s in (1, -1)]
    want = ((ends[0] - ends[1]) / 2e-5 * g).sum()
    got = sum((t.grad.numpy().astype("float64") * m).sum() for t, m in zip(given, moves))
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", ["bool", "numbers"])
@pytest.mark.parametrize("rows, columns", LENGTHS)
def test_causal_with_a_mask(rows, columns, kind):
    arrays = drawn(rows, columns)
    kept = np.random.RandomState(3).rand(2, 1, rows, columns) > 0.4
    kept[..., 0] = True
    mask = np.where(kept, 0, -np.inf)
    given = paddle.to_tensor(kept if kind == "bool" else mask.astype("float32"))
    out = F.scaled_dot_product_attention(*tensors(arrays), given, is_causal=True)
    np.testing.assert_allclose(out.numpy(), define(*arrays, mask), rtol=1e-4, atol=1e-5)


def test_causal_with_open_lengths():
    spec = [paddle.static.InputSpec([None, None, 2, 4], "float32") for _ in range(3)]
    attend = paddle.jit.to_static(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), input_spec=spec, full_graph=True
    )
    for rows, columns in LENGTHS:
        arrays = drawn(rows, columns)
        np.testing.assert_allclose(attend(*tensors(arrays)).numpy(), define(*arrays), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: paddle.jit.to_static(f, full_graph=True)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rows, columns", [(3, 5), (5, 3), (66, 40)])
def test_second_derivatives(rows, columns, causal, wrap):
    """Of sum(out * w) along a direction in all three, twice."""
    arrays, moves = drawn(rows, columns, "float64"), drawn(rows, columns, "float64", 5)
    w = np.random.RandomState(6).randn(2, rows, 2, 4)

    def second(q, k, v):
        value = (F.scaled_dot_product_attention(q, k, v, is_causal=causal) * paddle.to_tensor(w)).sum()
        first = paddle.grad(value, [q, k, v], create_graph=True)
        along = sum((g * paddle.to_tensor(m)).sum() for g, m in zip(first, moves))
        return paddle.grad(along, [q, k, v], create_graph=True)

    got = wrap(second)(*tensors(arrays))
    along = sum((g.numpy() * m).sum() for g, m in zip(got, moves))
    step = 1e-4
    ends = [(define(*(a + s * step * m for a, m in zip(arrays, moves)), None, causal) * w).sum() for s in (1, 0, -1)]
    np.testing.assert_allclose(along, (ends[0] - 2 * ends[1] + ends[2]) / step**2, rtol=1e-5, atol=1e-5)


def test_dropout_keeps_its_draw_in_the_gradient():
    arrays = drawn(6, 9, "float64")
    q, k, v = tensors(arrays)

    def total(q):
        paddle.seed(5)
        return (F.scaled_dot_product_attention(q, k, v, None, 0.4, True) ** 2).sum()

    total(q).backward()
    move = np.random.RandomState(8).randn(*q.shape)
    ends = [float(total(paddle.to_tensor(arrays[0] + s * 1e-6 * move))) for s in (1, -1)]
    np.testing.assert_allclose((q.grad.numpy() * move).sum(), (ends[0] - ends[1]) / 2e-6, rtol=1e-5)
