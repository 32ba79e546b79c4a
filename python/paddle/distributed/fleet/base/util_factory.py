"""``fleet.util``: collectives on Python values, and shares of lists of files."""

from __future__ import annotations

import numpy as np

import paddle

from ... import get_rank, get_world_size
from ...communication.group import barrier
from ...communication.ops import ReduceOp, all_gather_object, all_reduce

_OPS = {"sum": ReduceOp.SUM, "max": ReduceOp.MAX, "min": ReduceOp.MIN}


class UtilBase:
    """Collectives on numbers and arrays among the job's workers."""

    def all_reduce(self, input, mode="sum", comm_world="worker"):
        """An array of the workers' arrays reduced by ``mode``: "sum", "max" or "min"."""
        if mode not in _OPS:
            raise ValueError(f"[fleet.util.all_reduce] expected mode in {list(_OPS)}, got {mode!r}")
        array = np.asarray(input)
        if get_world_size() == 1:
            return array
        t = paddle.to_tensor(array)
        all_reduce(t, _OPS[mode])
        return t.numpy()

    def barrier(self, comm_world="worker") -> None:
        """Waits for all workers."""
        barrier()

    def all_gather(self, input, comm_world="worker") -> list:
        """The workers' values, in order."""
        values: list = []
        all_gather_object(values, input)
        return values

    def get_file_shard(self, files) -> list:
        """This worker's share of a list: consecutive files, the first workers having one more where it does not go evenly.

        Raises:
            TypeError: ``files`` is no list.
        """
        if not isinstance(files, list):
            raise TypeError("files should be a list of file need to be read.")
        size, more = divmod(len(files), get_world_size())
        start = get_rank() * size + min(get_rank(), more)
        return files[start : start + size + (get_rank() < more)]

    def print_on_rank(self, message, rank_id) -> None:
        """Prints on one rank only."""
        if get_rank() == rank_id:
            print(message)
