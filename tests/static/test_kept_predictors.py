"""A second process takes a predictor's program from disk: folded weights with it, and never those of other weights."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle import nn

SCRIPT = """
import json, sys
import numpy as np
import paddle.inference as inference
from paddle._core import trace

predictor = inference.create_predictor(inference.Config(sys.argv[1] + ".json", sys.argv[1] + ".pdiparams"))
out = []
for rows in (1, 3):
    x = np.linspace(-1, 1, rows * 3 * 8 * 8).reshape(rows, 3, 8, 8).astype("float32")
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.copy_from_cpu(x)
    predictor.run()
    out.append(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().tolist())
print(json.dumps([out, trace.cache_counts()]))
"""


class Net(nn.Layer):
    """Weights that folding reads (convolution and normalisation) and others that it doesn't."""

    def __init__(self, seed):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(3, 6, 3, padding=1), nn.BatchNorm2D(6)
        self.fc = nn.Linear(6, 4)
        rng = np.random.default_rng(seed)
        for p in self.parameters():
            p.set_value((rng.standard_normal(p.shape) * 0.5).astype("float32"))
        self.norm._mean.set_value(rng.standard_normal(6).astype("float32"))
        self.norm._variance.set_value((rng.random(6) + 0.5).astype("float32"))
        self.eval()

    def forward(self, x):
        h = nn.functional.relu(self.norm(self.conv(x))).mean(axis=[2, 3])
        return nn.functional.softmax(nn.functional.gelu(self.fc(h)) * 2.0)


def made(seed):
    """Parameters have the same names in every one: only their elements differ."""
    with paddle.utils.unique_name.guard():
        return Net(seed)


def save(net, path):
    paddle.jit.save(net, str(path), input_spec=[paddle.static.InputSpec([None, 3, 8, 8], "float32")])


def wanted(net):
    with paddle.no_grad():
        rows = (np.linspace(-1, 1, n * 192).reshape(n, 3, 8, 8).astype("float32") for n in (1, 3))
        return [net(paddle.to_tensor(x)).numpy() for x in rows]


def start(folder, model, **flags):
    environment = {**os.environ, "FLAGS_compile_cache_dir": str(folder), "OMP_NUM_THREADS": "1", **flags}
    command = [sys.executable, "-c", SCRIPT, str(model)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, net):
    out, err = process.communicate()
    assert process.returncode == 0, err
    numbers, counts = json.loads(out.splitlines()[-1])
    for got, want in zip(numbers, wanted(net)):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    return counts


def run(folder, model, net, **flags):
    return finish(start(folder, model, **flags), net)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path, net = tmp_path_factory.mktemp("model") / "net", made(1)
    save(net, path)
    return path, net


@pytest.fixture(scope="module")
def cold(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    counts = run(folder, *model)
    assert counts["programs_kept"] > 0 and counts["programs_found"] == 0 and counts["groups_compiled"] > 0
    return folder, counts


def test_the_second_process_compiles_nothing(cold, model):
    counts = run(cold[0], *model)
    assert counts["programs_kept"] == counts["groups_compiled"] == 0
    assert counts["programs_found"] == cold[1]["programs_kept"]


def test_other_weights_never_find_these(cold, model, tmp_path):
    other = made(2)
    save(other, tmp_path / "net")
    assert run(cold[0], tmp_path / "net", other)["programs_found"] == 0
    run(cold[0], *model)  # and the first ones are right as ever


def test_each_weight_counts_if_it_is_folded(cold, tmp_path):
    for name in made(1).state_dict():
        net = made(1)
        tensor = dict(net.state_dict())[name]
        tensor.set_value(tensor.numpy() * 1.5)
        save(net, tmp_path / name)
        found = run(cold[0], tmp_path / name, net)["programs_found"]  # and the numbers are those of this weight
        assert found == 0 or not name.startswith("norm"), name


def test_other_flags_never_find_these(cold, model):
    assert run(cold[0], *model, FLAGS_fast_math="0")["programs_found"] == 0


def damaged(folder, to, damage):
    for i, file in enumerate(sorted(Path(folder).iterdir())):
        target = to / file.name
        target.write_bytes(damage(i, bytearray(file.read_bytes())))
        target.chmod(0o600)
    to.chmod(0o700)
    return to


def test_damaged_entries_are_made_anew(cold, model, tmp_path):
    rng = random.Random(5)

    def flip(i, data):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return data

    kinds = {"flipped": flip, "cut": lambda i, data: data[: rng.randrange(len(data))], "rubbish": lambda i, d: b"x" * i}
    for name, damage in kinds.items():
        (tmp_path / name).mkdir()
        folder = damaged(cold[0], tmp_path / name, damage)
        assert run(folder, *model)["programs_found"] == 0, name
        assert run(folder, *model)["programs_kept"] == 0, name  # it is whole again


def test_a_file_in_place_of_the_folder(model, tmp_path):
    (tmp_path / "file").write_text("")
    counts = run(tmp_path / "file", *model)
    assert counts["programs_kept"] == counts["programs_found"] == 0


def test_processes_that_start_at_once(model, tmp_path):
    running = [start(tmp_path / "shared", model[0]) for _ in range(3)]
    for process in running:
        finish(process, model[1])
    assert run(tmp_path / "shared", *model)["groups_compiled"] == 0
