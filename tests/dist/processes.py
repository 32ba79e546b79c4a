"""Ranks as processes of their own, each told on which machine it is."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import paddle


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(**variables) -> dict:
    """That of a process in which nothing of an outer job is left."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PADDLE", "SLURM", "PMI", "POD"))}
    path = f"{Path(paddle.__file__).parents[1]}{os.pathsep}{clean.get('PYTHONPATH', '')}"
    return {**clean, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", **variables}


def run_script(folder, script, machines, absent=(), seconds=120, **variables):
    """Starts ``script`` once for each item of ``machines`` (the machine that the rank believes to be on), but for the ranks in
    ``absent``. Returns (exit status, output) by rank."""
    path = folder / "script.py"
    path.write_text(textwrap.dedent(script))
    port, size = free_port(), len(machines)
    endpoints = ",".join(f"127.0.0.1:{port + r}" for r in range(size))
    running = {}
    for rank, machine in enumerate(machines):
        if rank in absent:
            continue
        env = environment(
            PADDLE_MASTER=f"127.0.0.1:{port}", PADDLE_TRAINER_ID=str(rank), PADDLE_TRAINERS_NUM=str(size),
            PADDLE_TRAINER_ENDPOINTS=endpoints, PADDLE_CURRENT_ENDPOINT=f"127.0.0.1:{port + rank}",
            FLAGS_comm_machine=machine, **variables,
        )  # fmt: skip
        running[rank] = subprocess.Popen(
            [sys.executable, "-u", str(path)], env=env, cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        return {rank: (p.communicate(timeout=seconds)[0], p.returncode)[::-1] for rank, p in running.items()}
    finally:
        for p in running.values():
            if p.poll() is None:
                p.kill()
                p.wait()
