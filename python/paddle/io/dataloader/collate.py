"""From a list of samples to a batch."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence

import numpy as np

from ...base import core


def default_collate_fn(batch):
    """Stacks samples field by field: arrays and tensors along a new first axis, numbers to arrays, strings to lists,
    dicts and sequences field by field.

    Raises:
        RuntimeError: sequences of different lengths. TypeError: a field of another kind.
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return np.stack(batch, axis=0)
    if isinstance(sample, core.Tensor):
        import paddle

        return paddle.stack(batch, axis=0)
    if isinstance(sample, (numbers.Number, np.bool_)):
        return np.array(batch)
    if isinstance(sample, (str, bytes)):
        return batch
    if isinstance(sample, Mapping):
        return {key: default_collate_fn([d[key] for d in batch]) for key in sample}
    if isinstance(sample, Sequence):
        count = len(sample)
        if not all(len(other) == count for other in batch):
            raise RuntimeError("fields number not same among samples in a batch")
        return [default_collate_fn(fields) for fields in zip(*batch)]
    raise TypeError(f"batch data con only contains: tensor, numpy.ndarray, dict, list, number, but got {type(sample)}")


def default_convert_fn(batch):
    """What is done without batching: nothing but turning tuples into lists."""
    if isinstance(batch, (core.Tensor, np.ndarray, numbers.Number, str, bytes)):
        return batch
    if isinstance(batch, Mapping):
        return {key: default_convert_fn(value) for key, value in batch.items()}
    if isinstance(batch, Sequence):
        return [default_convert_fn(value) for value in batch]
    return batch


def to_tensors(batch):
    """A batch with its arrays as tensors (dtypes kept) and its tuples as lists."""
    if isinstance(batch, np.ndarray):
        if batch.dtype.kind in "biufc":
            return core.to_tensor(batch)
        return batch
    if isinstance(batch, Mapping):
        return {key: to_tensors(value) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [to_tensors(value) for value in batch]
    return batch
