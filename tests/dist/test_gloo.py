"""Jobs of several machines: Gloo between them, shared memory within each. Ranks are processes; expected values by hand."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

paddle = pytest.importorskip("paddle")

from processes import environment, free_port, run_script  # noqa: E402

pytestmark = pytest.mark.skipif(
    not list(Path(paddle.__file__).parent.glob("libpaddle_gloo.so")), reason="built without Gloo"
)

COLLECTIVES = """
    import json
    import numpy as np
    import paddle
    import paddle.distributed as dist

    dist.init_parallel_env()
    rank, n = dist.get_rank(), dist.get_world_size()
    got = {"backend": dist.get_backend()}

    def mine(r=rank):
        return paddle.to_tensor(np.arange(3, dtype="float32") + 10 * r)

    x = mine(); dist.all_reduce(x); got["sum"] = x.tolist()
    x = mine(); dist.all_reduce(x, op=dist.ReduceOp.MAX); got["max"] = x.tolist()
    x = mine(); dist.all_reduce(x, op=dist.ReduceOp.AVG); got["avg"] = x.tolist()
    x = mine().astype("bfloat16"); dist.all_reduce(x); got["bf16"] = x.astype("float32").tolist()
    x = mine(); dist.broadcast(x, src=n - 1); got["broadcast"] = x.tolist()
    x = mine(); dist.reduce(x, dst=1); got["reduce"] = x.tolist()
    parts = []; dist.all_gather(parts, mine()); got["all_gather"] = [p.tolist() for p in parts]
    objects = []; dist.all_gather_object(objects, {"rank": rank, "text": "x" * rank}); got["objects"] = objects
    box = [{"from": rank}]; dist.broadcast_object_list(box, src=0); got["box"] = box
    out = paddle.zeros([3]); dist.scatter(out, [mine(r + 5) for r in range(n)] if rank == 0 else None, src=0)
    got["scatter"] = out.tolist()
    out = paddle.zeros([3]); dist.reduce_scatter(out, [mine(rank + r) for r in range(n)]); got["reduce_scatter"] = out.tolist()
    got["gather"] = []; dist.gather(mine(), got["gather"], dst=n - 1); got["gather"] = [g.tolist() for g in got["gather"]]
    out = []; dist.alltoall(out, [paddle.full([2], 10.0 * rank + r) for r in range(n)]); got["alltoall"] = [t.tolist() for t in out]
    out = paddle.zeros([n]); dist.alltoall_single(out, paddle.arange(n, dtype="float32") + 10 * rank)
    got["alltoall_single"] = out.tolist()
    right, left = (rank + 1) % n, (rank - 1) % n
    out = paddle.zeros([3])
    for task in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine(), right), dist.P2POp(dist.irecv, out, left)]):
        task.wait()
    got["ring"] = out.tolist()
    late = mine(); dist.all_reduce(late, sync_op=False).wait(); got["late"] = late.tolist()
    big = paddle.full([300000], float(rank)); dist.all_reduce(big); got["big"] = [float(big[0]), float(big[-1])]
    got["groups"] = {}
    for ranks in ([0, 1], [n - 2, n - 1], [0, n - 1]):
        group = dist.new_group(ranks)
        if rank in ranks:
            x = mine(); dist.all_reduce(x, group=group)
            got["groups"][str(ranks)] = [dist.get_backend(group), x.tolist()]
    dist.barrier()
    mesh = dist.ProcessMesh(list(range(n)))
    w = dist.shard_tensor(np.arange(4 * n, dtype="float32").reshape(2, 2 * n), mesh, [dist.Shard(1)])
    got["product"] = dist.unshard_dtensor(paddle.matmul(w, w, transpose_y=True)).tolist()
    print("got", json.dumps(got))
