"""The iterators behind a DataLoader: in this process, or over worker processes."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import time
import weakref
from multiprocessing import connection

import numpy as np

from .channel import Channel, from_portable
from .collate import default_convert_fn, to_tensors
from .fetcher import SampleError, make_fetcher
from .timing import timed
from .worker import Job, worker_main


class _DataLoaderIterBase:
    """What both kinds share: the order of batches and the form in which they are given out."""

    def __init__(self, loader):
        self._loader = loader
        self._collate_fn = loader.collate_fn if loader.collate_fn is not None else default_convert_fn
        self._sampler_iter = iter(loader._index_batches())

    def __iter__(self):
        return self

    def _give(self, batch):
        return self._loader._shape_output(batch)

    def __del__(self):
        self._close()

    def _close(self) -> None:
        pass


class _DataLoaderIterSingleProcess(_DataLoaderIterBase):
    """Fetches when asked."""

    def __init__(self, loader):
        super().__init__(loader)
        self._fetcher = make_fetcher(
            loader.is_iterable, loader.dataset, loader.auto_collate_batch, self._collate_fn, loader.drop_last
        )

    @timed
    def __next__(self):
        indices = next(self._sampler_iter)
        try:
            batch = self._fetcher.fetch(indices)
        except SampleError as error:
            raise error.__cause__ from None
        return self._give(to_tensors(batch))


def _stop_workers(workers, channels) -> None:
    """Asks, waits shortly, then terminates: no worker outlives its loader."""
    for channel in channels:
        with contextlib.suppress(OSError):
            channel.send(("stop",))
        with contextlib.suppress(OSError):
            channel.close()
    deadline = time.monotonic() + 2.0
    for worker in workers:
        with contextlib.suppress(AssertionError, ValueError):  # not our child, after a fork
            worker.join(max(0.0, deadline - time.monotonic()))
            if worker.exitcode is None:
                worker.terminate()
                worker.join(1.0)
            if worker.exitcode is None:
                worker.kill()
                worker.join()


def _stop_if_owner(owner, workers, channels) -> None:
    if os.getpid() == owner:
        _stop_workers(workers, channels)


def _cause_of_death(worker) -> str:
    worker.join(1.0)
    code = worker.exitcode
    if code is None or code >= 0:
        return f"exited unexpectedly with code {code}"
    name = signal.Signals(-code).name if -code in signal.valid_signals() else str(-code)
    hint = ""
    if -code == signal.SIGKILL:
        hint = " (often the system's answer to a lack of memory: try fewer workers or smaller batches)"
    elif -code == signal.SIGBUS:
        hint = f" (shared memory ran out{_shm_size()})"
    return f"was killed by signal {name}{hint}"


def _shm_size() -> str:
    try:
        stat = os.statvfs("/dev/shm")
    except OSError:
        return ""
    free, size = (stat.f_bavail * stat.f_frsize) >> 20, (stat.f_blocks * stat.f_frsize) >> 20
    return f": /dev/shm has {free} of {size} MiB free"


class _DataLoaderIterMultiProcess(_DataLoaderIterBase):
    """Batch n goes to worker n mod num_workers (those still with data); batches come out in order."""

    def __init__(self, loader):
        super().__init__(loader)
        self._count = loader.num_workers
        self._ahead = loader.prefetch_factor
        self._timeout = loader.timeout
        self._start_workers(loader, int(np.random.randint(0, 2**31 - 1)))
        self._begin_epoch()

    def _start_workers(self, loader, seed) -> None:
        context = multiprocessing.get_context(multiprocessing.get_start_method(allow_none=True) or "fork")
        forks = context.get_start_method() == "fork"
        self._channels, self._workers = [], []
        for i in range(self._count):
            ours, theirs = Channel.pair(loader.use_shared_memory)
            job = Job(
                i, self._count, loader.dataset, loader.is_iterable, loader.auto_collate_batch, self._collate_fn,
                loader.drop_last, loader.worker_init_fn, seed,
            )  # fmt: skip
            to_close = [*self._channels, ours] if forks else []
            worker = context.Process(target=worker_main, args=(job, theirs, to_close), daemon=True)
            worker.start()
            theirs.close()
            self._channels.append(ours)
            self._workers.append(worker)
        self._finalizer = weakref.finalize(self, _stop_if_owner, os.getpid(), self._workers, self._channels)

    # ---- one pass ---------------------------------------------------------------------------------------------------
    def _begin_epoch(self) -> None:
        self._live = set(range(self._count))
        self._next_worker = itertools.cycle(range(self._count))
        self._sent = self._given = 0
        self._waiting: dict = {}  # number -> worker
        self._arrived: dict = {}  # number -> (kind, value)
        self._sampler_done = False
        for _ in range(self._count * self._ahead):
            self._send_one()

    def _restart(self) -> None:
        """A new pass with the same processes."""
        while self._waiting:
            self._receive()
        self._sampler_iter = iter(self._loader._index_batches())
        seed = int(np.random.randint(0, 2**31 - 1))
        for channel in self._channels:
            channel.send(("epoch", seed))
        self._begin_epoch()

    def _send_one(self) -> None:
        if self._sampler_done or not self._live:
            return
        try:
            indices = next(self._sampler_iter)
        except StopIteration:
            self._sampler_done = True
            return
        worker = next(w for w in self._next_worker if w in self._live)
        try:
            self._channels[worker].send(("fetch", self._sent, indices))
        except OSError:
            self._report_death(worker)
        self._waiting[self._sent] = worker
        self._sent += 1

    @timed
    def __next__(self):
        while True:
            if self._given in self._arrived:
                kind, value = self._arrived.pop(self._given)
                self._given += 1
                if kind == "fail":
                    self._close()
                    value.reraise()
                self._send_one()
                if kind == "batch":
                    return self._give(from_portable(value))
            elif self._given in self._waiting:
                self._receive()
            else:
                self._end()
                raise StopIteration

    def _end(self) -> None:
        if not self._loader._persistent_workers:
            self._close()

    def _receive(self) -> None:
        """Takes what workers have sent; raises if one died or none answered in time."""
        by_fd = {self._channels[w].fileno(): w for w in set(self._waiting.values())}
        ready = connection.wait(list(by_fd), self._timeout if self._timeout > 0 else None)
        if not ready:
            late = sorted(set(self._waiting.values()))
            self._close()
            raise RuntimeError(f"DataLoader timed out after {self._timeout} s waiting for workers {late}")
        for fd in ready:
            worker = by_fd[fd]
            try:
                number, kind, value = self._channels[worker].receive()
            except (EOFError, ConnectionError):
                self._report_death(worker)
            self._waiting.pop(number)
            self._arrived[number] = (kind, value)
            if kind == "end":
                self._live.discard(worker)

    def _report_death(self, worker):
        process = self._workers[worker]
        cause = _cause_of_death(process)
        self._close()
        raise RuntimeError(f"DataLoader worker({worker}) (pid {process.pid}) {cause}")

    def _close(self) -> None:
        finalizer = getattr(self, "_finalizer", None)
        if finalizer is not None:
            finalizer()
