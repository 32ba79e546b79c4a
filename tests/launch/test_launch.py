"""The launcher, run as users run it, on scripts that need nothing but Python."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import pytest

LAUNCH = pathlib.Path(__file__).parents[2] / "python" / "paddle" / "distributed" / "launch"
NO_GPU = not list(pathlib.Path("/dev").glob("nvidia[0-9]*"))
SHOW = """
    import json, os
    print(json.dumps({k: v for k, v in os.environ.items() if k.startswith(("PADDLE", "FLAGS", "OMP_NUM"))}))
"""


@pytest.fixture
def job(tmp_path):
    """start(flags, script, **variables): a launcher in its own folder, with a paddle that holds only the launcher."""
    package = tmp_path / "stub" / "paddle" / "distributed"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package.parent / "__init__.py").touch()
    (package / "launch").symlink_to(LAUNCH)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PADDLE", "OMP", "SLURM", "PMI", "POD"))}
    running = []

    def start(flags, script, *arguments, **variables):
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(script))
        command = [sys.executable, "-m", "paddle.distributed.launch", *flags.split(), str(path), *arguments]
        env = {**clean, "PYTHONPATH": str(tmp_path / "stub"), **variables}
        process = subprocess.Popen(
            command, env=env, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        running.append(process)
        return process

    start.folder = tmp_path
    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()


def finish(process, seconds=60):
    out, _ = process.communicate(timeout=seconds)
    return process.returncode, out


def shown(folder, rank, log="log"):
    return json.loads((folder / log / f"workerlog.{rank}").read_text().strip().splitlines()[-1])


def free_port():
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_variables_of_each_rank(job):
    code, out = finish(job("--nproc_per_node 2 --job_id j1", SHOW))
    assert code == 0, out
    ranks = [shown(job.folder, r) for r in range(2)]
    for r, e in enumerate(ranks):
        endpoints = e["PADDLE_TRAINER_ENDPOINTS"].split(",")
        assert len(set(endpoints)) == 2 and e["PADDLE_CURRENT_ENDPOINT"] == endpoints[r]
        assert e["PADDLE_MASTER"] not in endpoints
        expected = {
            "PADDLE_TRAINER_ID": str(r), "PADDLE_TRAINERS_NUM": "2", "PADDLE_GLOBAL_RANK": str(r), "PADDLE_GLOBAL_SIZE": "2",
            "PADDLE_LOCAL_RANK": str(r), "PADDLE_LOCAL_SIZE": "2", "PADDLE_RANK_IN_NODE": str(r), "PADDLE_NNODES": "1",
            "PADDLE_JOB_ID": "j1", "PADDLE_LOG_DIR": str(job.folder / "log"), "PADDLE_AUTO_CLUSTER": "0",
            "OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // 2)),
        }  # fmt: skip
        assert {k: e.get(k) for k in expected} == expected
    assert ranks[0]["PADDLE_MASTER"] == ranks[1]["PADDLE_MASTER"]
    assert out.count('"PADDLE_TRAINER_ID": "0"') == 1, "rank 0's output is also shown"
    assert '"PADDLE_TRAINER_ID": "1"' not in out
    assert "PADDLE_TRAINER_ID=1\n" in (job.folder / "log" / "envlog.1").read_text()


@pytest.mark.skipif(not NO_GPU, reason="there is a GPU")
def test_gpus_without_a_gpu_are_cpu_ranks(job):
    code, out = finish(job("--gpus 0,1", SHOW))
    assert code == 0
    assert "no GPU found: --devices 0,1 starts 2 CPU ranks" in out
    assert shown(job.folder, 1)["PADDLE_DISTRI_BACKEND"] == "gloo"
    assert "FLAGS_selected_gpus" not in shown(job.folder, 1)


def test_script_arguments_and_programs(job):
    code, out = finish(job("--nproc_per_node 1", "import sys; print(sys.argv[1:])", "--log_dir", "x", "-a"))
    assert code == 0 and "['--log_dir', 'x', '-a']" in out
    script = job.folder / "run.sh"
    script.write_text("#!/bin/sh\necho rank $PADDLE_TRAINER_ID\n")
    script.chmod(0o755)
    process = job(f"--nproc_per_node 2 {script}", "")
    assert finish(process)[0] == 0
    assert "rank 1" in (job.folder / "log" / "workerlog.1").read_text()


def test_a_failing_rank_ends_the_job(job):
    start = time.monotonic()
    code, out = finish(job("--nproc_per_node 2", """
        import os, time
        if os.environ["PADDLE_TRAINER_ID"] == "1":
            raise ValueError("no such thing")
        time.sleep(600)
    """))  # fmt: skip
    assert code == 1
    assert "Traceback (most recent call last)" in out and "ValueError: no such thing" in out
    assert "Rank 1 ended with exit code 1" in out
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    "line, code, text",
    [("sys.exit(7)", 7, "exit code 7"), ("os.kill(os.getpid(), 9)", 137, "was killed by SIGKILL")],
)
def test_exit_codes(job, line, code, text):
    got, out = finish(
        job(
            "--nproc_per_node 2",
            f"import os, sys, time\nif os.environ['PADDLE_TRAINER_ID'] == '0': {line}\ntime.sleep(600)",
        )
    )
    assert got == code and text in out


WAITS = """
    import os, pathlib, signal, sys, time
    rank = os.environ["PADDLE_TRAINER_ID"]
    def leave(number, frame):
        pathlib.Path(f"got{rank}").write_text(str(number))
        sys.exit(0)
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    pathlib.Path(f"up{rank}").write_text(str(os.getpid()))
    time.sleep(600)
