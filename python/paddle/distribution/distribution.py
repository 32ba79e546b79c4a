"""What all distributions share."""

from __future__ import annotations

import numbers

import numpy as np

import paddle

__all__ = []


class Distribution:
    """A distribution over tensors.

    Args:
        batch_shape (sequence of int): how many distributions that are independent and have parameters of their own.
        event_shape (sequence of int): the shape of one event.
    """

    def __init__(self, batch_shape=(), event_shape=()):
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self):
        """The shape of the parameters, without that of an event."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one event."""
        return self._event_shape

    @property
    def mean(self):
        """The expectation, of shape batch_shape + event_shape."""
        raise NotImplementedError

    @property
    def variance(self):
        """The variance, of shape batch_shape + event_shape."""
        raise NotImplementedError

    def sample(self, shape=()):
        """Events, of shape `shape` + batch_shape + event_shape; no gradient flows back."""
        with paddle.no_grad():
            return self.rsample(shape)

    def rsample(self, shape=()):
        """Events through which gradients reach the parameters."""
        raise NotImplementedError

    def entropy(self):
        """The (differential) entropy in nats, of shape batch_shape."""
        raise NotImplementedError

    def kl_divergence(self, other):
        """The Kullback-Leibler divergence from this to `other`, in nats."""
        from .kl import kl_divergence

        return kl_divergence(self, other)

    def prob(self, value):
        """The density (or probability) of `value`."""
        return paddle.exp(self.log_prob(value))

    def log_prob(self, value):
        """The logarithm of the density (or probability) of `value`."""
        raise NotImplementedError

    def probs(self, value):
        """An older name of ``prob``."""
        return self.prob(value)

    def _extend_shape(self, sample_shape):
        """`sample_shape` + batch_shape + event_shape."""
        return tuple(sample_shape) + tuple(self.batch_shape) + tuple(self.event_shape)


def as_parameter(name, value, like=None):
    """A parameter as a tensor: tensors as they are, numbers and arrays in the default dtype (or that of `like`).

    Raises:
        TypeError: something else.
    """
    if isinstance(value, paddle.Tensor):
        return value
    if isinstance(value, np.ndarray) and value.dtype in (np.float32, np.float64):
        return paddle.to_tensor(value)
    if not isinstance(value, (numbers.Real, list, tuple, np.ndarray)):
        raise TypeError(f"Expected type of {name} is Number|Tensor|array, but got {type(value)}")
    dtype = paddle.get_default_dtype() if like is None else like.dtype
    return paddle.to_tensor(np.asarray(value), dtype=dtype)


def parameters(**given):
    """Several parameters as tensors of one dtype and one shape."""
    first = next((v for v in given.values() if isinstance(v, paddle.Tensor)), None)
    if first is None:  # numbers beside an array of floats take its dtype
        first = next((as_parameter(k, v) for k, v in given.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"), None)
    tensors = [as_parameter(k, v, first) for k, v in given.items()]
    return paddle.broadcast_tensors(tensors) if len(tensors) > 1 else tensors


def event(value, like, name="value"):
    """`value` as a tensor, in the dtype of `like`.

    Raises:
        TypeError: neither a tensor nor a number.
    """
    if isinstance(value, paddle.Tensor):
        return value if value.dtype == like.dtype else value.astype(like.dtype)
    if isinstance(value, (numbers.Real, np.ndarray)):
        return paddle.to_tensor(value, dtype=like.dtype)
    raise TypeError(f"Expected type of {name} is Number|Tensor, but got {type(value)}")


def sample_shape(shape):
    """A sample shape as a list.

    Raises:
        TypeError: not a sequence.
    """
    if isinstance(shape, (list, tuple)):
        return [int(s) for s in shape]
    raise TypeError("sample shape must be Sequence object.")
