"""Each model of the collection is captured whole, saved with open sizes, and read by a process without its source.

Without PADDLE_MODELS a slice of the gradients is tested; PADDLE_MODELS=all tests all, PADDLE_MODELS=name,name those.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

paddle = pytest.importorskip("paddle")
pytest.importorskip("paddle._core")

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measures  # noqa: E402
from zoo import load_all  # noqa: E402

MODELS = load_all()
CHOSEN = os.environ.get("PADDLE_MODELS", "")
NAMES = sorted(MODELS) if CHOSEN in ("", "all") else CHOSEN.split(",")
SLICES = 1 if CHOSEN else 3
GRADIENTS = [n for n in NAMES if MODELS[n].trains and zlib.crc32(n.encode()) % SLICES == 0]
# Gradients are sums in another order, through as many layers again: ten times the tolerance of values.
GRADIENT_FACTOR = 10


class Loader:
    """The process that reads saved models."""

    def __init__(self, folder):
        self.folder = folder
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        here = os.path.dirname(os.path.abspath(__file__))
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(here, "loader.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment,
        )  # fmt: skip

    def run(self, path, inputs):
        given, results = os.path.join(self.folder, "in.npz"), os.path.join(self.folder, "out.npz")
        np.savez(given, **{f"x{k}": a for k, a in enumerate(inputs)})
        self.process.stdin.write(json.dumps({"path": path, "inputs": given, "outputs": results}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer == "ok", answer
        with np.load(results) as data:
            return [data[f"y{k}"] for k in range(len(data.files))]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture(scope="module")
def loader(tmp_path_factory):
    made = Loader(str(tmp_path_factory.mktemp("loader")))
    yield made
    made.close()


def tensors(arrays):
    return [paddle.to_tensor(a) for a in arrays]


@pytest.mark.parametrize("name", NAMES)
def test_exports(name, loader, tmp_path):
    entry = MODELS[name]
    layer = entry.build(paddle)
    layer.eval()
    wanted = {b: measures.arrays(layer(*tensors(entry.arrays(b)))) for b in entry.batches}
    static = paddle.jit.to_static(layer, full_graph=True)
    path = str(tmp_path / name)
    paddle.jit.save(static, path, input_spec=entry.spec(paddle))
    for batch, want in wanted.items():
        got = loader.run(path, entry.arrays(batch))
        assert measures.worst(got, want) <= entry.tolerance, (batch, [measures.distance(a, b) for a, b in zip(got, want)])


def training_step(layer, inputs):
    """The loss, the parameters' gradients, and the state that a forward pass in training mode leaves."""
    layer.train()
    paddle.seed(11)
    results = measures.leaves(layer(*tensors(inputs)))
    floats = [v for v in results if isinstance(v, paddle.Tensor) and v.dtype in (paddle.float32,) and not v.stop_gradient]
    loss = paddle.add_n([(v * v).mean() for v in floats])
    loss.backward()
    parameters = dict(layer.named_parameters())
    grads = {n: p.grad.numpy() for n, p in parameters.items() if p.grad is not None}
    state = {n: v.numpy() for n, v in layer.state_dict().items() if n not in parameters}
    return float(loss), grads, state


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    entry = MODELS[name]
    inputs = entry.arrays(entry.batches[1])
    tolerance = entry.tolerance * GRADIENT_FACTOR
    loss, grads, state = training_step(entry.build(paddle), inputs)
    compiled = paddle.jit.to_static(entry.build(paddle), full_graph=True)
    got_loss, got_grads, got_state = training_step(compiled, inputs)
    assert got_loss == pytest.approx(loss, rel=tolerance)
    largest = max(float(np.abs(g).max()) for g in grads.values())
    assert largest > 0
    for parameter in sorted(set(grads) | set(got_grads)):
        want = grads.get(parameter)
        got = got_grads.get(parameter)
        if want is None or got is None:  # nothing reaches it: no gradient, or zeros
            assert not np.any(got if want is None else want), parameter
            continue
        assert measures.distance(got, want, 0.1 * largest) <= tolerance, parameter
    for key, want in state.items():
        assert measures.distance(got_state[key], want) <= tolerance, key
