"""Collectives with ``use_calc_stream``. A CPU has no streams: with ``use_calc_stream`` they end before they return."""

from __future__ import annotations

from . import ops as _ops
from .ops import ReduceOp

__all__ = ["all_gather", "all_reduce", "alltoall", "alltoall_single", "broadcast", "gather", "recv", "reduce", "reduce_scatter",
           "scatter", "send"]  # fmt: skip


def _waits(sync_op, use_calc_stream) -> bool:
    if use_calc_stream and not sync_op:
        raise RuntimeError("use_calc_stream can only be true in sync op behavior.")
    return sync_op


def all_gather(tensor_or_tensor_list, tensor, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.all_gather`, into a list or into one tensor along axis 0."""
    return _ops.all_gather(tensor_or_tensor_list, tensor, group, _waits(sync_op, use_calc_stream))


def all_reduce(tensor, op=ReduceOp.SUM, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.all_reduce`."""
    return _ops.all_reduce(tensor, op, group, _waits(sync_op, use_calc_stream))


def alltoall(out_tensor_or_tensor_list, in_tensor_or_tensor_list, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.alltoall`, of lists or of single tensors."""
    return _ops.alltoall(out_tensor_or_tensor_list, in_tensor_or_tensor_list, group, _waits(sync_op, use_calc_stream))


def alltoall_single(out_tensor, in_tensor, out_split_sizes=None, in_split_sizes=None, group=None, sync_op=True,
                    use_calc_stream=False):  # fmt: skip
    """:func:`paddle.distributed.alltoall_single`; note the order of the sizes."""
    return _ops.alltoall_single(
        out_tensor, in_tensor, in_split_sizes, out_split_sizes, group, _waits(sync_op, use_calc_stream)
    )


def broadcast(tensor, src, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.broadcast`."""
    return _ops.broadcast(tensor, src, group, _waits(sync_op, use_calc_stream))


def gather(tensor, gather_list=None, dst=0, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.gather`."""
    return _ops.gather(tensor, gather_list, dst, group, _waits(sync_op, use_calc_stream))


def recv(tensor, src=0, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.recv`."""
    return _ops.recv(tensor, src, group, _waits(sync_op, use_calc_stream))


def reduce(tensor, dst=0, op=ReduceOp.SUM, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.reduce`."""
    return _ops.reduce(tensor, dst, op, group, _waits(sync_op, use_calc_stream))


def reduce_scatter(tensor, tensor_or_tensor_list, op=ReduceOp.SUM, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.reduce_scatter`, of a list or of one tensor along axis 0."""
    return _ops.reduce_scatter(tensor, tensor_or_tensor_list, op, group, _waits(sync_op, use_calc_stream))


def scatter(tensor, tensor_or_tensor_list=None, src=0, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.scatter`, of a list or of one tensor along axis 0."""
    return _ops.scatter(tensor, tensor_or_tensor_list, src, group, _waits(sync_op, use_calc_stream))


def send(tensor, dst=0, group=None, sync_op=True, use_calc_stream=False):
    """:func:`paddle.distributed.send`."""
    return _ops.send(tensor, dst, group, _waits(sync_op, use_calc_stream))
