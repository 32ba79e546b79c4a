"""What MPI and Slurm variables mean. The variables are those that mpirun 4 and srun 22 set."""

import importlib.util
import pathlib
import sys

import pytest

_FILE = pathlib.Path(__file__).parents[2] / "python" / "paddle" / "distributed" / "launch" / "scheduler.py"
_spec = importlib.util.spec_from_file_location("launch_scheduler", _FILE)
scheduler = importlib.util.module_from_spec(_spec)
sys.modules["launch_scheduler"] = scheduler
_spec.loader.exec_module(scheduler)


@pytest.mark.parametrize(
    "nodelist, host",
    [("gpu[03-05,7],b1", "gpu03"), ("n1,n2", "n1"), ("n1", "n1"), ("a[7]", "a7"), ("r1n[1,3]x", "r1n1x"), ("", "")],
)
def test_first_host(nodelist, host):
    assert scheduler.first_host(nodelist) == host


SLURM = {
    "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_NTASKS": "8",
    "SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_NUM_NODES": "2", "SLURM_STEP_TASKS_PER_NODE": "4(x2)",
    "SLURM_STEP_NODELIST": "node[01-02]",
}  # fmt: skip


def test_slurm():
    s = scheduler.detect(SLURM)
    assert (s.rank, s.size, s.local_rank, s.local_size, s.master_host) == (5, 8, 1, 4, "node01")
    assert s.master_port == scheduler.detect({**SLURM, "SLURM_PROCID": "0"}).master_port
    v = scheduler.rank_variables(SLURM)
    assert (
        v["PADDLE_TRAINER_ID"] == "5" and v["PADDLE_NNODES"] == "2" and v["PADDLE_MASTER"] == f"node01:{s.master_port}"
    )


def test_a_batch_script_is_not_a_step():
    assert scheduler.detect({k: v for k, v in SLURM.items() if "STEP" not in k}) is None


def test_open_mpi_over_machines():
    s = scheduler.detect({
        "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
        "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_MCA_orte_hnp_uri": "123.0;tcp://10.1.2.3,172.17.0.1:4000", "PMIX_NAMESPACE": "9",
    })  # fmt: skip
    assert (s.rank, s.size, s.local_rank, s.local_size, s.master_host) == (3, 4, 1, 2, "10.1.2.3")


def test_one_process_is_no_job():
    assert scheduler.detect({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}) is None
    assert scheduler.rank_variables({}) == {}
