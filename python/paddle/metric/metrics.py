"""Metrics that gather over batches."""

from __future__ import annotations

import abc

import numpy as np

from ..base import core


def _numpy(value):
    return value.numpy() if isinstance(value, core.Tensor) else np.asarray(value)


class Metric(abc.ABC):
    """Base class. For each batch ``update(*compute(pred, label))``; ``accumulate`` gives the value so far."""

    def __init__(self) -> None:
        pass

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets all batches."""

    @abc.abstractmethod
    def update(self, *args):
        """Takes a batch's outcome (of ``compute``)."""

    @abc.abstractmethod
    def accumulate(self):
        """The value over all batches."""

    @abc.abstractmethod
    def name(self):
        """The metric's name, or names where it has several values."""

    def compute(self, *args):
        """What of a batch ``update`` needs, computed with tensors; by default its arguments."""
        return args


class Accuracy(Metric):
    """The share of samples whose label is among the k best scores, for each k in ``topk``."""

    def __init__(self, topk=(1,), name: str | None = None, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.topk, self.maxk = topk, max(topk)
        base = name or "acc"
        self._name = [f"{base}_top{k}" for k in topk] if self.maxk != 1 else [base]
        self.reset()

    def compute(self, pred, label, *args):
        """float32 ``[N..., maxk]``: 1 where that guess is right.

        Args:
            pred: scores ``[N..., classes]``. label: indices ``[N..., 1]`` or ``[N...]``, or one-hot ``[N...,
                classes]``.
        """
        import paddle

        guesses = paddle.topk(pred, self.maxk, axis=-1)[1] if pred.shape[-1] >= self.maxk else pred.argsort(-1, True)
        if len(label.shape) == 1 or (len(label.shape) == 2 and label.shape[-1] == 1):
            label = label.reshape([-1, 1])
        elif label.shape[-1] != 1:
            label = label.argmax(axis=-1, keepdim=True)
        return (guesses == label.astype(guesses.dtype)).astype("float32")

    def update(self, correct, *args):
        """Takes what ``compute`` gave; returns the batch's accuracies (a number where there is one)."""
        correct = _numpy(correct)
        samples = np.prod(np.array(correct.shape[:-1]))  # a NumPy integer: shares are NumPy's floats, in NumPy's format
        accuracies = []
        for i, k in enumerate(self.topk):
            hits = float(correct[..., :k].sum())
            accuracies.append(hits / samples if samples else 0.0)
            self.total[i] += hits
            self.count[i] += samples
        return accuracies[0] if len(self.topk) == 1 else accuracies

    def reset(self) -> None:
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self):
        values = [t / c if c > 0 else 0.0 for t, c in zip(self.total, self.count)]
        return values[0] if len(self.topk) == 1 else values

    def name(self) -> list:
        return self._name


def _binary(preds, labels):
    guesses = np.floor(_numpy(preds).reshape(-1) + 0.5).astype("int32")
    return guesses == 1, _numpy(labels).reshape(-1).astype("int32") == 1


class _Share(Metric):
    """The share of true positives in true positives and those that a subclass counts beside them (`_missed`) as its `_other`."""

    def __init__(self, name: str, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self._name = name
        self.reset()

    def accumulate(self) -> float:
        count = self.tp + getattr(self, self._other)
        return float(self.tp) / count if count else 0.0

    def reset(self) -> None:
        self.tp = 0
        setattr(self, self._other, 0)

    def update(self, preds, labels) -> None:
        """Scores in [0, 1] and labels 0 or 1, ``[N]`` or ``[N, 1]``."""
        guessed, true = _binary(preds, labels)
        self.tp += int((guessed & true).sum())
        setattr(self, self._other, getattr(self, self._other) + int(self._missed(guessed, true).sum()))

    def name(self) -> str:
        return self._name


class Precision(_Share):
    """Of what was called positive (a score of at least 0.5), the share that is."""

    _other = "fp"

    def __init__(self, name: str = "precision", *args, **kwargs) -> None:
        super().__init__(name, *args, **kwargs)

    @staticmethod
    def _missed(guessed, true):
        return guessed & ~true


class Recall(_Share):
    """Of what is positive, the share that was called so (a score of at least 0.5)."""

    _other = "fn"

    def __init__(self, name: str = "recall", *args, **kwargs) -> None:
        super().__init__(name, *args, **kwargs)

    @staticmethod
    def _missed(guessed, true):
        return ~guessed & true


class Auc(Metric):
    """Area under the ROC curve, from counts in ``num_thresholds`` + 1 bins of the score."""

    def __init__(self, curve="ROC", num_thresholds: int = 4095, name: str = "auc", *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self._curve, self._num_thresholds, self._name = curve, num_thresholds, name
        self.reset()

    def update(self, preds, labels) -> None:
        """Scores ``[N, 2]`` (the second column that of class 1) and labels ``[N]`` or ``[N, 1]``."""
        scores, labels = _numpy(preds), _numpy(labels).reshape(-1)
        scores = scores[:, 1] if scores.ndim == 2 and scores.shape[1] > 1 else scores.reshape(-1)
        bins = (scores * self._num_thresholds).astype("int64")
        if bins.size and (bins.min() < 0 or bins.max() > self._num_thresholds):
            raise AssertionError("[Auc] scores must be in [0, 1]")
        positive = labels.astype(bool)
        self._stat_pos += np.bincount(bins[positive], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(bins[~positive], minlength=self._num_thresholds + 1)

    @staticmethod
    def trapezoid_area(x1: float, x2: float, y1: float, y2: float) -> float:
        """The area under the line from (x1, y1) to (x2, y2)."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> float:
        # From the highest score down: how many of each class are above.
        pos = np.concatenate([[0.0], np.cumsum(self._stat_pos[::-1])])
        neg = np.concatenate([[0.0], np.cumsum(self._stat_neg[::-1])])
        if pos[-1] == 0.0 or neg[-1] == 0.0:
            return 0.0
        area = float((np.diff(neg) * (pos[1:] + pos[:-1]) / 2.0).sum())
        return area / pos[-1] / neg[-1]

    def reset(self) -> None:
        self._stat_pos = np.zeros(self._num_thresholds + 1)
        self._stat_neg = np.zeros(self._num_thresholds + 1)

    def name(self) -> str:
        return self._name


def accuracy(input, label, k: int = 1, correct=None, total=None, name: str | None = None):
    """The share of rows of ``input`` ``[N, classes]`` whose label ``[N, 1]`` is among the k best scores, a float32
    number.

    ``correct`` and ``total`` (int32 or int64 tensors) take the counts where given.
    """
    import paddle

    if label.dtype == core.int32:
        label = label.astype("int64")
    guesses = paddle.topk(input, k)[1]
    hits = (guesses == label.reshape([-1, 1])).astype("int32").sum()
    rows = input.shape[0]
    if correct is not None:
        correct.copy_(hits.reshape(correct.shape).astype(correct.dtype), False)
    if total is not None:
        total.copy_(paddle.full(total.shape, rows, total.dtype), False)
    return hits.astype("float32") / float(rows)
