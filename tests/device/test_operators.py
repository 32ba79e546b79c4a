"""The records' samples on a device whose kernels the compiler writes: captured and compiled there = eager on the CPU, values and
first-order gradients.

Many operators share one program, since the device's compiler takes a second for each. A run takes groups from a place that the day
gives (or PADDLE_TEST_SLICE=<i>) until its time is used up, and says which.
"""

import os
import time

import numpy as np
import pytest
from samples import all_samples, arguments
from test_modes import GROUP, as_numpy, grad_names, label, name_of, step

paddle = pytest.importorskip("paddle")


def fits(row):
    return not (
        "modes" in row["exempt"]
        or row["random"]
        or row["data_dependent_shape"]
        or row["family"] in ("collective", "optimizer")
    )


# (sample, its own dtype, orders of derivatives)
CELLS = [(s, None, 1) for s in all_samples(fits) if s.index == 0]
GROUPS = [CELLS[i : i + GROUP] for i in range(0, len(CELLS), GROUP)]
START = int(os.environ.get("PADDLE_TEST_SLICE", time.time() // 86400)) * 7 % len(GROUPS)
ORDER = GROUPS[START:] + GROUPS[:START]
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float64": 1e-10,
    "complex128": 1e-10,
}


def run(group, device):
    paddle.device.set_device(device)
    try:
        calls = [arguments(paddle, s, needs=grad_names(s)) for s, _, _ in group]
        flat = [
            [t for a in args for t in (a if isinstance(a, list) else [a]) if isinstance(t, paddle.Tensor)]
            for args in calls
        ]
        leaves = [[t for t in tensors if not t.stop_gradient] for tensors in flat]

        def f():
            return step(group, calls, leaves)

        results = f() if device == "cpu" else paddle.jit.to_static(f, full_graph=True)()
        tensors = [t for cell in results for part in cell for t in part]
        return [as_numpy(t) for t in tensors], [name_of(t.dtype) for t in tensors]
    finally:
        paddle.device.set_device("cpu")


def same(group):
    got, types = run(group, "opencl")
    want, want_types = run(group, "cpu")
    assert types == want_types
    for g, w, t in zip(got, want, types, strict=True):
        assert g.shape == w.shape
        tolerance = TOLERANCE.get(t, 0)
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("group", ORDER, ids=lambda g: f"{label(g[0])}..{label(g[-1])}")
def test_equal_to_the_cpu(opencl, deadline, group):
    if time.monotonic() > deadline:
        pytest.skip("out of time (PADDLE_DEVICE_TEST_BUDGET)")
    try:
        same(group)
    except Exception:
        wrong = []
        for cell in group:
            try:
                same([cell])
            except Exception as e:
                wrong.append(f"{label(cell)} ({cell[0].row['line']}): {type(e).__name__}: {str(e).strip()[:300]}")
        if not wrong:
            raise
        pytest.fail("\n".join(wrong))
