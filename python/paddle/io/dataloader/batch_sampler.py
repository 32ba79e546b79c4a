"""Batches of indices."""

from __future__ import annotations

import math
import os
import sys

import numpy as np

from .dataset import IterableDataset
from .sampler import RandomSampler, Sampler, SequenceSampler


class BatchSampler(Sampler):
    """Lists of ``batch_size`` indices of ``dataset`` (in order or shuffled) or of ``sampler``.

    ``drop_last`` leaves out a last list that is shorter.
    """

    def __init__(
        self, dataset=None, sampler=None, shuffle: bool = False, batch_size: int = 1, drop_last: bool = False
    ) -> None:
        if dataset is None and sampler is None:
            raise AssertionError("either dataset or sampler should be set")
        if dataset is not None and sampler is not None:
            raise AssertionError("should not set both dataset and sampler")
        if isinstance(dataset, IterableDataset):
            raise AssertionError("dataset should not be a paddle.io.IterableDataset")
        if not isinstance(shuffle, bool):
            raise AssertionError(f"shuffle should be a boolean value, but got {type(shuffle)}")
        if sampler is not None and shuffle:
            raise AssertionError("shuffle should be False when sampler is set")
        _check_batch(batch_size, drop_last)
        self.dataset = dataset
        self.sampler = sampler if sampler is not None else (RandomSampler if shuffle else SequenceSampler)(dataset)
        self.shuffle, self.batch_size, self.drop_last = shuffle, batch_size, drop_last

    def __iter__(self):
        batch: list = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check_batch(batch_size, drop_last) -> None:
    if not isinstance(batch_size, int) or batch_size <= 0:
        raise AssertionError(f"batch_size should be a positive integer, but got {batch_size}")
    if not isinstance(drop_last, bool):
        raise AssertionError(f"drop_last should be a boolean value, but got {type(drop_last)}")


def _world():
    """(number of ranks, this rank): of the running job, or of the launcher's variables."""
    distributed = sys.modules.get(__name__.split(".", 1)[0] + ".distributed")
    if distributed is not None:
        return distributed.get_world_size(), distributed.get_rank()
    return int(os.environ.get("PADDLE_TRAINERS_NUM", "1")), int(os.environ.get("PADDLE_TRAINER_ID", "0"))


class DistributedBatchSampler(BatchSampler):
    """The batches of one rank: the ranks take batches of the whole in turn, and equally many.

    The first samples are repeated where the length doesn't divide. With ``shuffle`` the order is that of the epoch
    (``set_epoch``; otherwise each pass counts one up), the same on every rank.
    """

    def __init__(
        self,
        dataset,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        _check_batch(batch_size, drop_last)
        if not isinstance(shuffle, bool):
            raise AssertionError("shuffle should be a boolean value")
        if num_replicas is not None and (not isinstance(num_replicas, int) or num_replicas <= 0):
            raise AssertionError("num_replicas should be a positive integer")
        if rank is not None and (not isinstance(rank, int) or rank < 0):
            raise AssertionError("rank should be a non-negative integer")
        world, own = _world() if num_replicas is None or rank is None else (1, 0)
        self.dataset, self.batch_size, self.shuffle, self.drop_last = dataset, batch_size, shuffle, drop_last
        self.nranks = world if num_replicas is None else num_replicas
        self.local_rank = own if rank is None else rank
        self.epoch = 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def _own(self, indices) -> list:
        """Every rank takes one batch of each round; the last, shorter round is shared out equally."""
        stride = self.batch_size * self.nranks
        whole = self.total_size - self.total_size % stride
        own: list = []
        for start in range(self.local_rank * self.batch_size, whole, stride):
            own.extend(indices[start : start + self.batch_size])
        share = (self.total_size - whole) // self.nranks
        rest = indices[whole:]
        own.extend(rest[self.local_rank * share : (self.local_rank + 1) * share])
        return own

    def __iter__(self):
        indices = np.arange(len(self.dataset)).tolist()
        while len(indices) < self.total_size:
            indices += indices[: self.total_size - len(indices)]
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(indices)
            self.epoch += 1
        if self.nranks > 1:
            indices = self._own(indices)
        for start in range(0, len(indices), self.batch_size):
            batch = indices[start : start + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        extra = 0 if self.drop_last else self.batch_size - 1
        return (self.num_samples + extra) // self.batch_size

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, the seed of the shuffled order."""
        self.epoch = epoch
