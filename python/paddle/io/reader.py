"""The DataLoader."""

from __future__ import annotations

import itertools

from .dataloader.batch_sampler import BatchSampler
from .dataloader.collate import default_collate_fn, default_convert_fn
from .dataloader.dataloader_iter import _DataLoaderIterMultiProcess, _DataLoaderIterSingleProcess
from .dataloader.dataset import IterableDataset

__all__ = ["DataLoader", "default_collate_fn", "default_convert_fn"]


class DataLoader:
    """Batches of a data set as tensors; iterate it, or call it for an iterator.

    Args:
        dataset: a ``Dataset`` or an ``IterableDataset``.
        feed_list: tensors whose names key the batches when ``return_list`` is False.
        places: kept for callers; tensors go to the current device.
        return_list: batches in the samples' own structure (True), or ``[{name: tensor}]`` by ``feed_list``.
        batch_sampler: lists of indices; or ``batch_size``, ``shuffle``, ``drop_last``. ``batch_size=None``: no
            batching.
        collate_fn: from a list of samples to a batch (default: ``default_collate_fn``).
        num_workers: worker processes; 0 reads in this process.
        use_shared_memory: large arrays come from workers through shared memory, not through sockets.
        prefetch_factor: batches each worker is ahead. persistent_workers: keep the workers from pass to pass.
        timeout: seconds to wait for a batch, 0 for ever.
        worker_init_fn: called in each worker with its number.
        use_buffer_reader, reader_buffer_size: kept for callers; ``prefetch_factor`` says how far ahead is read.

    In worker n ``random``, NumPy and paddle are seeded with a number drawn from NumPy's generator plus n.

    Raises:
        The exception of a failing sample, with its index and the worker's traceback; RuntimeError: a worker was killed
        (by which signal), or no batch came in time.
    """

    def __init__(
        self,
        dataset,
        feed_list=None,
        places=None,
        return_list: bool = True,
        batch_sampler=None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn=None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: int = 0,
        worker_init_fn=None,
        persistent_workers: bool = False,
    ) -> None:
        if num_workers < 0:
            raise AssertionError("num_workers should be a non-negative value")
        if timeout < 0:
            raise AssertionError("timeout should be a non-negative value")
        if prefetch_factor <= 0:
            raise AssertionError("prefetch_factor should be a positive value")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.feed_list, self.places, self.return_list = dataset, feed_list, places, return_list
        self.num_workers, self.prefetch_factor = num_workers, prefetch_factor
        self.use_buffer_reader, self.reader_buffer_size = use_buffer_reader, reader_buffer_size
        self.use_shared_memory, self.timeout, self.worker_init_fn = use_shared_memory, timeout, worker_init_fn
        self.is_iterable = isinstance(dataset, IterableDataset)
        self._choose_batches(batch_sampler, batch_size, shuffle, drop_last)
        self.auto_collate_batch = self.batch_sampler is not None or (self.is_iterable and self.batch_size is not None)
        self.collate_fn = collate_fn if collate_fn is not None else self._default_collate()
        self._persistent_workers = persistent_workers
        self._iterator = None
        self.pin_memory = False

    def _default_collate(self):
        return default_collate_fn if self.auto_collate_batch else default_convert_fn

    def _choose_batches(self, batch_sampler, batch_size, shuffle, drop_last) -> None:
        if self.is_iterable:
            if shuffle:
                raise ValueError(f"IterableDataset not support shuffle, but got shuffle={shuffle}")
            if batch_sampler is not None:
                raise ValueError("IterableDataset expect unspecified batch_sampler")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or drop_last:
                raise AssertionError("batch_size/shuffle/drop_last should not be set when batch_sampler is given")
            self.batch_sampler = batch_sampler
            self.batch_size, self.drop_last = getattr(batch_sampler, "batch_size", None), False
        elif batch_size is None:
            self.batch_sampler, self.batch_size, self.drop_last = None, None, False
        else:
            if not batch_size > 0:
                raise AssertionError(
                    f"batch_size should be None or a positive value when batch_sampler is not given, got {batch_size}"
                )
            self.batch_size, self.drop_last = batch_size, drop_last
            self.batch_sampler = None
            if not self.is_iterable:
                self.batch_sampler = BatchSampler(
                    self.dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last
                )

    def _index_batches(self):
        """What is asked of the fetcher, in order; an iterable data set has no indices, only counts."""
        if self.is_iterable:
            return itertools.repeat([None] * (self.batch_size or 1))
        if self.batch_sampler is not None:
            return self.batch_sampler
        return range(len(self.dataset))

    def _shape_output(self, batch):
        if self.return_list or not self.feed_list:
            return batch
        fields = batch if isinstance(batch, list) else [batch]
        return [{var.name: value for var, value in zip(self.feed_list, fields)}]

    def __len__(self) -> int:
        """The number of batches.

        Raises:
            ValueError: an iterable data set has no length.
        """
        if self.is_iterable:
            raise ValueError("length of IterableDataset not supported")
        return len(self.dataset) if self.batch_sampler is None else len(self.batch_sampler)

    def __iter__(self):
        if self.num_workers == 0:
            return _DataLoaderIterSingleProcess(self)
        if not self._persistent_workers:
            return _DataLoaderIterMultiProcess(self)
        if self._iterator is None or not self._iterator._finalizer.alive:
            self._iterator = _DataLoaderIterMultiProcess(self)
        else:
            self._iterator._restart()
        return self._iterator

    def __call__(self):
        return self.__iter__()
