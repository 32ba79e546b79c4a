"""Samplers: in what order indices are taken."""

from __future__ import annotations

import numpy as np


def random_permutation(n) -> list:
    """0 ... n - 1 in an order drawn from paddle's generator, so that ``paddle.seed`` fixes it."""
    import paddle

    draw = getattr(paddle, "randperm", None)
    return (np.random.permutation(n) if draw is None else draw(n).numpy()).tolist()


class Sampler:
    """Base class: define ``__iter__`` (indices) and ``__len__``."""

    def __init__(self, data_source=None) -> None:
        self.data_source = data_source

    def __iter__(self):
        raise NotImplementedError

    def __class_getitem__(cls, item):
        return cls


class SequenceSampler(Sampler):
    """0, 1, 2, ..."""

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)

    def __init__(self, data_source) -> None:
        super().__init__(data_source)


class RandomSampler(Sampler):
    """A random order, from NumPy's global generator or from ``generator`` (an iterator of indices).

    ``num_samples`` (default: all) are drawn, again and again the same ones possible with ``replacement``.
    """

    def __init__(self, data_source, replacement: bool = False, num_samples: int | None = None, generator=None) -> None:
        super().__init__(data_source)
        self.replacement, self._num_samples, self.generator = replacement, num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"expect boolean value for replacement, but got replacement={replacement}")
        if not replacement and generator is None and self.num_samples > len(data_source):
            raise ValueError(
                "num_samples should be smaller than or equal to length of data_source when replacement is False"
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer, but got num_samples = {self.num_samples}")

    @property
    def num_samples(self) -> int:
        """How many indices a pass has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n = len(self.data_source)
        if self.generator is not None:
            for _ in range(self.num_samples):
                try:
                    index = next(self.generator)
                except StopIteration:
                    return
                yield index
        elif self.replacement:
            yield from np.random.choice(np.arange(n), self.num_samples, replace=True).tolist()
        else:
            yield from np.random.choice(np.arange(n), n, replace=False)[: self.num_samples].tolist()

    def __len__(self) -> int:
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """``num_samples`` indices with probabilities proportional to ``weights`` (a list, array or tensor, none
    negative)."""

    def __init__(self, weights, num_samples: int, replacement: bool = True) -> None:
        if not isinstance(num_samples, int) or num_samples <= 0:
            raise ValueError("num_samples should be a positive integer")
        if not isinstance(replacement, bool):
            raise ValueError("replacement should be a boolean value")
        super().__init__()
        self.weights = np.asarray(weights.numpy() if hasattr(weights, "numpy") else weights, dtype=np.float64)
        if self.weights.ndim > 2 or self.weights.ndim == 0:
            raise ValueError("weights should be a 1-D or 2-D array")
        if (self.weights < 0).any():
            raise ValueError("weights should be positive value")
        if not replacement and ((self.weights > 0).sum(-1) < num_samples).any():
            raise ValueError(
                "num_samples should be less than or equal to the number of positive weights when replacement is False"
            )
        self.num_samples, self.replacement = num_samples, replacement

    def _draw(self, weights):
        share = weights / weights.sum()
        return np.random.choice(len(weights), self.num_samples, replace=self.replacement, p=share).tolist()

    def __iter__(self):
        if self.weights.ndim == 1:
            return iter(self._draw(self.weights))
        return iter([self._draw(row) for row in self.weights])

    def __len__(self) -> int:
        return self.num_samples if self.weights.ndim == 1 else len(self.weights)


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices) -> None:
        if len(indices) == 0:
            raise ValueError("The length of `indices` in SubsetRandomSampler should be greater than 0.")
        super().__init__()
        self.indices = indices

    def __iter__(self):
        for i in random_permutation(len(self.indices)):
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)
