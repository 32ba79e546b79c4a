"""Programs in parts for several ranks are found by the ranks of another job, whose groups have other numbers."""

import json

import numpy as np
import pytest

pytest.importorskip("paddle._core")

from processes import run_script  # noqa: E402

SCRIPT = """
    import json, os
    import numpy as np
    import paddle
    import paddle.distributed as dist
    from paddle import nn
    from paddle._core import trace

    R, S = dist.Replicate, dist.Shard
    dist.init_parallel_env()
    for _ in range(int(os.environ["GROUPS_BEFORE"])):
        dist.new_group([0, 1])
    mesh = dist.ProcessMesh([1, 0], ["x"])  # not the group of all ranks, which has the same number in every job

    def numbers(*shape):
        return (np.arange(np.prod(shape), dtype="float32").reshape(shape) % 7 - 3) / 4

    class Pair(nn.Layer):
        def __init__(self, cut):
            super().__init__()
            self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 3, bias_attr=False)
            for p in self.parameters():
                p.set_value(numbers(*p.shape))
            self.up.weight = dist.shard_tensor(self.up.weight, mesh, [S(cut)])
            self.down.weight = dist.shard_tensor(self.down.weight, mesh, [S(1 - cut)])

        def forward(self, x):
            return self.down(nn.functional.gelu(self.up(x)))

    layer = Pair(int(os.environ["CUT"]))
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    model = dist.to_static(layer, None, nn.MSELoss(), optimizer)
    model.train()
    x, y = paddle.to_tensor(numbers(6, 4)), paddle.to_tensor(numbers(6, 3))
    losses = [float(model(x, y)) for _ in range(3)]

    run = paddle.jit.to_static(layer, full_graph=True)  # forward and backward part
    z = run(paddle.to_tensor(numbers(2, 4))).sum()
    z.backward()
    grad = dist.unshard_dtensor(layer.up.weight.grad)
    print(json.dumps([losses, float(z), grad.numpy().tolist(), trace.cache_counts()]))
"""


def run(tmp_path, folder, groups=0, cut=1):
    done = run_script(
        tmp_path, SCRIPT, ["a", "a"], FLAGS_compile_cache_dir=str(folder), GROUPS_BEFORE=str(groups), CUT=str(cut)
    )
    out = []
    for status, text in done.values():
        assert status == 0, text
        out.append(json.loads(text.splitlines()[-1]))
    return out


def reference():
    """NumPy's losses of three SGD steps on 0.1."""
    from scipy.special import erf

    def numbers(*shape):
        return (np.arange(np.prod(shape), dtype="float64").reshape(shape) % 7 - 3) / 4

    w, b, v = numbers(4, 8), numbers(8), numbers(8, 3)
    x, y = numbers(6, 4), numbers(6, 3)
    losses = []
    for _ in range(3):
        h = x @ w + b
        cdf = 0.5 * (1 + erf(h / np.sqrt(2)))
        g = h * cdf
        out = g @ v
        losses.append(((out - y) ** 2).mean())
        dout = 2 * (out - y) / y.size
        dh = (dout @ v.T) * (cdf + h * np.exp(-h * h / 2) / np.sqrt(2 * np.pi))
        w, b, v = w - 0.1 * x.T @ dh, b - 0.1 * dh.sum(0), v - 0.1 * g.T @ dout
    return losses


def test_another_job_finds_them(tmp_path):
    first = run(tmp_path, tmp_path / "kept")
    for losses, _, _, counts in first:
        np.testing.assert_allclose(losses, reference(), rtol=1e-4)
        assert counts["programs_kept"] >= 3 and counts["programs_found"] == 0
    # Groups that the job made before shift the numbers of those that the program talks in.
    for groups in (0, 2):
        for before, now in zip(first, run(tmp_path, tmp_path / "kept", groups)):
            assert now[:3] == before[:3]
            assert now[3]["programs_kept"] == now[3]["groups_compiled"] == 0
            assert now[3]["programs_found"] == before[3]["programs_kept"]


def test_other_placements_never_find_them(tmp_path):
    run(tmp_path, tmp_path / "kept")
    for losses, _, _, counts in run(tmp_path, tmp_path / "kept", cut=0):
        np.testing.assert_allclose(losses, reference(), rtol=1e-4)
        assert counts["programs_found"] == 0
