"""Several copies of LLVM in one process: our code generator's, PoCL's, torch's, in every order. torch takes part where it can be
imported, or where PADDLE_TEST_TORCH_PATH names the folder that holds it."""

import importlib.util
import itertools
import os
import subprocess
import sys

import pytest
from opencl_plugin import PLUGIN, why_not

TORCH = os.environ.get("PADDLE_TEST_TORCH_PATH", "")
STEPS = {
    "ours": """
import paddle
f = paddle.jit.to_static(lambda x: paddle.exp(x).sum() + paddle.tanh(x).max())
assert abs(f(paddle.zeros([7])).item() - 7) < 1e-6
""",
    "pocl": f"""
import paddle
paddle._core.load_device_plugin({str(PLUGIN)!r})
y = paddle.zeros([7]).to("opencl")
assert abs((paddle.exp(y) + y).sum().item() - 7) < 1e-6
""",
    "torch": f"""
import sys
sys.path.append({TORCH!r})
import torch
assert abs(torch.exp(torch.zeros(7)).sum().item() - 7) < 1e-6
""",
}


@pytest.mark.parametrize("order", list(itertools.permutations(STEPS)), ids="-".join)
def test_every_order(order):
    if reason := why_not():
        pytest.skip(reason)
    if not TORCH and importlib.util.find_spec("torch") is None:
        order = tuple(name for name in order if name != "torch")
    program = "".join(STEPS[name] for name in order) + "".join(STEPS[n] for n in order if n == "ours")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, f"{order}: {run.stderr[-2000:]}"
