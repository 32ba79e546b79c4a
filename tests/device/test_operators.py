"""The records' samples on a device whose kernels the compiler writes: captured and compiled there = eager on the CPU, values and
first-order gradients.

Many operators share one program, since the device's compiler takes a second for each. A run takes groups from a place that the day
gives (or PADDLE_TEST_SLICE=<i>) until its time is used up, and says which.
"""

import os
import time

import numpy as np
import pytest
from test_modes import GROUPS, as_numpy, grad_names, name_of, step
from samples import arguments

paddle = pytest.importorskip("paddle")

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


def run(samples, device):
    paddle.device.set_device(device)
    try:
        calls = [arguments(paddle, s, needs=grad_names(s)) for s in samples]
        flat = [
            [t for a in args for t in (a if isinstance(a, list) else [a]) if isinstance(t, paddle.Tensor)]
            for args in calls
        ]
        leaves = [[t for t in tensors if not t.stop_gradient] for tensors in flat]

        def f():
            return step(samples, calls, leaves)

        results = f() if device == "cpu" else paddle.jit.to_static(f, full_graph=True)()
        return [[as_numpy(t) for t in r] for r in results], [[name_of(t.dtype) for t in r] for r in results]
    finally:
        paddle.device.set_device("cpu")


def same(samples):
    got, types = run(samples, "opencl")
    want, want_types = run(samples, "cpu")
    assert types == want_types
    for g, w, t in zip(
        [a for r in got for a in r], [a for r in want for a in r], [a for r in types for a in r], strict=True
    ):
        assert g.shape == w.shape
        tolerance = TOLERANCE.get(t, 0)
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("group", ORDER, ids=lambda g: f"{g[0].row['op']}..{g[-1].row['op']}")
def test_equal_to_the_cpu(opencl, deadline, group):
    if time.monotonic() > deadline:
        pytest.skip("out of time (PADDLE_DEVICE_TEST_BUDGET)")
    try:
        same(group)
    except Exception:
        wrong = []
        for sample in group:
            try:
                same([sample])
            except Exception as e:
                wrong.append(f"{sample.id} ({sample.row['line']}): {type(e).__name__}: {str(e).strip()[:300]}")
        if not wrong:
            raise
        pytest.fail("\n".join(wrong))
