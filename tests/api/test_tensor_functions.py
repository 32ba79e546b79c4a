"""Functions of paddle.tensor against NumPy, and the forms in which callers give their arguments."""

import numpy as np
import paddle
import pytest

RNG = np.random.default_rng(0)


def t(a, **options):
    return paddle.to_tensor(a, **options)


def assert_close(got, want, tol=1e-5):
    want = np.asarray(want)
    assert list(got.shape) == list(want.shape)
    np.testing.assert_allclose(got.numpy(), want, rtol=tol, atol=tol)


def test_creation_dtypes():
    assert paddle.full([2], 3).dtype == paddle.float32
    assert paddle.full([2], True).dtype == paddle.bool
    assert paddle.arange(5).dtype == paddle.int64 and paddle.arange(0, 1, 0.25).dtype == paddle.float32
    assert paddle.assign([1.5]).dtype == paddle.float64 and paddle.assign(1).shape == [1]
    assert paddle.zeros(2, 3).shape == [2, 3] and paddle.ones([2], "int32").dtype == paddle.int32
    assert paddle.zeros_like(t([True])).dtype == paddle.bool
    assert_close(paddle.linspace(0, 1, 5), np.linspace(0, 1, 5))
    assert_close(paddle.logspace(0, 3, 4), [1, 10, 100, 1000])
    assert_close(paddle.eye(2, 3), np.eye(2, 3))
    assert_close(paddle.tril_indices(4, 3, 1), np.stack(np.tril_indices(4, 1, 3)))
    a, b = paddle.meshgrid(paddle.arange(2), paddle.arange(3))
    assert_close(a, [[0] * 3, [1] * 3]), assert_close(b, [[0, 1, 2]] * 2)


def test_shapes():
    x = RNG.random((2, 3, 4)).astype("float32")
    y = t(x)
    assert_close(y.reshape(4, -1), x.reshape(4, -1))
    assert_close(y.reshape([0, -1]), x.reshape(2, -1))
    assert_close(y.transpose(2, 0, 1), x.transpose(2, 0, 1))
    assert_close(y.transpose([1, 0, 2]), x.transpose(1, 0, 2))
    assert_close(y.permute(1, 2, 0), x.transpose(1, 2, 0))
    assert_close(y.T, x.T), assert_close(y.mT, x.swapaxes(-1, -2))
    assert_close(paddle.moveaxis(y, [0, 1], [2, 0]), np.moveaxis(x, [0, 1], [2, 0]))
    assert_close(paddle.rot90(y, 1, [0, 2]), np.rot90(x, 1, (0, 2)))
    assert_close(paddle.rot90(y, -1, [1, 2]), np.rot90(x, -1, (1, 2)))
    assert_close(paddle.unflatten(y, 2, [2, -1]), x.reshape(2, 3, 2, 2))
    assert_close(y.unsqueeze(0).squeeze(axis=0), x)
    assert_close(y[:1].expand(2, -1, 4), np.broadcast_to(x[:1], (2, 3, 4)))
    assert_close(paddle.tile(y, [2, 1]), np.tile(x, (2, 1)))
    assert_close(y.flip([0, 1]), x[::-1, ::-1])
    assert_close(paddle.repeat_interleave(y, t([1, 0, 2]), axis=1), np.repeat(x, [1, 0, 2], 1))
    assert isinstance(y.shape, list) and y.shape == [2, 3, 4] and y.shape == (2, 3, 4) and y.shape[1:].numel() == 12


def test_joining_and_splitting():
    x = t(np.arange(12, dtype="float32").reshape(3, 4))
    assert_close(paddle.concat([x, x], axis=t(1)), np.concatenate([x.numpy()] * 2, 1))
    assert_close(paddle.concat(tensors=[x, x], dim=0), np.concatenate([x.numpy()] * 2, 0))
    assert [p.shape for p in paddle.split(x, [1, -1, 1], axis=1)] == [[3, 1], [3, 2], [3, 1]]
    assert [p.shape for p in x.chunk(2, axis=-1)] == [[3, 2], [3, 2]]
    for n in (2, 3, [1, 3]):
        for got, want in zip(paddle.tensor_split(x, n, 1), np.array_split(x.numpy(), n, 1)):
            assert_close(got, want)
    with pytest.raises(ValueError):
        paddle.split(x, 3, axis=1)
    with pytest.raises(ValueError):
        paddle.concat([x, x[:2, :2]])
    assert_close(paddle.hstack([x, x]), np.hstack([x.numpy()] * 2)), assert_close(paddle.dstack([x, x]), np.dstack([x.numpy()] * 2))
    assert_close(
        paddle.block_diag([x[:1], x[:, :1]]),
        np.block([[x.numpy()[:1], np.zeros((1, 1))], [np.zeros((3, 4)), x.numpy()[:, :1]]]),
    )


