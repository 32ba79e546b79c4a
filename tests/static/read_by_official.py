"""Run with official paddle: python read_by_official.py FOLDER NAME...: loads FOLDER/NAME.json, compares with FOLDER/io.npz.

Each program in a process of its own, since a bad one may crash.
"""

import os
import sys

import numpy as np
import paddle


def flat(outs):
    return [t for o in outs for t in flat(o)] if isinstance(outs, (list, tuple)) else [outs]


def check(folder, name, data):
    layer = paddle.jit.load(os.path.join(folder, name))
    layer.eval()

    def values(kind):
        return [data[k] for k in sorted(k for k in data.files if k.startswith(f"{name}/{kind}"))]

    outs = [t.numpy() for t in flat(layer(*(paddle.to_tensor(v) for v in values("in_"))))]
    wanted = values("out_")
    assert len(outs) == len(wanted), f"{len(outs)} results, expected {len(wanted)}"
    for got, want in zip(outs, wanted):
        assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


folder, names = sys.argv[1], sys.argv[2:]
data = np.load(os.path.join(folder, "io.npz"))
failed = False
for name in names:
    child = os.fork()
    if child == 0:
        try:
            check(folder, name, data)
        except BaseException as e:
            print(f"{name}: {type(e).__name__}: {str(e).strip()[-600:]}", flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        failed = True
        if os.WIFSIGNALED(status):
            print(f"{name}: killed by signal {os.WTERMSIG(status)}", flush=True)
sys.exit(failed)
