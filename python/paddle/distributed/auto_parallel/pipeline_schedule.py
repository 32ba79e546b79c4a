"""Pipelines: a step as a list of forward and backward instructions over micro-batches, one list for each stage.

A stage is a mesh; the stages' order is that of the network's parameters. Each instruction runs this rank's part of the captured
program for one micro-batch: what it receives from other stages, it waits for; what it sends, it does not.
"""

from __future__ import annotations

import paddle

from ..._core import dist as _dist
from .api import attr_of, dtensor_from_local

FORWARD, BACKWARD = "F", "B"


def f_then_b(num_micro_batches, stage=0, num_stages=1) -> list:
    """All forwards, then all backwards (GPipe, Huang et al. 2019)."""
    return [(kind, m) for kind in (FORWARD, BACKWARD) for m in range(num_micro_batches)]


def one_f_one_b(num_micro_batches, stage, num_stages) -> list:
    """As few forwards as keep later stages busy, then one backward for each forward (PipeDream-Flush, Narayanan et al. 2021): at
    most ``num_stages - stage`` micro-batches are kept for backward."""
    ahead = min(num_stages - 1 - stage, num_micro_batches)
    list_ = [(FORWARD, m) for m in range(ahead)]
    for m in range(num_micro_batches - ahead):
        list_ += [(FORWARD, ahead + m), (BACKWARD, m)]
    return list_ + [(BACKWARD, m) for m in range(num_micro_batches - ahead, num_micro_batches)]


def interleaved(num_micro_batches, stage, num_stages, num_chunks) -> list:
    """1F1B where each stage has several chunks of the model, so that it waits less (Narayanan et al. 2021): (kind, micro-batch,
    chunk). Micro-batches go through a chunk in rounds of ``num_stages``.

    Raises:
        ValueError: the number of micro-batches is no multiple of that of the stages.
    """
    if num_micro_batches % num_stages:
        raise ValueError(
            f"[pipeline] expected a multiple of {num_stages} micro-batches (accumulate_steps) for an interleaved pipeline of so "
            f"many stages, got {num_micro_batches}"
        )
    size, total = num_stages * num_chunks, num_micro_batches * num_chunks

    def step(kind, k):
        chunk, m = (k % size) // num_stages, k // size * num_stages + k % num_stages
        return kind, m, chunk if kind == FORWARD else num_chunks - 1 - chunk

    ahead = min(total, 2 * (num_stages - stage - 1) + (num_chunks - 1) * num_stages)
    plan = [step(FORWARD, k) for k in range(ahead)]
    for k in range(total - ahead):
        plan += [step(FORWARD, ahead + k), step(BACKWARD, k)]
    return plan + [step(BACKWARD, k) for k in range(total - ahead, total)]


SCHEDULES = {"FThenB": f_then_b, "1F1B": one_f_one_b}


def stages_of(tensors) -> list:
    """The meshes' ranks, in the order in which ``tensors`` first lie on them."""
    stages: list = []
    for t in tensors:
        if t.is_dist() and (ids := tuple(attr_of(t)[0].process_ids)) not in stages:
            stages.append(ids)
    return stages


def instructions(mode, num_micro_batches, stages) -> list:
    """This rank's list.

    Raises:
        NotImplementedError: a schedule that there is not.
    """
    if mode not in SCHEDULES:
        raise NotImplementedError(
            f"[Strategy] expected pipeline.schedule_mode to be one of {', '.join(SCHEDULES)}, got {mode!r}"
        )
    stage = next((i for i, ids in enumerate(stages) if _dist.rank() in ids), 0)
    return SCHEDULES[mode](num_micro_batches, stage, max(1, len(stages)))


def micro_batches(data, n) -> list:
    """``n`` equal parts of each tensor along axis 0. A tensor that is cut along it gives parts of its parts.

    Raises:
        ValueError: a size that ``n`` parts do not share equally.
    """
    if n == 1:
        return [list(data)]
    columns = [_cut(t, n) for t in data]
    return [[column[m] for column in columns] for m in range(n)]


def _cut(tensor, n) -> list:
    attr = attr_of(tensor)
    value = tensor if attr is None else tensor._local_value()
    if value is None:
        raise NotImplementedError("[pipeline] an input must lie on a mesh of every rank, or be a plain tensor")
    size = value.shape[0] if value.ndim else 0
    if size == 0 or size % n:
        raise ValueError(
            f"[pipeline] expected a batch that {n} micro-batches share equally, got {size} items on this rank"
        )
    parts = paddle.split(value, n)
    return parts if attr is None else [dtensor_from_local(p, *attr) for p in parts]


def run(plan, batches, forward, scaled):
    """Runs the instructions. Returns the mean of the losses.

    Args:
        plan: of :func:`instructions`. batches: of :func:`micro_batches`.
        forward: ``forward(*batch)`` gives a micro-batch's loss. scaled: ``scaled(loss)`` is what
            backward starts from.
    """
    losses: list = [None] * len(batches)
    total = None
    _dist.send_ahead(True)
    for kind, m in plan:
        if kind == FORWARD:
            losses[m] = forward(*batches[m])
            part = losses[m].detach() / len(batches)
            total = part if total is None else total + part
        else:
            scaled(losses[m]).backward()
            losses[m] = None  # what was kept for it is free
    # Waits for what was sent; not after an error, which the others must hear of soon.
    _dist.send_ahead(False)
    return total
