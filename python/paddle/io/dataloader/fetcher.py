"""From indices to a batch."""

from __future__ import annotations


class SampleError(Exception):
    """Carries which sample failed; the cause is the failure itself."""

    def __init__(self, index):
        super().__init__(index)
        self.index = index


class _Fetcher:
    def __init__(self, dataset, auto_collate_batch, collate_fn, drop_last):
        self.dataset, self.auto_collate_batch = dataset, auto_collate_batch
        self.collate_fn, self.drop_last = collate_fn, drop_last


class _MapDatasetFetcher(_Fetcher):
    def fetch(self, indices):
        """The collated samples at ``indices``."""
        if not self.auto_collate_batch:
            return self._finish(self._sample(indices))
        return self._finish([self._sample(i) for i in indices])

    def _sample(self, index):
        try:
            return self.dataset[index]
        except Exception as error:
            raise SampleError(index) from error

    def _finish(self, data):
        return data if self.collate_fn is None else self.collate_fn(data)


class _IterableDatasetFetcher(_MapDatasetFetcher):
    def __init__(self, dataset, auto_collate_batch, collate_fn, drop_last):
        super().__init__(dataset, auto_collate_batch, collate_fn, drop_last)
        self._iterator = iter(dataset)
        self._done = 0
        self._exhausted = False

    def _next(self):
        try:
            sample = next(self._iterator)
        except StopIteration:
            self._exhausted = True
            raise
        except Exception as error:
            raise SampleError(self._done) from error
        self._done += 1
        return sample

    def fetch(self, indices):
        """The next samples, as many as ``indices``.

        Raises:
            StopIteration: there are no more (or, with ``drop_last``, not enough).
        """
        if not self.auto_collate_batch:
            return self._finish(self._next())
        batch: list = []
        if not self._exhausted:
            for _ in indices:
                try:
                    batch.append(self._next())
                except StopIteration:
                    break
        if not batch or (self.drop_last and len(batch) < len(indices)):
            raise StopIteration
        return self._finish(batch)


def make_fetcher(iterable, dataset, auto_collate_batch, collate_fn, drop_last):
    """The fetcher for a data set by iteration (``iterable``) or by index."""
    kind = _IterableDatasetFetcher if iterable else _MapDatasetFetcher
    return kind(dataset, auto_collate_batch, collate_fn, drop_last)
