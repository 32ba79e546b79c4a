"""What runs in a worker process."""

from __future__ import annotations

import os
import pickle
import random
import select
import signal
import sys
import traceback
from typing import Any, NamedTuple

import numpy as np

from ...base import core
from .channel import Channel, to_portable
from .fetcher import SampleError, make_fetcher


class WorkerInfo(NamedTuple):
    """Of the worker process this is: ``id`` (0 ... num_workers - 1), ``num_workers``, its copy of ``dataset``,
    ``seed``."""

    num_workers: int
    id: int
    dataset: Any
    seed: int


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The ``WorkerInfo`` in a worker process, None in the main process."""
    return _worker_info


class WorkerFailure(NamedTuple):
    """An exception on its way from a worker."""

    worker: int
    kind: type
    text: str
    trace: str
    sample: object

    def reraise(self):
        """Raises an exception of the same class (RuntimeError if it can't be made from a text) that tells all."""
        where = "" if self.sample is None else f" at sample {self.sample!r}"
        message = (
            f"DataLoader worker({self.worker}) caught {self.kind.__name__}{where} with message:\n{self.text}\n"
            f"{self.trace}"
        )
        try:
            error = self.kind(message)
        except Exception:  # noqa: BLE001 - any constructor may be strange
            error = RuntimeError(message)
        error.worker_traceback, error.sample_index = self.trace, self.sample
        raise error from None


def describe_failure(worker, error) -> WorkerFailure:
    """A ``WorkerFailure`` of what is being handled; the class is sent only if the main process can know it."""
    sample = None
    if isinstance(error, SampleError) and error.__cause__ is not None:
        sample, error = error.index, error.__cause__
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    kind = type(error)
    try:
        pickle.loads(pickle.dumps(kind))
    except Exception:  # noqa: BLE001
        kind = RuntimeError
    if issubclass(kind, StopIteration):  # it would end the loop as if all were well
        kind = RuntimeError
    return WorkerFailure(worker, kind, str(error), trace, sample)


class Job(NamedTuple):
    """All that a worker needs to know; it is pickled where processes are spawned."""

    worker: int
    num_workers: int
    dataset: Any
    iterable: bool
    auto_collate_batch: bool
    collate_fn: Any
    drop_last: bool
    worker_init_fn: Any
    seed: int


def _seed_all(seed) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    core.seed(seed)


def worker_main(job: Job, channel: Channel, to_close) -> None:
    """The process: takes ("fetch", n, indices), ("epoch", seed) and ("stop",); sends (n, "batch" | "end" | "fail",
    value)."""
    global _worker_info
    for end in to_close:  # ends that belong to the main process, inherited by the fork
        end.close()
    # Ctrl-C goes to the main process, which then stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    core.set_num_threads(1)
    seed = job.seed + job.worker
    _seed_all(seed)
    _worker_info = WorkerInfo(job.num_workers, job.worker, job.dataset, seed)
    fetcher, failure = None, None
    try:
        if job.worker_init_fn is not None:
            job.worker_init_fn(job.worker)
        fetcher = _fetcher(job)
    except Exception as error:  # noqa: BLE001 - everything is reported
        failure = describe_failure(job.worker, error)
    try:
        while True:
            if not select.select([channel], [], [], 2.0)[0]:
                if os.getppid() != parent:  # the main process died without a word
                    return
                continue
            command = channel.receive()
            if command[0] == "stop":
                return
            if command[0] == "epoch":
                seed = command[1] + job.worker
                _seed_all(seed)
                _worker_info = WorkerInfo(job.num_workers, job.worker, job.dataset, seed)
                if failure is None:
                    try:
                        fetcher = _fetcher(job)
                    except Exception as error:  # noqa: BLE001
                        failure = describe_failure(job.worker, error)
                continue
            _, number, indices = command
            _answer(channel, number, indices, fetcher, failure, job.worker)
    except (EOFError, OSError):
        return  # the main process is gone or has closed the loader
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _fetcher(job):
    return make_fetcher(job.iterable, job.dataset, job.auto_collate_batch, job.collate_fn, job.drop_last)


def _answer(channel, number, indices, fetcher, failure, worker) -> None:
    if failure is not None:
        channel.send((number, "fail", failure))
        return
    try:
        batch = to_portable(fetcher.fetch(indices))
    except StopIteration:
        channel.send((number, "end", None))
        return
    except Exception as error:  # noqa: BLE001
        channel.send((number, "fail", describe_failure(worker, error)))
        return
    try:
        channel.send((number, "batch", batch))
    except (pickle.PicklingError, TypeError, AttributeError) as error:  # before a byte was sent
        channel.send((number, "fail", describe_failure(worker, error)))