def test_gather_and_scatter():
    x = RNG.random((3, 4)).astype("float32")
    y = t(x)
    assert_close(paddle.gather(y, t([2, 0])), x[[2, 0]])
    assert_close(paddle.gather(y, t(1)), x[1])
    i = np.array([[0, 3], [1, 1], [2, 0]])
    assert_close(paddle.take_along_axis(y, t(i), 1), np.take_along_axis(x, i, 1))
    assert_close(paddle.take_along_axis(y, t([[1]]), 0), x[1:2])
    want = x.copy()
    np.put_along_axis(want, i, 7.0, 1)
    assert_close(paddle.put_along_axis(y, t(i), 7.0, 1), want)
    want = x.copy()
    np.add.at(want, ([1, 1],), np.ones((2, 4), "float32"))
    assert_close(paddle.index_add(y, t([1, 1]), 0, paddle.ones([2, 4])), want)
    assert_close(paddle.scatter_nd(t([[1], [2], [1]]), paddle.ones([3]), [4]), [0, 2, 1, 0])
    assert_close(paddle.masked_fill(y, y > 0.5, -1), np.where(x > 0.5, -1, x))
    assert_close(paddle.index_fill(y, t([0]), 1, 5.0), np.where(np.arange(4) == 0, 5, x))
    mask = x > 0.5
    want = x.copy()
    want[mask] = np.arange(mask.sum())
    assert_close(paddle.masked_scatter(y, t(mask), paddle.arange(12, dtype="float32")), want)
    (
        assert_close(paddle.where(y > 0.5, y, 0.0), np.where(x > 0.5, x, 0)),
        assert_close(paddle.where(y > 0.5)[1], np.nonzero(x > 0.5)[1]),
    )
    (
        assert_close(paddle.take(y, t([-1, 5])), np.take(x, [-1, 5])),
        assert_close(paddle.take(y, t([13]), "wrap"), np.take(x, [13], mode="wrap")),
    )
    with pytest.raises(IndexError):
        paddle.take(y, t([12]))


def test_reductions_and_scans():
    x = RNG.random((3, 4, 2)).astype("float32")
    y = t(x)
    assert_close(y.std(), x.std(ddof=1)), assert_close(y.var(1, unbiased=False, keepdim=True), x.var(1, keepdims=True))
    assert_close(y.prod([0, 2]), x.prod((0, 2))), assert_close(paddle.nansum(t([1.0, np.nan])), 1.0)
    (
        assert_close(paddle.cumsum(y), x.ravel().cumsum()),
        assert_close(y.cumsum(1), x.cumsum(1)),
        assert_close(paddle.cumprod(y, 0), x.cumprod(0)),
    )
    assert_close(paddle.logsumexp(y, [0, 1]), np.log(np.exp(x).sum((0, 1))))
    assert_close(paddle.diff(y, n=2, axis=1), np.diff(x, 2, 1)), assert_close(y.count_nonzero(0), np.count_nonzero(x, 0))
    assert_close(paddle.quantile(y, [0.3, 0.5], axis=1), np.quantile(x, [0.3, 0.5], 1))
    for way in ("lower", "higher", "midpoint", "nearest"):
        assert_close(paddle.quantile(y, 0.4, axis=0, interpolation=way), np.quantile(x, 0.4, 0, method=way))
    assert_close(paddle.median(y, axis=1), np.median(x, 1)), assert_close(paddle.median(y), np.median(x))
    z = x.copy()
    z[0, 0, 0] = np.nan
    assert np.isnan(paddle.median(t(z)).item())
    (
        assert_close(paddle.nanmedian(t(z), axis=1), np.nanmedian(z, 1)),
        assert_close(paddle.nanquantile(t(z), 0.25), np.nanquantile(z, 0.25)),
    )
    assert_close(paddle.argmax(y), x.argmax()), assert_close(paddle.argmin(y, 1, keepdim=True), x.argmin(1, keepdims=True))


