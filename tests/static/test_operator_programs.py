"""Programs of single operators: official paddle's are read and give what it gives, ours are read again and by official.

``fixtures/operators.npz`` holds for each program of official paddle its file, parameters, inputs and outputs
(``make_fixtures.py``). Where PADDLE_OFFICIAL_PYTHON names an interpreter with the official wheel, that one loads ours.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import operator_programs
import paddle
import pytest

HERE = Path(__file__).parent
STORED = np.load(HERE / "fixtures" / "operators.npz")
NAMES = [*operator_programs.cases(paddle), *operator_programs.networks(paddle)]


def stored(name, kind):
    found = [k for k in STORED.files if k.startswith(f"{name}/{kind}")]
    return [STORED[k] for k in sorted(found)]


def run(layer, inputs):
    outs = layer(*(paddle.to_tensor(v) for v in inputs))
    return [t.numpy() for t in operator_programs.flat(outs)]


def compare(got, want):
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert g.shape == w.shape
        assert g.dtype == w.dtype
        np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_official_programs(name, tmp_path):
    for kind, suffix in (("json", ".json"), ("params", ".pdiparams")):
        for data in stored(name, kind):
            (tmp_path / f"p{suffix}").write_bytes(data.tobytes())
    layer = paddle.jit.load(str(tmp_path / "p"))
    layer.eval()
    inputs = stored(name, "in_")
    compare(run(layer, inputs), stored(name, "out_"))


@pytest.mark.parametrize("name", NAMES)
def test_as_official_in_dynamic_mode(name):
    layer, inputs, _ = operator_programs.layer_of(paddle, name)
    if name in operator_programs.networks(paddle):  # with the parameters that official paddle drew
        return
    compare(run(layer, inputs), stored(name, "out_"))


@pytest.mark.parametrize("name", NAMES)
def test_ours_are_read_again(name, tmp_path):
    inputs, outs = operator_programs.save(paddle, name, str(tmp_path / "p"))
    compare(run(paddle.jit.load(str(tmp_path / "p")), inputs), outs)


@pytest.mark.skipif("PADDLE_OFFICIAL_PYTHON" not in os.environ, reason="PADDLE_OFFICIAL_PYTHON names no interpreter")
def test_official_paddle_reads_ours(tmp_path):
    data = {}
    for name in NAMES:
        inputs, outs = operator_programs.save(paddle, name, str(tmp_path / name))
        data |= {f"{name}/in_{k}": v for k, v in enumerate(inputs)} | {f"{name}/out_{k}": v for k, v in enumerate(outs)}
    np.savez(tmp_path / "io.npz", **data)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [os.environ["PADDLE_OFFICIAL_PYTHON"], "-W", "ignore", str(HERE / "read_by_official.py"), str(tmp_path)]
    done = subprocess.run([*command, *NAMES], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-500:]
