"""``paddle.distributed.spawn``: ranks from within a program."""

from __future__ import annotations

import multiprocessing
import os
import socket
import traceback


def _run(function, args, variables, errors, rank):
    os.environ.update(variables)
    try:
        function(*args)
    except BaseException:
        errors.put((rank, traceback.format_exc()))
        raise SystemExit(1) from None


class MultiprocessContext:
    """The processes that :func:`spawn` started."""

    def __init__(self, processes, errors) -> None:
        self.processes, self._errors = processes, errors

    def join(self, timeout=None) -> bool:
        """Waits for all; the first that fails ends the others.

        Raises:
            RuntimeError: a rank failed; has its traceback.
        """
        for p in self.processes:
            while p.is_alive() and timeout is None:
                p.join(0.1)
                if any(q.exitcode not in (None, 0) for q in self.processes):
                    break
            p.join(timeout if timeout is not None else 0)
        failed = [i for i, p in enumerate(self.processes) if p.exitcode not in (None, 0)]
        if failed:
            for p in self.processes:
                p.terminate()
            rank, text = (failed[0], "") if self._errors.empty() else self._errors.get()
            raise RuntimeError(f"Process {rank} terminated with the following error:\n{text}")
        return all(p.exitcode == 0 for p in self.processes)


def spawn(func, args=(), nprocs=-1, join=True, daemon=False, **options):
    """Runs ``func(*args)`` in ``nprocs`` new processes as ranks of one job (-1: as many as there are cores)."""
    nprocs = len(os.sched_getaffinity(0)) if nprocs == -1 else nprocs
    context = multiprocessing.get_context(options.get("start_method", "spawn"))
    ports = []
    for _ in range(nprocs):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        ports.append(s)
    endpoints = [f"127.0.0.1:{s.getsockname()[1]}" for s in ports]
    for s in ports:
        s.close()
    errors = context.SimpleQueue()
    processes = []
    for rank in range(nprocs):
        variables = {
            "PADDLE_MASTER": endpoints[0], "PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": str(nprocs),
            "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints), "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        }  # fmt: skip
        p = context.Process(target=_run, args=(func, args, variables, errors, rank), daemon=daemon)
        p.start()
        processes.append(p)
    result = MultiprocessContext(processes, errors)
    if join:
        result.join()
    return result
