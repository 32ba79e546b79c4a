"""Programs for a device are found on disk by another process, which only has the device build their kernels."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from opencl_plugin import PLUGIN, why_not

SCRIPT = """
import json, sys
import numpy as np
import paddle
from paddle import nn
from paddle._core import trace

paddle._core.load_device_plugin(sys.argv[1])
paddle.device.set_device(sys.argv[2])
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.LayerNorm(16), nn.Linear(16, 3))
rng = np.random.default_rng(0)
for p in net.parameters():
    p.set_value(rng.standard_normal(p.shape).astype("float32"))
run = paddle.jit.to_static(net, full_graph=True)
x = paddle.to_tensor(np.linspace(-1, 1, 24).reshape(4, 6).astype("float32"), stop_gradient=False)
loss = nn.functional.softmax(run(x)).square().sum()
loss.backward()
out = [float(loss), x.grad.numpy().tolist(), net[0].weight.grad.numpy().tolist()]
print(json.dumps([out, loss.place.is_cpu_place(), trace.cache_counts()]))
"""


@pytest.fixture(autouse=True)
def device():
    if reason := why_not():
        pytest.skip(reason)


def run(folder, device="opencl"):
    environment = {**os.environ, "FLAGS_compile_cache_dir": str(folder)}
    command = [sys.executable, "-c", SCRIPT, str(PLUGIN), device]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    out, on_cpu, counts = json.loads(done.stdout.splitlines()[-1])
    assert on_cpu == (device == "cpu")
    return out, counts


def test_the_second_process_only_builds_kernels(tmp_path):
    first, counts = run(tmp_path / "kept")
    assert counts["programs_kept"] >= 2 and counts["programs_found"] == 0
    again, found = run(tmp_path / "kept")
    assert again == first
    assert found["programs_kept"] == 0 and found["programs_found"] == counts["programs_kept"]
    on_cpu, counts = run(tmp_path / "kept", "cpu")  # finds nothing that is the device's
    assert counts["programs_found"] == 0
    for a, b in zip(first, on_cpu):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
