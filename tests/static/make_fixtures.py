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
from programs import PROGRAMS, train  # noqa: E402

os.makedirs(os.path.join(HERE, "fixtures"), exist_ok=True)
paddle.enable_static()
for name in PROGRAMS:
    start, losses, predicted, end = train(paddle, name)
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
