"""The same model files with the same weights under official Paddle: outputs compared.

    PADDLE_OFFICIAL_PYTHON=OTHER/bin/python .venv/bin/python tests/models/compare_official.py [--programs] [NAME ...]

This interpreter's paddle makes the weights, the inputs and its results (eager); the other one loads the weights by
``paddle.load`` and answers with its own. With ``--programs`` it runs the programs that ``paddle.jit.save`` wrote here instead.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import measures  # noqa: E402
import numpy as np  # noqa: E402
import paddle  # noqa: E402
from zoo import load_all  # noqa: E402


def run(entry, layer):
    layer.eval()
    results = {}
    for batch in entry.batches:
        out = measures.arrays(layer(*[paddle.to_tensor(a) for a in entry.arrays(batch)]))
        results.update({f"{batch}_{k:03d}": a for k, a in enumerate(out)})
    return results


def weighted(entry, folder):
    layer = entry.build(paddle)
    missing, unexpected = layer.set_state_dict(paddle.load(os.path.join(folder, entry.name + ".pdparams")))
    if missing or unexpected:
        raise ValueError(f"missing {missing}, unexpected {unexpected}")
    return layer


def saved(folder, name):
    return paddle.jit.load(os.path.join(folder, name))


def worker(folder, names, programs):
    """The other side: one JSON line a model."""
    models = load_all()
    for name in names:
        try:
            layer = saved(folder, name) if programs else weighted(models[name], folder)
            np.savez(os.path.join(folder, name + ".theirs.npz"), **run(models[name], layer))
            answer = "ok"
        except Exception as error:
            answer = f"{type(error).__name__}: {str(error)[:300]}"
        print(json.dumps({"name": name, "answer": answer}), flush=True)


def compare(names, python, programs=False):
    """{name: largest difference relative to the largest value, or a text that says what failed}."""
    models = load_all()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            layer = models[name].build(paddle)
            paddle.save(layer.state_dict(), os.path.join(folder, name + ".pdparams"))
            np.savez(os.path.join(folder, name + ".ours.npz"), **run(models[name], layer))
            if programs:
                static = paddle.jit.to_static(layer, full_graph=True)
                paddle.jit.save(static, os.path.join(folder, name), input_spec=models[name].spec(paddle))
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        command = [os.path.expanduser(python), os.path.abspath(__file__), "--worker", folder, str(int(programs))]
        # A program that kills the process must not hide what comes after it.
        parts = [[name] for name in names] if programs else [names]
        found = {}
        for part in parts:
            done = subprocess.run(
                command + part, capture_output=True, text=True, env={**environment, "GLOG_minloglevel": "2"}
            )
            answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]
            found.update({a["name"]: a["answer"] for a in answers})
        for name in names:
            if found.setdefault(name, done.stderr[-500:]) == "ok":
                with np.load(f"{folder}/{name}.ours.npz") as ours, np.load(f"{folder}/{name}.theirs.npz") as theirs:
                    found[name] = measures.worst([ours[k] for k in sorted(ours)], [theirs[k] for k in sorted(theirs)])
    return found


def main(names):
    python = os.environ.get("PADDLE_OFFICIAL_PYTHON")
    if not python:
        sys.exit("set PADDLE_OFFICIAL_PYTHON to an interpreter with official Paddle")
    models = load_all()
    programs = "--programs" in names
    found = compare([n for n in names if n != "--programs"] or sorted(models), python, programs)
    bad = 0
    for name, result in found.items():
        good = not isinstance(result, str) and result <= 10 * models[name].tolerance
        bad += not good
        print(f"{name:24s} {result if isinstance(result, str) else format(result, '.1e')}{'' if good else '  <---'}")
    print(f"{len(found) - bad} of {len(found)} agree")
    return bool(bad)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], sys.argv[4:], sys.argv[3] == "1")
    else:
        sys.exit(main(sys.argv[1:]))
