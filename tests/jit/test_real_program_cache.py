"""A second process takes programs, machine code and transformed Python from disk, and computes the same numbers."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("paddle._core")

SCRIPT = """
import json, sys
import numpy as np
import paddle
from paddle import nn

from paddle.jit.dy2static import convert

out, transformed = {}, []
original = convert.transformed_tree
convert.transformed_tree = lambda fn, *rest: transformed.append(fn.__qualname__) or original(fn, *rest)

def arrays(*tensors):
    return [np.asarray(t.numpy(), dtype="float64").ravel().tolist() for t in tensors]

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 1)

    def forward(self, x):
        h = nn.functional.gelu(self.norm(self.a(x)))
        h = nn.functional.dropout(h, 0.25, training=self.training)
        if h.mean() > 100:
            h = h * 2
        return self.b(h).mean()

paddle.seed(7)
net = Net()
run = paddle.jit.to_static(net, full_graph=True)
for rows in (4, 5, 9):  # the second is traced with an open size
    x = paddle.to_tensor(np.linspace(-1, 1, rows * 6).reshape(rows, 6).astype("float32"), stop_gradient=False)
    loss = run(x)
    loss.backward()
    out[f"step {rows}"] = arrays(loss, x.grad, net.a.weight.grad)
    x.clear_gradient()
    net.clear_gradients()

@paddle.jit.to_static(full_graph=True)
def loop(x, n):
    i = paddle.zeros([], "int64")
    while i < n:
        x = paddle.tanh(x) * 1.5
        i = i + 1
    return x.sum()

x = paddle.to_tensor(np.linspace(0.1, 1, 5).astype("float32"), stop_gradient=False)
y = loop(x, paddle.to_tensor(3))
y.backward()
out["loop"] = arrays(y, x.grad)

stats = nn.BatchNorm1D(3)
trained = paddle.jit.to_static(stats, full_graph=True)
with paddle.no_grad():
    z = trained(paddle.to_tensor(np.arange(12, dtype="float32").reshape(4, 3)))
out["state"] = arrays(z, stats._mean, stats._variance)

@paddle.jit.to_static(full_graph=True)
def picked(x):
    return paddle.nonzero(x > 0).astype("float32").sum() + paddle.to_tensor(np.arange(3.0)).sum().astype("float32")

out["picked"] = arrays(picked(paddle.to_tensor([1.0, -1.0, 2.0])))

from paddle._core import trace
print(json.dumps([out, {**trace.cache_counts(), "functions_transformed": len(transformed)}]))
"""


def run(folder, script, **flags):
    environment = {**os.environ, "FLAGS_compile_cache_dir": str(folder), "OMP_NUM_THREADS": "1", **flags}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "model.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def cold(script, tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    return folder, *run(folder, script)


def test_the_second_process_compiles_nothing(cold, script):
    folder, numbers, counts = cold
    assert counts["programs_kept"] >= 6 and counts["groups_compiled"] > 0
    again, found = run(folder, script)
    assert again == numbers
    assert counts["functions_transformed"] > 0
    assert found["programs_kept"] == found["groups_compiled"] == found["functions_transformed"] == 0
    assert found["programs_found"] == counts["programs_kept"] + counts["programs_found"]


def test_the_results_are_those_without_compiler_and_disk(cold, script):
    import numpy as np

    without, counts = run("off", script, FLAGS_use_cinn="0")
    assert counts.pop("functions_transformed") > 0
    assert counts == dict.fromkeys(counts, 0)
    for name, arrays in without.items():
        for a, b in zip(arrays, cold[1][name]):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=name)


def test_damaged_folders(cold, script, tmp_path):
    rng = random.Random(3)
    for i, file in enumerate(sorted(Path(cold[0]).iterdir())):
        data = bytearray(file.read_bytes())
        if i % 3 == 0:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif i % 3 == 1:
            del data[rng.randrange(len(data)) :]
        (tmp_path / file.name).write_bytes(data)
        (tmp_path / file.name).chmod(0o600)
    tmp_path.chmod(0o700)
    numbers, counts = run(tmp_path, script)
    assert numbers == cold[1]
    assert counts["programs_kept"] > 0
    assert run(tmp_path, script)[1]["programs_kept"] == 0  # it is whole again


def test_a_folder_that_is_a_file(cold, script, tmp_path):
    (tmp_path / "file").write_text("")
    numbers, counts = run(tmp_path / "file", script)
    assert numbers == cold[1]
    assert counts["programs_kept"] == counts["programs_found"] == 0


def test_processes_that_start_at_once(cold, script, tmp_path):
    folder = tmp_path / "shared"
    environment = {**os.environ, "FLAGS_compile_cache_dir": str(folder), "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in started:
        text = process.communicate()[0]
        assert process.returncode == 0
        assert json.loads(text.splitlines()[-1])[0] == cold[1]
    assert run(folder, script)[1]["groups_compiled"] == 0
