"""What MPI or Slurm says about this process, when one of them started it."""

from __future__ import annotations

import dataclasses
import os
import re
import zlib


@dataclasses.dataclass
class Scheduled:
    """This process among those that the scheduler started. Addresses are empty when it does not tell."""

    name: str
    rank: int
    size: int
    local_rank: int
    local_size: int
    master_host: str
    job: str  # the same text in all processes of the job, in no other job

    @property
    def master_port(self) -> int:
        """A port that all processes of the job compute alike."""
        return 20000 + zlib.crc32(self.job.encode()) % 20000


def _int(environ, name: str, otherwise: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isdigit() else otherwise


def first_host(nodelist: str) -> str:
    """The first host of a Slurm list: ``a[03-05,7],b`` -> ``a03``."""
    match = re.match(r"([^\[,]*)(?:\[([^\],-]+)[^\]]*\])?([^,\[]*)", nodelist)
    return (match.group(1) + (match.group(2) or "") + match.group(3)) if match else ""


def _mpi(environ) -> Scheduled | None:
    if "OMPI_COMM_WORLD_SIZE" in environ:
        size = _int(environ, "OMPI_COMM_WORLD_SIZE", 1)
        local_size = _int(environ, "OMPI_COMM_WORLD_LOCAL_SIZE", 1)
        # tcp://10.0.0.1,172.17.0.1:4321 is where mpirun itself runs: the first node, as a rule.
        found = re.search(r"tcp://([0-9.]+)", environ.get("OMPI_MCA_orte_hnp_uri", ""))
        job = environ.get("PMIX_NAMESPACE") or environ.get("OMPI_MCA_ess_base_jobid", "mpi")
        return Scheduled(
            "MPI",
            _int(environ, "OMPI_COMM_WORLD_RANK", 0),
            size,
            _int(environ, "OMPI_COMM_WORLD_LOCAL_RANK", 0),
            local_size,
            "127.0.0.1" if local_size == size else (found.group(1) if found else ""),
            job,
        )
    if "PMI_SIZE" in environ and "PMI_RANK" in environ and "SLURM_PROCID" not in environ:  # MPICH, Intel MPI
        size = _int(environ, "PMI_SIZE", 1)
        local_size = _int(environ, "MPI_LOCALNRANKS", size)
        local_rank = _int(environ, "MPI_LOCALRANKID", _int(environ, "PMI_RANK", 0))
        job = environ.get("PMI_ID", "") + environ.get("HYDI_CONTROL_FD", "") + environ.get("PMI_KVSNAME", "mpich")
        host = "127.0.0.1" if local_size == size else ""
        return Scheduled("MPI", _int(environ, "PMI_RANK", 0), size, local_rank, local_size, host, job)
    return None


def _slurm(environ) -> Scheduled | None:
    # Inside `srun` only: a batch script runs once, with SLURM_PROCID 0, and no step's number.
    if "SLURM_PROCID" not in environ or "SLURM_STEP_ID" not in environ:
        return None
    size = _int(environ, "SLURM_STEP_NUM_TASKS", _int(environ, "SLURM_NTASKS", 1))
    nodes = _int(environ, "SLURM_STEP_NUM_NODES", _int(environ, "SLURM_NNODES", 1))
    tasks = re.match(r"\d+", environ.get("SLURM_STEP_TASKS_PER_NODE", environ.get("SLURM_TASKS_PER_NODE", "1")))
    nodelist = environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_NODELIST", "")
    return Scheduled(
        "Slurm",
        _int(environ, "SLURM_PROCID", 0),
        size,
        _int(environ, "SLURM_LOCALID", 0),
        size if nodes == 1 else int(tasks.group()) if tasks else 1,
        "127.0.0.1" if nodes == 1 else first_host(nodelist),
        environ.get("SLURM_JOB_ID", "slurm") + "." + environ["SLURM_STEP_ID"],
    )


def detect(environ=os.environ) -> Scheduled | None:
    """The scheduler's word if it started two or more processes, else None."""
    found = _mpi(environ) or _slurm(environ)
    return found if found and found.size > 1 else None


def rank_variables(environ=os.environ) -> dict[str, str]:
    """PADDLE_* variables for a script that MPI or Slurm started without the launcher; {} if neither did."""
    found = detect(environ)
    if not found:
        return {}
    return {
        "PADDLE_TRAINER_ID": str(found.rank),
        "PADDLE_TRAINERS_NUM": str(found.size),
        "PADDLE_GLOBAL_RANK": str(found.rank),
        "PADDLE_GLOBAL_SIZE": str(found.size),
        "PADDLE_LOCAL_RANK": str(found.local_rank),
        "PADDLE_LOCAL_SIZE": str(found.local_size),
        "PADDLE_RANK_IN_NODE": str(found.local_rank),
        "PADDLE_NNODES": str(max(1, found.size // max(1, found.local_size))),
        **({"PADDLE_MASTER": f"{found.master_host}:{found.master_port}"} if found.master_host else {}),
    }
