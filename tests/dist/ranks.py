"""Ranks as threads of this process, each with a Context of its own."""

from __future__ import annotations

import threading
import traceback

import paddle
from paddle._core import dist as core


def run(size, fn, timeout=10.0):
    """``fn(rank)`` as ``size`` ranks; returns what they return. The first failure is raised with its rank's traceback."""
    world = core.in_process_world(size)
    results, errors = [None] * size, []

    def body(rank):
        core.enter_rank(world, rank)
        try:
            core.connect("auto", timeout)
            results[rank] = fn(rank)
        except BaseException as error:
            errors.append((rank, error, traceback.format_exc()))
        finally:
            core.leave_rank()

    threads = [threading.Thread(target=body, args=(r,)) for r in range(size)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        # A rank that waits for another's failed call times out: that isn't the cause.
        errors.sort(key=lambda e: isinstance(e[1], TimeoutError) or "gave up" in str(e[1]) or "ended" in str(e[1]))
        rank, error, text = errors[0]
        raise AssertionError(f"rank {rank}: {text}") from error
    return results


def as_numpy(t):
    return (t.astype("float32") if str(t.dtype).endswith("bfloat16") else t).numpy()


__all__ = ["as_numpy", "core", "paddle", "run"]
