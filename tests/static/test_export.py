"""Saved programs: official paddle's are read, ours are in the form that official paddle reads.

Where PADDLE_OFFICIAL_PYTHON names an interpreter with the official wheel, that one loads ours as well.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import models
import numpy as np
import paddle
import pytest

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = list(models.make(paddle))
OFFICIAL = [n for n in NAMES if (FIXTURES / f"{n}.json").exists()]


def recorded(name):
    data = np.load(FIXTURES / f"{name}_io.npz")
    return [(data[f"in_{i}"], data[f"out_{i}"]) for i in range(len(data.files) // 2)]


def operations(path):
    found = []

    def walk(node):
        if isinstance(node, dict):
            if "#" in node and "O" in node:
                found.append(node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(json.loads(Path(path).read_text())["program"])
    return found


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_programs(name):
    layer = paddle.jit.load(str(FIXTURES / name))
    predictor = paddle.inference.create_predictor(
        paddle.inference.Config(str(FIXTURES / f"{name}.json"), str(FIXTURES / f"{name}.pdiparams"))
    )
    for x, expected in recorded(name):
        np.testing.assert_allclose(layer(paddle.to_tensor(x)).numpy(), expected, rtol=1e-4, atol=2e-6)
        (out,) = predictor.run([paddle.to_tensor(x)])
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_saved_and_loaded(name, tmp_path):
    inputs, outs = models.save(paddle, np, name, str(tmp_path / name))
    layer = paddle.jit.load(str(tmp_path / name))
    for x, expected in zip(inputs, outs):
        np.testing.assert_allclose(layer(paddle.to_tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)
    one = inputs[0][:1]
    assert layer(paddle.to_tensor(one)).shape[0] == 1


@pytest.mark.parametrize("name", ["conv_net", "encoder"])
def test_a_loaded_layer_is_tuned(name, tmp_path):
    layer = paddle.jit.load(str(FIXTURES / name))
    layer.train()
    params = [p for p in layer.parameters() if not p.stop_gradient]
    assert params and set(layer.state_dict()) >= {p.name.replace(".", "_") for p in params}
    x = paddle.to_tensor(recorded(name)[0][0])
    optimizer = paddle.optimizer.SGD(0.1, parameters=params)
    losses = []
    for _ in range(3):
        loss = (layer(x) ** 2).mean() if name == "conv_net" else ((layer(x) - 1.0) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[2] < losses[0]
    paddle.jit.save(layer, str(tmp_path / "again"), input_spec=layer._input_spec())
    again = paddle.jit.load(str(tmp_path / "again"))
    layer.eval()
    np.testing.assert_allclose(again(x).numpy(), layer(x).numpy(), rtol=1e-5, atol=1e-6)


def test_form_of_the_file(tmp_path):
    for name in NAMES:
        models.save(paddle, np, name, str(tmp_path / name))
    (norm,) = [o for o in operations(tmp_path / "conv_net.json") if o["#"].startswith("1.batch_norm")]
    assert len(norm["O"]) == 6
    flags = {o["A"][3]: o["OA"] for o in operations(tmp_path / "conv_net.json") if o["#"] == "p"}
    assert all(v == ([1, 1, 0] if k.endswith(("w_1", "w_2")) else [1, 0, 1]) for k, v in flags.items())
    kinds = {o["#"] for o in operations(tmp_path / "encoder.json")}
    assert "1.gelu" in kinds and not any(k.startswith("1.gelu_") for k in kinds)
    for op in operations(tmp_path / "sizes.json"):
        attrs = {a["N"]: a["AT"] for a in op.get("A", []) if isinstance(a, dict)}
        if op["#"] == "1.full":
            assert -1 not in attrs["shape"]["D"]
        if op["#"] == "1.leaky_relu":
            assert attrs["negative_slope"]["#"] == "0.a_f64"


def test_constants_from_outside_are_saved(tmp_path):
    table = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])

    class Constant(paddle.nn.Layer):
        def forward(self, x):
            return x @ table

    paddle.jit.save(Constant(), str(tmp_path / "c"), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")])
    (out,) = [paddle.jit.load(str(tmp_path / "c"))(paddle.ones([1, 2]))]
    np.testing.assert_array_equal(out.numpy(), [[4.0, 6.0]])
    (flags,) = [o["OA"] for o in operations(tmp_path / "c.json") if o["#"] == "p"]
    assert flags == [1, 1, 0]


@pytest.mark.skipif("PADDLE_OFFICIAL_PYTHON" not in os.environ, reason="PADDLE_OFFICIAL_PYTHON names no interpreter")
@pytest.mark.parametrize("name", NAMES)
def test_official_paddle_loads_ours(name, tmp_path):
    inputs, outs = models.save(paddle, np, name, str(tmp_path / name))
    np.savez(
        tmp_path / "io.npz", **{f"i{k}": v for k, v in enumerate(inputs)}, **{f"o{k}": v for k, v in enumerate(outs)}
    )
    code = (
        "import sys, numpy as np, paddle\n"
        "layer, data = paddle.jit.load(sys.argv[1]), np.load(sys.argv[2])\n"
        "layer.eval()\n"
        "for k in range(len(data.files) // 2):\n"
        "    np.testing.assert_allclose(layer(paddle.to_tensor(data[f'i{k}'])).numpy(), data[f'o{k}'], rtol=1e-4, atol=2e-6)\n"
    )
    command = [os.environ["PADDLE_OFFICIAL_PYTHON"], "-c", code, str(tmp_path / name), str(tmp_path / "io.npz")]
    done = subprocess.run(
        command, capture_output=True, text=True, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert sys.executable != command[0]