def test_sorting_and_searching():
    x = RNG.integers(0, 6, (4, 7))
    y = t(x)
    (
        assert_close(paddle.sort(y, axis=0, descending=True), -np.sort(-x, 0)),
        assert_close(paddle.argsort(y, stable=True), np.argsort(x, kind="stable")),
    )
    values, index, inverse, counts = paddle.unique(y, return_index=True, return_inverse=True, return_counts=True)
    for got, want in zip((values, index, inverse.reshape([-1]), counts), np.unique(x.ravel(), True, True, True)):
        assert_close(got, want)
    values, inverse, counts = paddle.unique_consecutive(t([1, 1, 2, 2, 2, 1]), True, True)
    assert_close(values, [1, 2, 1]), assert_close(inverse, [0, 0, 1, 1, 1, 2]), assert_close(counts, [2, 3, 1])
    assert_close(paddle.searchsorted(t([1, 3, 5]), t([3, 4]), right=True), np.searchsorted([1, 3, 5], [3, 4], "right"))
    assert_close(paddle.bincount(t(x.ravel()), minlength=8), np.bincount(x.ravel(), minlength=8))
    assert_close(paddle.histogram(y, bins=5, min=0, max=6), np.histogram(x, 5, (0, 6))[0])
    values, index = paddle.mode(t([[1.0, 3.0, 1.0], [2.0, 2.0, 3.0]]))
    assert_close(values, [1, 2]), assert_close(index, [2, 1])
    assert_close(paddle.isin(y, t([1, 4])), np.isin(x, [1, 4]))
    values, index = paddle.topk(y, 2, axis=0)
    assert_close(values, -np.sort(-x, 0)[:2])


