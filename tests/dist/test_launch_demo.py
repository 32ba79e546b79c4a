"""The demonstration, started by the launcher as two processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

paddle = pytest.importorskip("paddle")

SCRIPT = """
import numpy as np
import paddle
import paddle.distributed as dist
import paddle.nn.functional as F
from paddle.io import DataLoader, Dataset

mesh = dist.ProcessMesh([0, 1], dim_names=["x"])


class Data(Dataset):
    def __getitem__(self, i):
        return np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32"), np.array([1.0])

    def __len__(self):
        return 3


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = dist.shard_tensor(paddle.create_parameter(shape=[2, 4], dtype="float32"), mesh, [dist.Shard(1)])
        self.b = paddle.to_tensor([0.1, 0.2, 0.3, 0.4])

    def forward(self, x):
        return F.softmax(paddle.matmul(x, self.w) + self.b)


def loss_fn(logits, label):
    return paddle.nn.MSELoss(reduction="sum")(paddle.sum(logits, axis=[1, 2]), label)


loader = DataLoader(Data(), batch_size=1)
model = dist.to_static(Net(), loader, loss_fn)
model.eval()
for data in loader():
    print("loss", model(data[0], data[1]), flush=True)
print("gathers", model.dist_main_program("eval").compiled().count('"pd_op.all_gather"'))
"""


def launch(tmp_path, script, ranks=2):
    path = tmp_path / "script.py"
    path.write_text(script)
    root = Path(paddle.__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", "OMP_NUM_THREADS": "1",
           "FLAGS_prim_all": "true", "FLAGS_prim_enable_dynamic": "true", "FLAGS_use_cinn": "true"}  # fmt: skip
    job = subprocess.run(
        [sys.executable, "-u", "-m", "paddle.distributed.launch", "--nproc_per_node", str(ranks), "--log_dir", str(tmp_path / "log"), str(path)],
        env=env, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False,
    )  # fmt: skip
    logs = [(tmp_path / "log" / f"workerlog.{r}").read_text() for r in range(ranks)]
    assert job.returncode == 0, job.stdout + job.stderr + "".join(logs)
    return logs


def test_demonstration(tmp_path):
    for log in launch(tmp_path, SCRIPT):
        lines = log.splitlines()
        losses = [float(line.split()[1]) for line in lines if line.startswith("loss")]
        assert len(losses) == 3 and all(abs(v - 4.0) < 1e-5 for v in losses)
        assert "gathers 1" in lines


def test_processes_meet_and_reduce(tmp_path):
    script = """
import paddle
import paddle.distributed as dist
dist.init_parallel_env()
x = paddle.full([4], float(dist.get_rank() + 1))
dist.all_reduce(x)
group = dist.new_group([0, 2])
if dist.get_rank() != 1:
    y = paddle.full([2], float(dist.get_rank()))
    dist.broadcast(y, src=2, group=group)
    print("broadcast", y.tolist())
print("sum", x.tolist(), dist.get_world_size(), dist.get_backend())
"""
    logs = launch(tmp_path, script, ranks=3)
    assert all("sum [6.0, 6.0, 6.0, 6.0] 3 SHARED_MEMORY" in log for log in logs)
    assert ["broadcast [2.0, 2.0]" in log for log in logs] == [True, False, True]
