"""Attention written in many ways runs as one operator, with the values and gradients of its definition (NumPy, float64)."""

from __future__ import annotations

import math

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

from paddle import profiler

B, H, S, D = 2, 4, 70, 16
SCALE = D**-0.5
RANDOM = np.random.RandomState(3)
AHEAD = np.triu(np.ones([S, S], bool), 1)


def heads(groups=1):
    """q, k, v [B, H, S, D] as float32; k and v of H / groups heads."""
    return [RANDOM.randn(B, H // (1 if i == 0 else groups), S, D).astype("float32") for i in range(3)]


def define(q, k, v, added=0.0, chosen=None, fill=-np.inf):
    """(output, weights) of the definition."""
    q, k, v = (t.astype("float64") for t in (q, k, v))
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, 1), np.repeat(v, groups, 1)
    scores = q @ np.swapaxes(k, -1, -2) * SCALE + added
    scores = scores if chosen is None else np.where(chosen, scores, fill)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v, weights


def gradients(q, k, v, g, weights):
    groups = q.shape[1] // k.shape[1]
    wide_k, wide_v = (np.repeat(t.astype("float64"), groups, 1) for t in (k, v))
    through = g @ np.swapaxes(wide_v, -1, -2)
    scores = weights * (through - (through * weights).sum(-1, keepdims=True)) * SCALE
    gather = lambda t: t.reshape([B, H // groups, groups, S, D]).sum(2)  # noqa: E731
    return scores @ wide_k, gather(np.swapaxes(scores, -1, -2) @ q), gather(np.swapaxes(weights, -1, -2) @ g)


def turned(t):
    return paddle.transpose(t, [0, 1, 3, 2])


def scaled_after(q, k, v):
    return F.softmax(paddle.matmul(q, k, transpose_y=True) * SCALE) @ v


def divided(q, k, v):
    return paddle.matmul(F.softmax(paddle.matmul(q, turned(k)) / math.sqrt(D), axis=3), v)


def scaled_before(q, k, v):
    return F.softmax(paddle.matmul(q * SCALE, k, transpose_y=True), axis=-1) @ v


def by_einsum(q, k, v):
    return paddle.einsum("bhqk,bhkd->bhqd", F.softmax(paddle.einsum("bhqd,bhkd->bhqk", q, k) * SCALE), v)


def lengths_first(q, k, v):
    q, k, v = (paddle.transpose(t, [0, 2, 1, 3]).contiguous() for t in (q, k, v))
    q, k, v = (paddle.transpose(t, [0, 2, 1, 3]) for t in (q, k, v))
    out = paddle.transpose(scaled_after(q, k, v), [0, 2, 1, 3])
    return paddle.transpose(out.reshape([B, S, H * D]).reshape([B, S, H, D]), [0, 2, 1, 3])


def one_batch_axis(q, k, v):
    q, k, v = (t.reshape([B * H, S, D]) for t in (q, k, v))
    return paddle.bmm(F.softmax(paddle.bmm(q, paddle.transpose(k, [0, 2, 1])) * SCALE), v).reshape([B, H, S, D])


def softmax_in_parts(q, k, v):
    scores = paddle.matmul(q, k, transpose_y=True) * SCALE
    e = paddle.exp(scores - paddle.max(scores, axis=-1, keepdim=True))
    return (e / paddle.sum(e, axis=-1, keepdim=True)) @ v


def by_function(q, k, v):
    q, k, v = (paddle.transpose(t, [0, 2, 1, 3]) for t in (q, k, v))
    return paddle.transpose(F.scaled_dot_product_attention(q, k, v), [0, 2, 1, 3])


UNMASKED = [
    scaled_after,
    divided,
    scaled_before,
    by_einsum,
    lengths_first,
    one_batch_axis,
    softmax_in_parts,
    by_function,
]


def added_constant(q, k, v):
    mask = paddle.to_tensor(np.where(AHEAD, -1e9, 0).astype("float32"))
    return F.softmax(paddle.matmul(q, k, transpose_y=True) * SCALE + mask) @ v


def added_triu(q, k, v):
    mask = paddle.triu(paddle.full([S, S], -1e9), diagonal=1)
    return F.softmax(mask + paddle.matmul(q, k, transpose_y=True) * SCALE) @ v


def chosen_by_tril(q, k, v):
    scores = paddle.matmul(q, k, transpose_y=True) * SCALE
    seen = paddle.tril(paddle.ones([S, S], "bool"))
    return F.softmax(paddle.where(seen, scores, paddle.full([], -math.inf))) @ v


def filled(q, k, v):
    scores = paddle.matmul(q, k, transpose_y=True) * SCALE
    ahead = paddle.arange(S).unsqueeze(0) > paddle.arange(S).unsqueeze(1)
    return F.softmax(paddle.where(ahead, paddle.full_like(scores, -1e4), scores)) @ v


def causal_function(q, k, v):
    q, k, v = (paddle.transpose(t, [0, 2, 1, 3]) for t in (q, k, v))
    return paddle.transpose(F.scaled_dot_product_attention(q, k, v, is_causal=True), [0, 2, 1, 3])


CAUSAL = [added_constant, added_triu, chosen_by_tril, filled, causal_function]


def repeated(q, k, v):
    groups = q.shape[1] // k.shape[1]
    return scaled_after(q, *(paddle.repeat_interleave(t, groups, axis=1) for t in (k, v)))


def expanded(q, k, v):
    wide = lambda t: t.unsqueeze(2).expand([B, 2, H // 2, S, D]).reshape([B, H, S, D])  # noqa: E731
    return scaled_after(q, wide(k), wide(v))


def names_run(call):
    with profiler.Profiler(targets=[profiler.ProfilerTarget.CPU]) as p:
        call()
    return {s.name for s in p.profiler_result.spans}


def check(f, arrays, expected, weights):
    static = paddle.jit.to_static(f, full_graph=True)
    with paddle.no_grad():
        out = static(*map(paddle.to_tensor, arrays))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert "pd_op.attention" in static.main_program.compiled()
    tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    g = RANDOM.randn(*expected.shape)

    def step():
        static(*tensors).backward(paddle.to_tensor(g.astype("float32")))

    assert {"attention", "attention_grad"} <= {n.rsplit(".", 1)[-1] for n in names_run(step)}
    for t, want in zip(tensors, gradients(*arrays, g, weights)):
        np.testing.assert_allclose(t.grad.numpy(), want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("f", UNMASKED, ids=lambda f: f.__name__)
def test_forms(f):
    arrays = heads()
    check(f, arrays, *define(*arrays))


@pytest.mark.parametrize("f", CAUSAL, ids=lambda f: f.__name__)
def test_causal_forms(f):
    arrays = heads()
    check(f, arrays, *define(*arrays, chosen=~AHEAD))


@pytest.mark.parametrize("f", [repeated, expanded], ids=lambda f: f.__name__)
def test_heads_that_serve_several(f):
    arrays = heads(groups=2)
    check(f, arrays, *define(*arrays))


def kept_weights(q, k, v):
    weights = F.softmax(paddle.matmul(q, k, transpose_y=True) * SCALE)
    return weights @ v, weights


def other_axis(q, k, v):
    return F.softmax(paddle.matmul(q, k, transpose_y=True) * SCALE, axis=2) @ v


def mask_then_scale(q, k, v):
    mask = paddle.triu(paddle.full([S, S], -3.0), diagonal=1)
    return F.softmax((paddle.matmul(q, k, transpose_y=True) + mask) * SCALE) @ v


@pytest.mark.parametrize("f", [kept_weights, other_axis, mask_then_scale], ids=lambda f: f.__name__)
def test_what_is_something_else_stays(f):
    arrays = heads()
    static = paddle.jit.to_static(f, full_graph=True)
    with paddle.no_grad():
        got = static(*map(paddle.to_tensor, arrays))
    want = f(*map(paddle.to_tensor, arrays))
    for a, b in zip(*(t if isinstance(t, (list, tuple)) else [t] for t in (got, want))):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)
    assert "pd_op.attention" not in static.main_program.compiled()


def test_a_mask_that_learns_keeps_its_gradient():
    arrays = heads()
    bias = paddle.to_tensor(RANDOM.randn(1, H, S, S).astype("float32"), stop_gradient=False)
    f = paddle.jit.to_static(
        lambda q, k, v: F.softmax(paddle.matmul(q, k, transpose_y=True) * SCALE + bias) @ v, full_graph=True
    )
    g = RANDOM.randn(B, H, S, D)
    f(*map(paddle.to_tensor, arrays)).backward(paddle.to_tensor(g.astype("float32")))
    _, weights = define(*arrays, added=bias.numpy())
    through = g @ np.swapaxes(arrays[2].astype("float64"), -1, -2)
    want = (weights * (through - (through * weights).sum(-1, keepdims=True))).sum(0, keepdims=True)
    np.testing.assert_allclose(bias.grad.numpy(), want, rtol=1e-3, atol=1e-4)


def test_rows_that_see_nothing():
    q, k, v = heads()
    seen = np.ones([S, S], bool)
    seen[3] = False
    call = lambda fill: paddle.jit.to_static(  # noqa: E731
        lambda q, k, v: (
            F.softmax(
                paddle.where(
                    paddle.to_tensor(seen), paddle.matmul(q, k, transpose_y=True) * SCALE, paddle.full([], fill)
                )
            )
            @ v
        ),
        full_graph=True,
    )
    with paddle.no_grad():
        hidden, even = (call(f)(*map(paddle.to_tensor, (q, k, v))).numpy() for f in (-math.inf, -1e4))
    assert np.isnan(hidden[:, :, 3]).all() and np.isfinite(np.delete(hidden, 3, 2)).all()
    np.testing.assert_allclose(even[:, :, 3], v.mean(2), rtol=1e-4, atol=1e-5)


def test_what_no_weight_reaches_is_read_where_it_is_not_finite():
    """0 times infinity is NaN in the definition; a block that is passed over must not hide it."""
    q, k, v = heads()
    v[0, 0, S - 1, 0] = np.inf
    with paddle.no_grad():
        out = paddle.jit.to_static(added_constant, full_graph=True)(*map(paddle.to_tensor, (q, k, v))).numpy()
    assert np.isnan(out[0, 0, 0, 0]) and np.isfinite(out[0, 0, :, 1]).all()


def test_open_lengths():
    f = paddle.jit.to_static(lambda q, k, v: F.softmax(paddle.matmul(q, turned(k)) * SCALE) @ v, full_graph=True)
    for length in (5, 9, 130):
        q, k, v = (RANDOM.randn(B, H, length, D).astype("float32") for _ in range(3))
        with paddle.no_grad():
            out = f(*map(paddle.to_tensor, (q, k, v)))
        np.testing.assert_allclose(out.numpy(), define(q, k, v)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_narrow_numbers(dtype):
    arrays = heads()
    rounded = [paddle.to_tensor(a).astype(dtype).astype("float32").numpy() for a in arrays]
    q, k, v = (paddle.to_tensor(a).astype(dtype) for a in arrays)
    for t in (q, k, v):
        t.stop_gradient = False
    g = RANDOM.randn(B, H, S, D).astype("float32")
    out = paddle.jit.to_static(scaled_after, full_graph=True)(q, k, v)
    out.backward(paddle.to_tensor(g).astype(dtype))
    want, weights = define(*rounded)
    near = {"rtol": 3e-2, "atol": 3e-2}
    np.testing.assert_allclose(out.astype("float32").numpy(), want, **near)
    for t, w in zip((q, k, v), gradients(*rounded, g, weights)):
        np.testing.assert_allclose(t.grad.astype("float32").numpy(), w, **near)


def test_second_derivative():
    """Of sum(out^2): against central differences of the gradient, in float64."""
    size = [1, 1, 5, 3]
    q, k, v = (paddle.to_tensor(RANDOM.randn(*size), stop_gradient=False) for _ in range(3))
    attend = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)  # noqa: E731

    def gradient(at):
        return paddle.grad((attend(at, k, v) ** 2).sum(), at, create_graph=True)[0]

    direction = RANDOM.randn(*size)
    got = paddle.grad((gradient(q) * paddle.to_tensor(direction)).sum(), q)[0].numpy()
    want = np.zeros(size)
    for i in np.ndindex(*size):
        step = np.zeros(size)
        step[i] = 1e-5
        ends = [gradient(paddle.to_tensor(q.numpy() + s * step, stop_gradient=False)).numpy() for s in (1, -1)]
        want[i] = ((ends[0] - ends[1]) / 2e-5 * direction).sum()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_rows_that_are_masked_as_a_whole_by_a_large_number():
    q, k, v = heads()
    mask = np.zeros([S, S], "float32")
    mask[5:] = -1e9

    def masked(q, k, v, m):
        return F.softmax(paddle.matmul(q, k, transpose_y=True) * SCALE + m) @ v

    g = RANDOM.randn(B, H, S, D)
    given = [paddle.to_tensor(t, stop_gradient=False) for t in (q, k, v)]
    out = paddle.jit.to_static(masked, full_graph=True)(*given, paddle.to_tensor(mask))
    (out * paddle.to_tensor(g.astype("float32"))).sum().backward()
    # In float32 nothing is left of scores beside -1e9: all keys count the same, but for the sums' own last bit.
    scores = (q.astype("float64") @ np.swapaxes(k, -1, -2) * SCALE).astype("float32") + mask
    scores = scores.astype("float64")
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    for t, want in zip(given, gradients(q, k, v, g, weights), strict=True):
        np.testing.assert_allclose(t.grad.numpy(), want, rtol=1e-3, atol=1e-3)


def test_a_number_counts_as_its_dtype_holds_it():
    def masked(q, k, v, m):
        return F.softmax(paddle.masked_fill(paddle.matmul(q, k, transpose_y=True), m, -1e9)) @ v

    q, k, v = (paddle.to_tensor(t).astype("float16") for t in heads())
    mask = np.zeros([S, S], bool)
    mask[3] = True
    out = paddle.jit.to_static(masked, full_graph=True)(q, k, v, paddle.to_tensor(mask)).numpy()
    np.testing.assert_array_equal(np.isnan(out).all((0, 1, 3)), mask.all(-1))
