"""Every record's first sample: eager = captured = compiled, values, dtypes, shapes and first-order gradients.

Many operators share one program, or compiling would take longer than everything else together. When a program differs, its
operators are tried one by one and the ones that differ are named. PADDLE_TEST_BUDGET (seconds, default 120) bounds the whole.
"""

import os
import time

import numpy as np
import pytest
from samples import FLOATS, all_samples, arguments, outputs

paddle = pytest.importorskip("paddle")

GROUP = 12
# What these return is not determined by their arguments, or they talk to other ranks.
SKIPPED = {"empty"}
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5}
DEADLINE = time.monotonic() + float(os.environ.get("PADDLE_TEST_BUDGET", "120"))


def fits(row):
    return not (
        row["random"]
        or row["data_dependent_shape"]
        or row["op"] in SKIPPED
        or row["family"] in ("collective", "optimizer")
    )


SAMPLES = [s for s in all_samples(fits) if s.index == 0]
GROUPS = [SAMPLES[i : i + GROUP] for i in range(0, len(SAMPLES), GROUP)]


def grad_names(sample):
    row = sample.row
    can = row["has_vjp"] or row["composition"]
    return {n for n in row["differentiable"] if can and sample.dtypes.get(n) in FLOATS}


def name_of(dtype):
    return str(dtype).rsplit(".", 1)[-1]


def step(samples, calls, leaves):
    """The outputs of every call, and the gradients of the sum of those that have one."""
    results = []
    for sample, args, wanted in zip(samples, calls, leaves, strict=True):
        outs = outputs(sample.row, getattr(paddle._C_ops, sample.row["op"])(*args))
        results.append(list(outs))
        sums = [o.astype("float32").sum() for o in outs if name_of(o.dtype) in FLOATS and not o.stop_gradient]
        if wanted and sums:
            grads = paddle.grad(sums, wanted, allow_unused=True)
            results.append([g for g in grads if g is not None])
    return results


def run(samples, static):
    calls = [arguments(paddle, s, needs=grad_names(s)) for s in samples]
    flat = [
        [t for a in args for t in (a if isinstance(a, list) else [a]) if isinstance(t, paddle.Tensor)] for args in calls
    ]
    leaves = [[t for t in tensors if not t.stop_gradient] for tensors in flat]

    def f():
        return step(samples, calls, leaves)

    return paddle.jit.to_static(f, full_graph=True)() if static else f()


def as_numpy(t):
    return np.asarray(t.astype("float32").numpy() if name_of(t.dtype) == "bfloat16" else t.numpy())


def same(got, want):
    assert [len(g) for g in got] == [len(w) for w in want]
    for g, w in zip([t for r in got for t in r], [t for r in want for t in r], strict=True):
        assert g.dtype == w.dtype
        assert list(g.shape) == list(w.shape)
        tolerance = TOLERANCE.get(name_of(w.dtype), 1e-10)
        np.testing.assert_allclose(as_numpy(g), as_numpy(w), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: f"{g[0].row['op']}..{g[-1].row['op']}")
def test_captured_and_compiled_equal_eager(group):
    if time.monotonic() > DEADLINE:
        pytest.skip("out of time (PADDLE_TEST_BUDGET)")
    try:
        same(run(group, static=True), run(group, static=False))
    except Exception:
        wrong = []
        for sample in group:
            try:
                same(run([sample], static=True), run([sample], static=False))
            except Exception as e:
                wrong.append(f"{sample.id} ({sample.row['line']}): {type(e).__name__}: {str(e).strip()[:300]}")
        if not wrong:
            raise
        pytest.fail("\n".join(wrong))