"""


@pytest.mark.parametrize("machines", [["a", "b"], ["a", "a", "b", "b"]], ids=["one each", "two each"])
def test_every_collective_across_machines(tmp_path, machines):
    n = len(machines)
    results = run_script(tmp_path, COLLECTIVES, machines)
    base = [3 * 0 + i for i in range(3)]
    total = [sum(10 * r + i for r in range(n)) for i in base]
    for rank, (status, text) in results.items():
        assert status == 0, text
        got = json.loads(text.split("got ", 1)[1].splitlines()[0])
        mine = [10 * rank + i for i in range(3)]
        assert got["backend"] == "GLOO"
        assert got["sum"] == got["bf16"] == got["late"] == total and got["max"] == [10 * (n - 1) + i for i in range(3)]
        assert got["avg"] == [t / n for t in total]
        assert got["broadcast"] == [10 * (n - 1) + i for i in range(3)]
        assert got["reduce"] == (total if rank == 1 else mine)
        everything = [[10 * r + i for i in range(3)] for r in range(n)]
        assert got["all_gather"] == everything and got["gather"] == (everything if rank == n - 1 else [])
        assert got["objects"] == [{"rank": r, "text": "x" * r} for r in range(n)] and got["box"] == [{"from": 0}]
        assert got["scatter"] == [10 * (rank + 5) + i for i in range(3)]
        assert got["reduce_scatter"] == [sum(10 * (r + rank) + i for r in range(n)) for i in range(3)]
        assert got["alltoall"] == [[10 * r + rank] * 2 for r in range(n)]
        assert got["alltoall_single"] == [10 * r + rank for r in range(n)]
        assert got["ring"] == [10 * ((rank - 1) % n) + i for i in range(3)]
        assert got["big"] == [sum(range(n))] * 2
        for text, (backend, values) in got["groups"].items():
            ranks = json.loads(text)
            alike = machines[ranks[0]] == machines[ranks[1]]
            assert backend == ("SHARED_MEMORY" if alike else "GLOO")
            assert values == [sum(10 * r + i for r in ranks) for i in range(3)]
        rows = [[float(r * 2 * n + c) for c in range(2 * n)] for r in range(2)]
        assert got["product"] == [[sum(a * b for a, b in zip(x, y)) for y in rows] for x in rows]


def test_a_rank_that_never_comes_is_named(tmp_path):
    script = """
        import paddle.distributed as dist
        try:
            dist.init_parallel_env()
        except TimeoutError as error:
            print("named:", error)
    """
    results = run_script(tmp_path, script, ["a", "b", "b"], absent=[1], FLAGS_stop_check_timeout="2")
    for status, text in results.values():
        assert status == 0 and "named:" in text and "rank 1 of 3" in text, text


def test_a_rank_that_does_not_call_is_named(tmp_path):
    script = """
        import datetime, time
        import paddle, paddle.distributed as dist
        dist.init_parallel_env()
        group = dist.new_group([0, 1, 2], timeout=datetime.timedelta(seconds=2))
        dist.barrier()
        if dist.get_rank() == 1:
            time.sleep(6)
        else:
            try:
                dist.all_reduce(paddle.ones([4]), group=group)
            except TimeoutError as error:
                print("named:", error)
        dist.barrier()
    """
    results = run_script(tmp_path, script, ["a", "b", "b"])
    for rank, (_, text) in results.items():
        if rank != 1:
            assert "named:" in text and "rank 1" in text.split("named:")[1], text


DEMO = os.environ.get("PUBLISHED_DEMO") or Path(__file__).parents[2] / "examples" / "demo" / "sharded.py"


@pytest.mark.skipif(not Path(DEMO).exists(), reason="the demonstration is not here")
def test_the_published_demonstration_on_two_machines(tmp_path):
    """Two launchers, a node each, as on two machines."""
    port = free_port()
    nodes = [
        subprocess.Popen(
            [sys.executable, "-u", "-m", "paddle.distributed.launch", "--nnodes", "2", "--nproc_per_node", "1", "--rank", str(node),
             "--master", f"127.0.0.1:{port}", "--host", "127.0.0.1", "--log_dir", str(tmp_path / f"log{node}"), str(DEMO)],
            env=environment(FLAGS_comm_machine=f"m{node}", FLAGS_prim_all="true", FLAGS_prim_enable_dynamic="true",
                            FLAGS_use_cinn="true"),
            cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for node in range(2)
    ]  # fmt: skip
    try:
        outputs = [p.communicate(timeout=120)[0] for p in nodes]
    finally:
        for p in nodes:
            if p.poll() is None:
                p.kill()
                p.wait()
    logs = [path.read_text() for node in range(2) for path in sorted((tmp_path / f"log{node}").glob("workerlog.*"))]
    assert all(p.returncode == 0 for p in nodes), "\n".join(outputs + logs)
    losses = [
        [float(w) for w in log.replace("[", " ").replace("]", " ").split() if w.startswith("4.0")] for log in logs
    ]
    assert all(losses) and all(abs(v - 4.0) < 1e-5 for values in losses for v in values), logs
