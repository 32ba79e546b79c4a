"""Writes the files in ``fixtures`` with official paddle (3.3.1): run it with a Python that has the official wheel.

``<program>.npz``: for each of ``programs.PROGRAMS`` the parameters it starts with (``start/<name>``) and ends with, its
losses, and its last prediction.
"""

import os
import sys

import numpy as np
import paddle

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from programs import PROGRAMS, rnn_batch, train  # noqa: E402


def train_rnn_eagerly(paddle, start):
    w, u = (paddle.to_tensor(start[n], stop_gradient=False) for n in ("w_in", "w_state"))
    optimizer = paddle.optimizer.Adam(0.05, parameters=[w, u])
    rng, losses = np.random.RandomState(7), []
    for _ in range(PROGRAMS["rnn"][2]):
        batch, state = rnn_batch(rng), paddle.zeros([4, 6])
        for x in batch["sequence"]:
            state = paddle.tanh(paddle.to_tensor(x) @ w + state @ u)
        loss = ((state - paddle.to_tensor(batch["target"])) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return np.array(losses), state.numpy(), {"w_in": w.numpy(), "w_state": u.numpy()}


os.makedirs(os.path.join(HERE, "fixtures"), exist_ok=True)
paddle.enable_static()
for name in PROGRAMS:
    start, losses, predicted, end = train(paddle, name)
    if name == "rnn":
        # Official paddle's static gradient of a loop leaves out what parameters from outside get in earlier rounds: its
        # own dynamic mode says what is right.
        paddle.disable_static()
        losses, predicted, end = train_rnn_eagerly(paddle, start)
        paddle.enable_static()
    values = {"start/" + k: v for k, v in start.items()} | {"end/" + k: v for k, v in end.items()}
    np.savez_compressed(os.path.join(HERE, "fixtures", name + ".npz"), losses=losses, predicted=predicted, **values)

# <model>.json, <model>.pdiparams, <model>_io.npz: what official paddle saves and gives for each of models.make().
paddle.disable_static()
import models  # noqa: E402

for name in models.make(paddle):
    if name != "sizes":
        inputs, outs = models.save(paddle, np, name, os.path.join(HERE, "fixtures", name))
        values = {f"in_{i}": v for i, v in enumerate(inputs)} | {f"out_{i}": v for i, v in enumerate(outs)}
        np.savez_compressed(os.path.join(HERE, "fixtures", name + "_io.npz"), **values)

# operators.npz: the program of each of operator_programs, its parameters, inputs and outputs.
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

import operator_programs  # noqa: E402

values = {}
for name in [*operator_programs.cases(paddle), *operator_programs.networks(paddle)]:
    with tempfile.TemporaryDirectory() as folder:
        inputs, outs = operator_programs.save(paddle, name, os.path.join(folder, "p"))
        for kind, suffix in (("json", ".json"), ("params", ".pdiparams")):
            file = Path(folder) / f"p{suffix}"
            if file.exists():
                values[f"{name}/{kind}"] = np.frombuffer(file.read_bytes(), np.uint8)
    values |= {f"{name}/in_{k}": v for k, v in enumerate(inputs)} | {f"{name}/out_{k}": v for k, v in enumerate(outs)}
np.savez_compressed(os.path.join(HERE, "fixtures", "operators.npz"), **values)
