"""Data sets: by index, by iteration, and built from other ones."""

from __future__ import annotations

import bisect
import math

import numpy as np

from .sampler import random_permutation


class Dataset:
    """Samples by index: define ``__getitem__(idx)`` and ``__len__()``."""

    def __getitem__(self, idx):
        raise NotImplementedError(f"'__getitem__' not implement in class {type(self).__name__}")

    def __len__(self) -> int:
        raise NotImplementedError(f"'__len__' not implement in class {type(self).__name__}")

    def __class_getitem__(cls, item):
        return cls  # Dataset[T] in annotations and bases


class IterableDataset(Dataset):
    """Samples by iteration: define ``__iter__()``. With several workers each iterates; split by ``get_worker_info``."""

    def __iter__(self):
        raise NotImplementedError(f"'__iter__' not implement in class {type(self).__name__}")

    def __getitem__(self, idx):
        raise RuntimeError("'{}' should not be called for IterableDataset{}".format("__getitem__", type(self).__name__))

    def __len__(self) -> int:
        raise RuntimeError("'{}' should not be called for IterableDataset{}".format("__len__", type(self).__name__))


class TensorDataset(Dataset):
    """Rows of tensors of one length: sample i is ``(t[i] for t in tensors)``.

    Raises:
        AssertionError: first sizes differ.
    """

    def __init__(self, tensors) -> None:
        if not all(t.shape[0] == tensors[0].shape[0] for t in tensors):
            raise AssertionError("tensors not have same shape of the 1st dimension")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


def _fields(sample) -> list:
    return list(sample) if isinstance(sample, (list, tuple)) else [sample]


class ComposeDataset(Dataset):
    """Data sets side by side: sample i holds the fields of every data set's sample i."""

    def __init__(self, datasets) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("input datasets should not be empty")
        for i, dataset in enumerate(self.datasets):
            if not isinstance(dataset, Dataset):
                raise AssertionError("each input dataset should be paddle.io.Dataset")
            if isinstance(dataset, IterableDataset):
                raise AssertionError("paddle.io.IterableDataset not supported")
            if i and len(dataset) != len(self.datasets[i - 1]):
                raise AssertionError("lengths of datasets should be same")

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, idx):
        sample: list = []
        for dataset in self.datasets:
            sample.extend(_fields(dataset[idx]))
        return tuple(sample)


class ChainDataset(IterableDataset):
    """Iterable data sets one after another."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("input datasets should not be empty")
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only support paddle.io.IterableDataset")

    def __iter__(self):
        for dataset in self.datasets:
            yield from dataset


class Subset(Dataset):
    """The samples of ``dataset`` at ``indices``."""

    def __init__(self, dataset, indices) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx):
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """Data sets by index, one after another."""

    @staticmethod
    def cumsum(sequence) -> list:
        """Running sums of the lengths."""
        out, total = [], 0
        for item in sequence:
            total += len(item)
            out.append(total)
        return out

    def __init__(self, datasets) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


def random_split(dataset, lengths, generator=None) -> list:
    """Cuts ``dataset`` into random subsets.

    Args:
        lengths: sizes that add up to ``len(dataset)``, or fractions that add up to 1 (the remainder goes round).
        generator: an iterator of indices to take the order from; default: paddle's generator.

    Raises:
        ValueError: the lengths don't add up.
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = []
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
            sizes.append(math.floor(total * fraction))
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
        lengths = sizes
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    if generator is None:
        order = random_permutation(total)
    else:
        order = [next(generator) for _ in range(total)]
    ends = np.cumsum(np.asarray(lengths, dtype=np.int64)).tolist()
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, lengths)]
