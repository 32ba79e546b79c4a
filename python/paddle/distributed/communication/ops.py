"""Collectives on tensors. Each blocks until it is done; with ``sync_op=False`` it returns a task whose ``wait()`` does."""

from __future__ import annotations

import pickle

import numpy as np

import paddle

from ..._core import dist as _dist
from .group import resolve


class ReduceOp:
    """How tensors are combined."""

    SUM, MAX, MIN, PROD, AVG = range(5)


class Task:
    """A collective that may still be running."""

    def __init__(self, work) -> None:
        self._work = work

    def wait(self, timeout=None) -> bool:
        """Blocks until done; False if it is still running after ``timeout`` (seconds, or a timedelta)."""
        seconds = getattr(timeout, "total_seconds", lambda: timeout or 0)()
        return _dist.wait(self._work, float(seconds))

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        return _dist.completed(self._work)

    is_sync = is_completed


def _local_rank(group, rank, what) -> int:
    at = group.get_group_rank(rank)
    if at < 0:
        raise ValueError(f"[{what}] expected a rank of the group {group.ranks}, got {rank}")
    return at


def all_reduce(tensor, op=ReduceOp.SUM, group=None, sync_op=True):
    """Combines the ranks' tensors; every rank's ``tensor`` gets the result."""
    return Task(_dist.all_reduce_(tensor, op, resolve(group).id, sync_op))


def broadcast(tensor, src, group=None, sync_op=True):
    """Every rank's ``tensor`` becomes what it is on rank ``src``."""
    group = resolve(group)
    return Task(_dist.broadcast_(tensor, _local_rank(group, src, "broadcast"), group.id, sync_op))


def reduce(tensor, dst, op=ReduceOp.SUM, group=None, sync_op=True):
    """As :func:`all_reduce`, but only rank ``dst`` gets the result."""
    group = resolve(group)
    return Task(_dist.reduce_(tensor, op, _local_rank(group, dst, "reduce"), group.id, sync_op))


def all_gather(tensor_list, tensor, group=None, sync_op=True):
    """Fills ``tensor_list`` (an empty list, or one of tensors; or one tensor, along axis 0) with the ranks' tensors."""
    parts, work = _dist.all_gather(tensor, resolve(group).id, sync_op)
    task = Task(work)
    if isinstance(tensor_list, paddle.Tensor):
        task.wait()
        tensor_list.copy_(paddle.concat(parts) if parts[0].ndim else paddle.stack(parts))
    elif not tensor_list:
        tensor_list.extend(parts)
    else:
        task.wait()
        for target, part in zip(tensor_list, parts):
            target.copy_(part)
    return task


def reduce_scatter(tensor, tensor_list, op=ReduceOp.SUM, group=None, sync_op=True):
    """``tensor`` gets this rank's item of the reduced lists (of a tensor: its part along axis 0)."""
    group = resolve(group)
    return Task(_dist.reduce_scatter_(tensor, _parts(tensor_list, group), op, group.id, sync_op))


def _parts(value, group) -> list:
    if not isinstance(value, paddle.Tensor):
        return list(value)
    if value.shape[0] % group.nranks:
        raise ValueError(f"expected a size of axis 0 that {group.nranks} ranks share equally, got {value.shape[0]}")
    return list(paddle.split(value, group.nranks))


def scatter(tensor, tensor_list=None, src=0, group=None, sync_op=True):
    """``tensor`` gets this rank's item of the list (of a tensor: its part along axis 0) on rank ``src``."""
    group = resolve(group)
    at = _local_rank(group, src, "scatter")
    parts = _parts(tensor_list, group) if group.rank == at else []
    return Task(_dist.scatter_(tensor, parts, at, group.id, sync_op))


def gather(tensor, gather_list=None, dst=0, group=None, sync_op=True):
    """On rank ``dst`` ``gather_list`` is filled with the ranks' tensors."""
    group = resolve(group)
    parts, work = _dist.gather(tensor, _local_rank(group, dst, "gather"), group.id, sync_op)
    task = Task(work)
    if group.rank == group.get_group_rank(dst):
        if gather_list is None:
            raise ValueError("[gather] expected a gather_list on rank dst")
        if gather_list:
            task.wait()
            for target, part in zip(gather_list, parts):
                target.copy_(part)
        else:
            gather_list.extend(parts)
    return task


def alltoall(out_tensor_list, in_tensor_list=None, group=None, sync_op=True):
    """Item r of ``in_tensor_list`` goes to rank r; item r of ``out_tensor_list`` comes from there.

    Paddle 2.x's order (inputs, outputs) is told apart where the second list is empty.
    """
    group = resolve(group)
    outs, ins = out_tensor_list, in_tensor_list
    if isinstance(outs, paddle.Tensor):
        parts, targets = _parts(ins, group), _parts(outs, group)
        task = Task(_dist.all_to_all(parts, targets, group.id, True))
        outs.copy_(paddle.concat(targets))
        return task
    if outs and not ins:
        outs, ins = ins, outs
    if not outs:
        outs.extend(paddle.empty_like(t) for t in ins)
    return Task(_dist.all_to_all(list(ins), outs, group.id, sync_op))


all_to_all = alltoall


