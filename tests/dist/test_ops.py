"""Every record sharded equals unsharded: values and gradients, on meshes of one and two dimensions."""

import itertools
import random
import zlib

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import as_numpy, paddle, run  # noqa: E402
from samples import FLOATS, all_samples, arguments, outputs  # noqa: E402

import paddle.distributed as dist  # noqa: E402

# What these return is not determined by their arguments, or they work between ranks.
SKIPPED = {"empty", "empty_like"}
# Three, four and five ranks for sizes of two to five: even, uneven and empty shards.
MESHES = {"1d": [0, 1, 2], "2d": [[0, 1], [2, 3]], "wide": [0, 1, 2, 3, 4]}
LIMIT = {"1d": 14, "2d": 6, "wide": 4}  # combinations a sample


def tensors(args):
    for a in args:
        yield from (
            a
            if isinstance(a, list) and a and isinstance(a[0], paddle.Tensor)
            else [a]
            if isinstance(a, paddle.Tensor)
            else []
        )


def choices(tensor, axes):
    one = [dist.Replicate(), *(dist.Shard(d) for d in range(tensor.ndim))]
    if str(tensor.dtype).rsplit(".", 1)[-1] in ("float32", "float64"):
        one.append(dist.Partial())
    return list(itertools.product(one, repeat=axes))


def combinations(sample, args, axes, limit):
    spaces = [choices(t, axes) for t in tensors(args)]
    total = 1
    for s in spaces:
        total *= len(s)
    rng = random.Random(zlib.crc32(sample.id.encode()) + axes)
    if total <= limit:
        return list(itertools.product(*spaces))
    return [tuple(rng.choice(s) for s in spaces) for _ in range(limit)]


def placed(args, placements, mesh):
    """The arguments as distributed tensors. A Partial one is the sum of parts, none of which is the whole."""
    it = iter(placements)

    def one(t):
        p = list(next(it))
        stop = t.stop_gradient
        halves = t.detach()
        if any(q.is_partial() for q in p) and np.isfinite(as_numpy(t)).all():
            noise = paddle.full_like(halves, 0.5)
            part = dist.shard_tensor(halves - noise, mesh, p)
            rest = dist.shard_tensor(noise, mesh, p)
            d = part + rest
        else:
            d = dist.shard_tensor(halves, mesh, p)
        d = d.detach()
        d.stop_gradient = stop
        return d

    return [[one(t) for t in a] if isinstance(a, list) and a and isinstance(a[0], paddle.Tensor)
            else one(a) if isinstance(a, paddle.Tensor) else a for a in args]  # fmt: skip


def compare(what, got, want, dtype):
    tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-10}.get(dtype, 2e-5)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    finite = want[np.isfinite(want)] if want.dtype.kind in "fc" else want
    scale = max(1.0, float(np.max(np.abs(finite), initial=0))) if want.dtype.kind in "fc" else 1.0
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale, err_msg=what)
    else:
        np.testing.assert_array_equal(got, want, err_msg=what)


def check(sample, kind):
    ids = MESHES[kind]
    axes = np.ndim(ids)
    op = getattr(paddle._C_ops, sample.row["op"])
    want = [as_numpy(t) for t in outputs(sample.row, op(*arguments(paddle, sample)))]

    def body(rank):
        mesh = dist.ProcessMesh(ids)
        for combination in combinations(sample, arguments(paddle, sample), axes, LIMIT[kind]):
            args = placed(arguments(paddle, sample), combination, mesh)
            try:
                got = outputs(sample.row, op(*args))
            except Exception as error:
                raise AssertionError(f"{sample.id} {combination}") from error
            assert len(got) >= len(want)
            for k, (g, w) in enumerate(zip(got, want)):
                dtype = str(g.dtype).rsplit(".", 1)[-1]
                compare(f"{sample.id} output {k} {combination} -> {g.placements}", as_numpy(g), w, dtype)

    run(int(np.size(ids)), body)


def usable(row):
    return not row["random"] and row["op"] not in SKIPPED and row["family"] not in ("collective", "optimizer")


def has_tensors(sample):
    return any(
        isinstance(v, np.ndarray) or (isinstance(v, list) and v and isinstance(v[0], np.ndarray))
        for v in sample.values.values()
    )


SAMPLES = [s for s in all_samples(usable) if has_tensors(s)]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_sharded_equals_unsharded_1d(sample):
    check(sample, "1d")


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.index == 0], ids=lambda s: s.id)
def test_sharded_equals_unsharded_2d(sample):
    check(sample, "2d")


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.index == 0], ids=lambda s: s.id)
def test_sharded_equals_unsharded_on_more_ranks_than_parts(sample):
    check(sample, "wide")


# ---- gradients
def needs_of(sample):
    names = []
    for name in sample.row["differentiable"]:
        value = sample.values[name]
        arrays = value if isinstance(value, list) else [value]
        if sample.dtypes.get(name) in FLOATS and arrays and all(isinstance(a, np.ndarray) and a.size for a in arrays):
            names.append(name)
    return set(names) if all("float64" in sample.row["dtypes"][n] for n in names) else set()


def gradients(sample, args, weights):
    outs = [
        o for o in outputs(sample.row, getattr(paddle._C_ops, sample.row["op"])(*args)) if "float64" in str(o.dtype)
    ]
    outs = [o for o in outs if not o.stop_gradient]
    total = None
    for k, o in enumerate(outs):
        if len(weights) <= k:
            weights.append(np.random.default_rng(k).standard_normal(o.shape))
        term = (o * paddle.to_tensor(np.asarray(weights[k]))).sum()
        total = term if total is None else total + term
    if total is None:
        return None
    total.backward()
    return [None if t.grad is None else as_numpy(t.grad) for t in tensors(args) if not t.stop_gradient]


GRADIENTS = [s for s in SAMPLES if (s.row["has_vjp"] or s.row["composition"]) and needs_of(s)
             and not any("nan" in f for f in s.flags.values())]  # fmt: skip


@pytest.mark.parametrize("sample", GRADIENTS, ids=lambda s: s.id)
def test_gradients_of_shards(sample):
    needs, weights = needs_of(sample), []

    def fresh():
        return arguments(paddle, sample, floats="float64", needs=needs)

    want = gradients(sample, fresh(), weights)
    if want is None:
        pytest.skip("no output that a gradient flows into")

    def body(rank):
        mesh = dist.ProcessMesh(MESHES["1d"])
        for combination in combinations(sample, fresh(), 1, 8):
            if any(p.is_partial() for ps in combination for p in ps):
                combination = tuple(tuple(dist.Replicate() if p.is_partial() else p for p in ps) for ps in combination)
            try:
                got = gradients(sample, placed(fresh(), combination, mesh), list(weights))
            except Exception as error:
                raise AssertionError(f"{sample.id} {combination}") from error
            for k, (g, w) in enumerate(zip(got, want)):
                if w is None:
                    assert g is None
                else:
                    compare(f"{sample.id} gradient {k} {combination}", g, w, "float64")

    run(3, body)
