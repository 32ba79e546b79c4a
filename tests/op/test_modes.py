"""Eager = captured = compiled over the records' samples: values, dtypes, shapes, and gradients of first and second order.

Every run: each operator's first sample as it is written, and in one other dtype that the operator accepts, chosen by hash.
PADDLE_TEST_FULL=1 runs every sample in every dtype. Many samples share one program, or compiling would take longer than everything
else together; when a program differs, its samples are tried one by one and those that differ are named, with the row to replay.
PADDLE_TEST_BUDGET (seconds, default 120; no limit for the full matrix) bounds the whole.

Nothing is left out here: a record that can't be compared says so in its `exempt` field.
"""

import os
import time
import zlib

import numpy as np
import pytest
from samples import FLOATS, all_samples, arguments, outputs

paddle = pytest.importorskip("paddle")

GROUP = 12
FULL = os.environ.get("PADDLE_TEST_FULL", "0") not in ("", "0")
TOLERANCE = {"float16": 8e-3, "bfloat16": 6e-2, "float32": 3e-5, "complex64": 3e-5}
BUDGET = os.environ.get("PADDLE_TEST_BUDGET", "inf" if FULL else "120")
DEADLINE = time.monotonic() + float(BUDGET)
BACKENDS = {"captured": None, "compiled": "CINN"}


def other_dtypes(sample):
    """Floating-point types, besides those of the sample, that all its floating-point tensors may have."""
    floats = [n for n, d in sample.dtypes.items() if d in FLOATS]
    accepted = [set(sample.row["dtypes"].get(n, ())) for n in floats]
    if not floats or any(d not in FLOATS for d in sample.dtypes.values() if d.startswith("complex")):
        return []
    own = {sample.dtypes[n] for n in floats}
    return sorted(set.intersection(*accepted, FLOATS) - own)


def cells(keep):
    """(sample, dtype or None for its own, orders of derivatives)."""
    found = []
    for sample in all_samples(keep):
        others = other_dtypes(sample)
        if FULL:
            found += [(sample, dtype, 2) for dtype in [None, *others]]
        elif sample.index == 0:
            found.append((sample, None, 2))
            if others:
                found.append((sample, others[zlib.crc32(sample.row["op"].encode()) % len(others)], 1))
    return found


CELLS = cells(lambda row: "modes" not in row["exempt"])
CELLS.sort(key=lambda cell: cell[1] or "")  # programs of one dtype
GROUPS = [CELLS[i : i + GROUP] for i in range(0, len(CELLS), GROUP)]


def name_of(dtype):
    return str(dtype).rsplit(".", 1)[-1]


def label(cell):
    sample, dtype, _ = cell
    return sample.id if dtype is None else f"{sample.id}-{dtype}"


def grad_names(sample):
    row = sample.row
    can = row["has_vjp"] or row["composition"]
    return {n for n in row["differentiable"] if can and sample.dtypes.get(n) in FLOATS}


def weighted(t, salt):
    """The sum of t's elements with weights that differ from element to element."""
    t = t.reshape([-1]).astype("float64" if name_of(t.dtype) == "float64" else "float32")
    if type(t.shape[0]) is int:
        weights = paddle.to_tensor(np.cos(np.arange(t.shape[0]) * 0.7 + salt).astype(name_of(t.dtype)))
    else:  # a size that only running tells
        weights = paddle.cos(paddle.arange(0, t.shape[0], dtype=t.dtype) * 0.7 + float(salt))
    return (t * weights).sum().astype("float64")


def slopes(results, wanted, create_graph):
    """The gradients of the weighted sum of those results that have any."""
    sums = [weighted(o, k) for k, o in enumerate(results) if name_of(o.dtype) in FLOATS and not o.stop_gradient]
    if not wanted or not sums:
        return []
    total = sums[0]
    for s in sums[1:]:
        total = total + s
    return [g for g in paddle.grad(total, wanted, create_graph=create_graph, allow_unused=True) if g is not None]


def step(group, calls, leaves):
    """Per cell: the outputs, the gradients, the gradients of the gradients."""
    results = []
    for (sample, _, orders), args, wanted in zip(group, calls, leaves, strict=True):
        outs = outputs(sample.row, getattr(paddle._C_ops, sample.row["op"])(*args))
        twice = orders > 1 and "second_order" not in sample.row["exempt"]
        first = slopes(outs, wanted, twice)
        results.append([list(outs), first, slopes(first, wanted, False) if twice else []])
    return results


def run(group, mode):
    calls = [arguments(paddle, s, floats=dtype, needs=grad_names(s)) for s, dtype, _ in group]
    flat = [
        [t for a in args for t in (a if isinstance(a, list) else [a]) if isinstance(t, paddle.Tensor)] for args in calls
    ]
    leaves = [[t for t in tensors if not t.stop_gradient] for tensors in flat]

    def f():
        return step(group, calls, leaves)

    paddle.seed(7)
    if mode != "eager":
        f = paddle.jit.to_static(f, full_graph=True, backend=BACKENDS[mode])
    return f()


def as_numpy(t):
    return np.asarray(t.astype("float32").numpy() if name_of(t.dtype) == "bfloat16" else t.numpy())


def same(got, want):
    """All cells; the coarsest dtype of a cell's results says how exact they are."""
    for theirs, ours in zip(got, want, strict=True):
        assert [len(t) for t in theirs] == [len(t) for t in ours]
        pairs = [p for a, b in zip(theirs, ours, strict=True) for p in zip(a, b, strict=True)]
        tolerance = max([TOLERANCE.get(name_of(w.dtype), 1e-10) for _, w in pairs], default=0)
        for g, w in pairs:
            assert g.dtype == w.dtype
            assert list(g.shape) == list(w.shape)
            a, b = as_numpy(g), as_numpy(w)
            finite = np.abs(b[np.isfinite(b)]) if b.dtype.kind in "fc" else np.zeros(0)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, float(finite.max(initial=0))))


@pytest.mark.parametrize("mode", BACKENDS)
@pytest.mark.parametrize("group", GROUPS, ids=lambda g: f"{label(g[0])}..{label(g[-1])}")
def test_as_eager(group, mode):
    if time.monotonic() > DEADLINE:
        pytest.skip("out of time (PADDLE_TEST_BUDGET)")
    try:
        same(run(group, mode), run(group, "eager"))
    except Exception:
        wrong = []
        for cell in group:
            try:
                same(run([cell], mode), run([cell], "eager"))
            except Exception as e:
                where = cell[0].row["line"]
                wrong.append(f"{label(cell)} ({where}): {type(e).__name__}: {str(e).strip()[:400]}")
        if not wrong:
            raise
        pytest.fail("\n".join(wrong))