def alltoall_single(out_tensor, in_tensor, in_split_sizes=None, out_split_sizes=None, group=None, sync_op=True):
    """:func:`alltoall` of parts of one tensor along axis 0; sizes None: equal parts."""
    group = resolve(group)

    def cut(tensor, sizes):
        return _parts(tensor, group) if sizes is None else list(paddle.split(tensor, list(sizes)))

    targets = [paddle.empty_like(t) for t in cut(out_tensor, out_split_sizes)]
    task = Task(_dist.all_to_all(cut(in_tensor, in_split_sizes), targets, group.id, True))
    out_tensor.copy_(paddle.concat(targets))
    return task


def send(tensor, dst=0, group=None, sync_op=True):
    """Sends ``tensor`` to rank ``dst``, which calls :func:`recv`."""
    group = resolve(group)
    return Task(_dist.send(tensor, _local_rank(group, dst, "send"), group.id, sync_op))


def recv(tensor, src=0, group=None, sync_op=True):
    """``tensor`` becomes what rank ``src`` sends."""
    group = resolve(group)
    return Task(_dist.recv_(tensor, _local_rank(group, src, "recv"), group.id, sync_op))


def isend(tensor, dst, group=None):
    """:func:`send` that does not wait."""
    return send(tensor, dst, group, sync_op=False)


def irecv(tensor, src=None, group=None):
    """:func:`recv` that does not wait."""
    return recv(tensor, 0 if src is None else src, group, sync_op=False)


class P2POp:
    """One send or receive of :func:`batch_isend_irecv`: ``op`` is :func:`isend` or :func:`irecv`."""

    def __init__(self, op, tensor, peer, group=None) -> None:
        if op not in (isend, irecv):
            raise RuntimeError("Invalid ``op`` function. Expected ``op`` to be of type ``paddle.distributed.isend`` or "
                               "``paddle.distributed.irecv``.")  # fmt: skip
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


def batch_isend_irecv(p2p_op_list) -> list:
    """Starts all operations; returns their tasks."""
    if not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise RuntimeError("[batch_isend_irecv] expected a list of P2POp")
    return [p.op(p.tensor, p.peer, p.group) for p in p2p_op_list]


def send_object_list(object_list, dst=0, group=None) -> None:
    """Sends Python objects to rank ``dst``, which calls :func:`recv_object_list`.

    Raises:
        ValueError: there is nothing to send.
    """
    if not object_list:
        raise ValueError("[send_object_list] expected objects to send")
    parts = [_to_bytes(obj) for obj in object_list]
    send(paddle.to_tensor([p.shape[0] for p in parts], dtype="int64"), dst, group)
    send(paddle.concat(parts), dst, group)


def recv_object_list(object_list, src=0, group=None) -> None:
    """``object_list`` gets as many objects as it has items from rank ``src``.

    Raises:
        ValueError: it has none.
    """
    if not object_list:
        raise ValueError("[recv_object_list] expected a list of as many items as there are objects to come")
    sizes = paddle.zeros([len(object_list)], dtype="int64")
    recv(sizes, src, group)
    data = paddle.zeros([int(sizes.sum())], dtype="uint8")
    recv(data, src, group)
    at = 0
    for i, n in enumerate(sizes.tolist()):
        object_list[i] = _from_bytes(data[at : at + n], n)
        at += n


# ---- objects: pickled to bytes, which must come from ranks one trusts
def _to_bytes(obj):
    return paddle.to_tensor(np.frombuffer(pickle.dumps(obj), dtype=np.uint8).copy())


def _from_bytes(tensor, size):
    return pickle.loads(tensor.numpy()[:size].tobytes())


def _sizes(n, group) -> list[int]:
    sizes: list = []
    all_gather(sizes, paddle.to_tensor([n], dtype="int64"), group)
    return [int(s) for s in sizes]


def _padded(data, size):
    return paddle.concat([data, paddle.zeros([size - data.shape[0]], "uint8")]) if data.shape[0] < size else data


def all_gather_object(object_list, obj, group=None) -> None:
    """Extends ``object_list`` by every rank's ``obj``."""
    data = _to_bytes(obj)
    sizes = _sizes(data.shape[0], group)
    parts: list = []
    all_gather(parts, _padded(data, max(sizes)), group)
    object_list.extend(_from_bytes(p, n) for p, n in zip(parts, sizes))


def broadcast_object_list(object_list, src, group=None) -> None:
    """Every rank's ``object_list`` becomes what it is on rank ``src``."""
    group = resolve(group)
    mine = group.rank == _local_rank(group, src, "broadcast_object_list")
    data = _to_bytes(list(object_list)) if mine else None
    size = paddle.to_tensor([data.shape[0] if mine else 0], dtype="int64")
    broadcast(size, src, group)
    if not mine:
        data = paddle.zeros([int(size)], "uint8")
    broadcast(data, src, group)
    object_list[:] = _from_bytes(data, int(size))


def scatter_object_list(out_object_list, in_object_list=None, src=0, group=None) -> None:
    """``out_object_list`` becomes a list of this rank's item of ``in_object_list`` on rank ``src``."""
    group = resolve(group)
    objects = list(in_object_list or []) if group.rank == _local_rank(group, src, "scatter_object_list") else []
    box = [objects]
    broadcast_object_list(box, src, group)
    out_object_list[:] = [box[0][group.rank]]