"""


def wait_for(*paths, seconds=30):
    deadline = time.monotonic() + seconds
    while not all(p.exists() and p.read_text() for p in paths):
        assert time.monotonic() < deadline, f"{paths} did not come"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_passed_on(job, number):
    process = job("--nproc_per_node 2", WAITS)
    wait_for(job.folder / "up0", job.folder / "up1")
    process.send_signal(number)
    code, _ = finish(process)
    assert code == number
    assert [(job.folder / f"got{r}").read_text() for r in range(2)] == [str(int(number))] * 2


def test_ranks_do_not_outlive_a_killed_launcher(job):
    process = job("--nproc_per_node 1", WAITS)
    wait_for(job.folder / "up0")
    process.kill()
    process.wait()
    wait_for(job.folder / "got0")


def test_logs_are_appended_unless_overwritten(job):
    for flags, lines in (("", 1), ("", 2), ("--log_overwrite true", 1)):
        assert finish(job(f"--nproc_per_node 1 {flags}", "print('line')"))[0] == 0
        assert (job.folder / "log" / "workerlog.0").read_text() == "line\n" * lines


def test_two_nodes(job):
    master = f"127.0.0.1:{free_port()}"
    flags = f"--nnodes 2 --nproc_per_node 2 --master {master} --host 127.0.0.1"
    nodes = [job(f"{flags} --rank {r} --log_dir log{r}", SHOW) for r in (1, 0)]
    for process in nodes:
        code, out = finish(process)
        assert code == 0, out
    ranks = [shown(job.folder, i, f"log{n}") for n in range(2) for i in range(2)]
    assert [e["PADDLE_TRAINER_ID"] for e in ranks] == ["0", "1", "2", "3"]
    assert [e["PADDLE_LOCAL_RANK"] for e in ranks] == ["0", "1", "0", "1"]
    assert {e["PADDLE_NNODES"] for e in ranks} == {"2"} and {e["PADDLE_LOCAL_SIZE"] for e in ranks} == {"2"}
    assert len({e["PADDLE_MASTER"] for e in ranks}) == 1
    endpoints = ranks[0]["PADDLE_TRAINER_ENDPOINTS"].split(",")
    assert [e["PADDLE_CURRENT_ENDPOINT"] for e in ranks] == endpoints and len(set(endpoints)) == 4


@pytest.mark.parametrize("failing", ["0", "1"])
def test_a_failure_on_one_node_ends_the_others(job, failing):
    master = f"127.0.0.1:{free_port()}"
    script = f"import os, sys, time\nif os.environ['PADDLE_TRAINER_ID'] == '{failing}': sys.exit(5)\ntime.sleep(600)"
    nodes = [
        job(f"--nnodes 2 --master {master} --host 127.0.0.1 --rank {r} --log_dir log{r}", script) for r in range(2)
    ]
    results = [finish(process) for process in nodes]
    assert results[int(failing)][0] == 5
    other = results[1 - int(failing)]
    assert other[0] == 1 and f"Stopped: node {failing} (127.0.0.1) failed" in other[1]


def test_a_missing_node_is_named(job):
    flags = f"--nnodes 3 --master 127.0.0.1:{free_port()} --rank"
    second = job(f"{flags} 2", SHOW, PADDLE_LAUNCH_TIMEOUT="20")
    code, out = finish(job(f"{flags} 0", SHOW, PADDLE_LAUNCH_TIMEOUT="2"))
    assert code == 1 and "of 3 nodes came within 2 s; missing: node 1" in out
    code, out = finish(second)
    assert code == 1
    code, out = finish(job(f"{flags} 1", SHOW, PADDLE_LAUNCH_TIMEOUT="1"))
    assert code == 1 and "is node 0 running?" in out


def test_variables_override_flags_and_say_so(job):
    code, out = finish(job("--nproc_per_node 1", SHOW, PADDLE_NPROC_PER_NODE="3", PADDLE_LOG_DIR="other"))
    assert code == 0 and "nproc_per_node is taken from the variable PADDLE_NPROC_PER_NODE: 3" in out
    assert shown(job.folder, 2, "other")["PADDLE_TRAINERS_NUM"] == "3"


def test_ips_need_no_master(job):
    code, out = finish(job("--ips 127.0.0.1 --nproc_per_node 2 --start_port 7123", SHOW))
    assert code == 0, out
    assert shown(job.folder, 1)["PADDLE_TRAINER_ENDPOINTS"] == "127.0.0.1:7123,127.0.0.1:7124"


def test_mpi_starts_the_launchers(job):
    variables = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": f"job{os.getpid()}"}
    nodes = [
        job("", SHOW, OMPI_COMM_WORLD_RANK=str(r), OMPI_COMM_WORLD_LOCAL_RANK=str(r), **variables) for r in range(2)
    ]
    for process in nodes:
        code, out = finish(process)
        assert code == 0, out
    ranks = [shown(job.folder, r) for r in range(2)]
    assert [e["PADDLE_TRAINER_ID"] for e in ranks] == ["0", "1"]
    assert [e["PADDLE_LOCAL_RANK"] for e in ranks] == ["0", "1"]
    assert {(e["PADDLE_LOCAL_SIZE"], e["PADDLE_NNODES"], e["PADDLE_TRAINERS_NUM"]) for e in ranks} == {("2", "1", "2")}


def test_failed_ranks_are_started_anew_at_elastic_level_1(job):
    code, out = finish(job("--nproc_per_node 2 --elastic_level 1", """
        import os, pathlib, sys
        mark = pathlib.Path("mark")
        if os.environ["PADDLE_TRAINER_ID"] == "1" and not mark.exists():
            mark.touch()
            sys.exit(3)
    """))  # fmt: skip
    assert code == 0 and "Restart 1 of 3" in out


@pytest.mark.parametrize(
    "flags, text",
    [
        ("--nnodes 2", "needs --master"),
        ("--nproc_per_node 0", "expected --nproc_per_node of 1 or more, got 0"),
        ("--master nowhere", "expected --master as ip:port, got nowhere"),
        ("--run_mode ps", "run_mode ps is not offered"),
        ("--nnodes 3:2", "expected 1 <= min <= max"),
    ],
)
def test_wrong_flags_are_refused(job, flags, text):
    code, out = finish(job(flags, SHOW))
    assert code != 0 and text in out


def test_the_launcher_needs_only_the_standard_library(job):
    code = "import sys; from paddle.distributed.launch import main; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    out = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(job.folder / "stub")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    modules = set(eval(out))
    assert modules - set(sys.stdlib_module_names) <= {"__main__", "paddle", "__mp_main__"}