@pytest.mark.parametrize(
    "equation, shapes",
    [("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
     ("ij->", [(2, 3)]), ("i,j->ij", [(2,), (3,)]), ("...ij,...jk->...ik", [(2, 5, 3, 4), (5, 4, 2)]),
     ("ij,ij->j", [(2, 3), (2, 3)]),
     ("ijk,kl,lm->ijm", [(2, 3, 4), (4, 5), (5, 2)]), ("b...->...b", [(2, 3, 4)]),
     ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
     ("ij,kj->ki", [(2, 3), (4, 3)]), ("i,i", [(4,), (4,)]), ("iij,j->i", [(3, 3, 2), (2,)])],
)  # fmt: skip
def test_einsum(equation, shapes):
    arrays = [RNG.random(s).astype("float32") for s in shapes]
    assert_close(paddle.einsum(equation, *(t(a) for a in arrays)), np.einsum(equation, *arrays))


def test_einsum_refuses():
    for equation, shapes in [
        ("ij,jk->ik", [(2, 3), (4, 4)]),
        ("ij->k", [(2, 3)]),
        ("ijk", [(2, 3)]),
        ("ij,jk", [(2, 3)]),
    ]:
        with pytest.raises(ValueError):
            paddle.einsum(equation, *(paddle.ones(s) for s in shapes))


def test_products():
    a, b = RNG.random((2, 3, 4)).astype("float32"), RNG.random((4, 3, 5)).astype("float32")
    assert_close(paddle.tensordot(t(a), t(b), [[1, 2], [1, 0]]), np.tensordot(a, b, ((1, 2), (1, 0))))
    assert_close(paddle.kron(t(a[0]), t(b[0])), np.kron(a[0], b[0]))
    assert_close(paddle.cross(t(a[:, :, 0]), t(a[:, :, 1])), np.cross(a[:, :, 0], a[:, :, 1]))
    assert_close(paddle.outer(t(a[0]), t(b[0])), np.outer(a[0], b[0])), assert_close(paddle.inner(t(a), t(a[0])), np.inner(a, a[0]))
    m = [RNG.random(s).astype("float32") for s in ((2, 9), (9, 3), (3, 4))]
    assert_close(paddle.linalg.multi_dot([t(v) for v in m]), m[0] @ m[1] @ m[2])
    assert_close(paddle.linalg.cov(t(m[0])), np.cov(m[0])), assert_close(paddle.linalg.corrcoef(t(m[0])), np.corrcoef(m[0]))
    for p in (1, 2, 3, 0, np.inf, -np.inf):
        assert_close(paddle.norm(t(a), p, axis=1), np.linalg.norm(a, p, 1))
    for p in ("fro", 1, np.inf):
        assert_close(paddle.norm(t(a[0]), p, axis=[0, 1]), np.linalg.norm(a[0], p))
    with pytest.raises(ValueError):
        paddle.bmm(t(a), t(b))


def test_pointwise_compositions():
    x, y = RNG.normal(size=(2, 50)).astype("float32")
    assert_close(paddle.hypot(t(x), t(y)), np.hypot(x, y)), assert_close(paddle.logaddexp(t(x), t(y)), np.logaddexp(x, y))
    assert_close(paddle.gcd(t([12, 7, 0]), t([18, 21, 5])), [6, 7, 5]), assert_close(paddle.lcm(t([4, 0]), t([6, 3])), [12, 0])
    mantissa, exponent = paddle.frexp(t(x))
    assert_close(mantissa, np.frexp(x)[0]), assert_close(exponent, np.frexp(x)[1])
    assert_close(paddle.signbit(t([-0.0, 1.0])), [True, False]), assert_close(paddle.sinc(t(x)), np.sinc(x))
    assert_close(paddle.nan_to_num(t([np.nan, np.inf, 1.0]), 2.0, 3.0), [2, 3, 1])
    assert_close(paddle.clip(t([1, 5]), min=2.5), [2.5, 5]), assert_close(paddle.clip(t(x), t(-0.5), t(0.5)), np.clip(x, -0.5, 0.5))
    assert_close(paddle.pow(t([2.0]), t([3.0])), [8]), assert_close(paddle.lerp(t([1.0]), t([3.0]), 0.25), [1.5])
    (
        assert_close(paddle.add(t([1.0]), t([2.0]), alpha=3), [7]),
        assert_close(paddle.divide(t([7]), t([-2]), rounding_mode="trunc"), [-3]),
    )


def test_in_place_forms_write_into_the_memory():
    x = t([1.0, 4.0, 9.0])
    view = x[1:]
    assert x.sqrt_() is x
    assert_close(view, [2, 3])
    x.fill_(2), assert_close(view, [2, 2])
    x.cumsum_(), assert_close(view, [4, 6])
    x.clip_(max=5), assert_close(view, [4, 5])
    x.zero_(), assert_close(view, [0, 0])
    x.uniform_(1, 2)
    assert (view >= 1).all() and (view < 2).all()
    y = t([[1.0, 2.0]])
    assert y.t_() is y and y.shape == [2, 1]
    assert y.unsqueeze_(0).shape == [1, 2, 1] and y.cast_("int64").dtype == paddle.int64


def test_gradient_of_composed_in_place_forms():
    x = t([1.0, 2.0], stop_gradient=False)
    y = x * 1
    y.cumprod_(0)
    y.sum().backward()
    assert_close(x.grad, [1 + 2, 1])  # 1 + 1 * 2


def test_out_takes_the_result():
    out = paddle.zeros([1])
    got = paddle.add(t([1.0]), t([2.0]), out=out)
    assert got is out
    assert_close(out, [3])
    paddle.stack([t(1.0), t(2.0)], out=out)
    assert_close(out, [1, 2])


def test_names_of_other_frameworks():
    x = t([[1.0, 2.0], [3.0, 4.0]])
    (
        assert_close(paddle.sum(input=x, dim=1), [3, 7]),
        assert_close(x.max(dim=0), [3, 4]),
        assert_close(paddle.cat([x, x], dim=1)[0], [1, 2, 1, 2]),
    )
    assert (
        x.view(4).shape == [4] and x.size == 4 and x.dim() == 2 and x.new_zeros([3]).shape == [3] and x.device == "cpu"
    )
    assert x.long().dtype == paddle.int64 and x.type_as(t([1])).dtype == paddle.int64
    with pytest.raises(TypeError):
        paddle.sum(x, nonsense=1)


def test_random_functions_are_seeded_and_shaped():
    paddle.seed(3)
    a = paddle.randn([2, 3]), paddle.randint(0, 5, [4]), paddle.randperm(5), paddle.uniform([3], min=2, max=3)
    paddle.seed(3)
    b = paddle.randn([2, 3]), paddle.randint(0, 5, [4]), paddle.randperm(5), paddle.uniform([3], min=2, max=3)
    for u, v in zip(a, b):
        assert_close(u, v.numpy())
    assert sorted(a[2].tolist()) == [0, 1, 2, 3, 4] and bool((a[3] >= 2).all()) and bool((a[3] < 3).all())
    x = paddle.normal(2.0, 0.5, [20000])
    assert abs(float(x.mean()) - 2) < 0.02 and abs(float(x.std()) - 0.5) < 0.02
    with pytest.raises(ValueError):
        paddle.randint(3, 3)


def test_dlpack_shares_memory_both_ways():
    a = np.arange(6, dtype="float32").reshape(2, 3)
    x = paddle.from_dlpack(a)
    x[0, 0] = 9.0
    assert a[0, 0] == 9.0
    b = np.from_dlpack(x.T)
    assert b.shape == (3, 2) and b[0, 0] == 9.0
    x[0, 1] = 5.0
    assert b[1, 0] == 5.0
    capsule = x.__dlpack__()
    y = paddle.from_dlpack(capsule)
    assert y.data_ptr() == x.data_ptr()
    with pytest.raises((ValueError, RuntimeError)):
        paddle.from_dlpack(capsule)


@pytest.mark.parametrize(
    "write, want",
    [
        (lambda y, c: y.sin_(), lambda x, c: np.cos(x)),
        (lambda y, c: y.multiply_(c), lambda x, c: c),
        (lambda y, c: y.abs_().sqrt_(), lambda x, c: np.sign(x) / (2 * np.sqrt(np.abs(x)))),
        (lambda y, c: y.clip_(-0.5, 0.5), lambda x, c: (np.abs(x) <= 0.5) * 1.0),
        (lambda y, c: y.fill_(2.0), lambda x, c: 0 * x),
        (lambda y, c: y.subtract_(c).divide_(c), lambda x, c: 1 / c),
    ],
)
def test_gradients_of_in_place_operators_read_the_old_elements(write, want):
    x, c = np.array([0.3, -1.2, 0.4], "float32"), np.array([2.0, 3.0, -4.0], "float32")
    leaf = t(x, stop_gradient=False)
    write(leaf * 1, t(c)).sum().backward()
    assert_close(leaf.grad, want(x, c))


def test_ties_share_the_gradient_of_max():
    x = t([[1.0, 1.0], [2.0, 1.0]], stop_gradient=False)
    paddle.max(x, axis=1).sum().backward()
    assert_close(x.grad, [[0.5, 0.5], [1, 0]])


def test_saved_tensors_go_through_hooks():
    seen = []
    x = t([1.0, 2.0], stop_gradient=False)
    with paddle.autograd.saved_tensors_hooks(
        lambda v: seen.append(v.shape) or v.numpy(), lambda a: seen.append("back") or paddle.to_tensor(a)
    ):
        y = paddle.exp(x) * x
    y.sum().backward()
    assert_close(x.grad, np.exp([1.0, 2.0]) * np.array([2.0, 3.0]))
    assert [2] in seen and "back" in seen


@pytest.mark.parametrize(
    "with_axes, without, want",
    [("float32", "float64", "float32"), ("bfloat16", "float32", "bfloat16"), ("int32", "int64", "int32"),
     ("int64", "float64", "float64"), ("complex64", "float64", "complex128"), ("complex64", "complex128", "complex64")],
)  # fmt: skip
def test_tensors_without_axes_count_like_numbers_in_promotion(with_axes, without, want):
    x, y = paddle.ones([2]).astype(with_axes), paddle.to_tensor(1.0).astype(without)
    want = getattr(paddle, want)
    assert (x * y).dtype == want and (y + x).dtype == want
    assert (paddle.ones([2]) * paddle.ones([1], "float64")).dtype == paddle.float64


def test_work_follows_sizes_not_numbers():
    v = np.array([1.0, 3.0, 9.0], "float32")
    for n in (3, 4, 2**40):
        assert paddle.diff(t(v), n=n).shape == [0]
    assert_close(paddle.diff(t(v), n=2), np.diff(v, 2))
    image = paddle.ones([1, 1, 5, 5])
    for size, kernel in ((6, None), (2**40, None), (5, 2), (0, None)):
        with pytest.raises(ValueError, match="output_size"):
            paddle.nn.functional.fractional_max_pool2d(image, size, kernel)
    assert paddle.nn.functional.fractional_max_pool2d(image, 4, 2).shape == [1, 1, 4, 4]


def test_the_exponential_of_a_matrix_without_bound():
    x = np.zeros([2, 2, 2])
    x[0, 0, 0] = np.inf
    x[1] = [[0, 1], [-1, 0]]
    got = paddle.linalg.matrix_exp(t(x)).numpy()
    assert np.isnan(got[0]).any()
    np.testing.assert_allclose(got[1], [[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]])
    assert not np.isfinite(paddle.linalg.matrix_exp(t(np.full([2, 2], 1e308))).numpy()).any()
