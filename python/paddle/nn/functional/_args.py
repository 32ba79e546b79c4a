"""Forms in which callers give sizes, paddings and data formats."""

from __future__ import annotations

import functools

import paddle

from ...tensor._common import sizes_agree


def as_list(value, n, name, op):
    """An int or a sequence of n (or one) ints as a list of n; ValueError for another length."""
    if isinstance(value, paddle.Tensor):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        value = list(value)
        if len(value) == 1:
            value = value * n
        if len(value) != n:
            raise ValueError(f"[{op}] expected {name} with {n} elements, got {value}")
        return value
    return [value] * n


def channels_last(data_format, n, op):
    """Whether a format such as "NHWC" has the channels last; ValueError unless it is one of n spatial dimensions."""
    first, last = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}[n]
    if data_format == first or (n == 1 and data_format == "NCW"):
        return False
    if data_format == last or (n == 1 and data_format == "NWC"):
        return True
    raise ValueError(f"[{op}] Attr(data_format) should be '{first}' or '{last}', got {data_format!r}")


def padding_of(padding, n, last, op):
    """Normalises a padding to (list of ints, algorithm).

    Forms: "SAME", "VALID", an int, n ints, 2n ints (before and after of each spatial dimension), n pairs, or n + 2
    pairs (those of batch and channel must be zero).
    """
    if isinstance(padding, str):
        algorithm = padding.upper()
        if algorithm not in ("SAME", "VALID"):
            raise ValueError(f"[{op}] Unknown padding: '{padding}'. It can only be 'SAME' or 'VALID'.")
        return [0] * n, algorithm
    if isinstance(padding, paddle.Tensor):
        padding = padding.tolist()
    if isinstance(padding, (list, tuple)):
        padding = list(padding)
        if padding and isinstance(padding[0], (list, tuple)):
            if len(padding) == n + 2:
                spatial = padding[1:-1] if last else padding[2:]
                rest = [padding[0], padding[-1] if last else padding[1]]
                if any(p != 0 for pair in rest for p in pair):
                    raise ValueError(
                        f"[{op}] Non-zero padding({padding}) in the batch or channel dimensions is not supported."
                    )
                padding = spatial
            if len(padding) != n:
                raise ValueError(f"[{op}] expected padding with {n} or {n + 2} pairs, got {padding}")
            padding = [p for pair in padding for p in pair]
        if len(padding) == 2 * n and n > 0:
            if all(padding[2 * i] == padding[2 * i + 1] for i in range(n)):
                padding = padding[::2]
            return padding, "EXPLICIT"
        if len(padding) == 1:
            padding = padding * n
        if len(padding) != n:
            raise ValueError(f"[{op}] expected padding with {n} or {2 * n} elements, got {padding}")
        return padding, "EXPLICIT"
    return [padding] * n, "EXPLICIT"


def names_errors(function):
    """Decorator of a function made of operators: errors of theirs that arguments cause name the function that was called."""
    name = function.__name__

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError, IndexError) as error:
            error.args = (_named(name, error), *error.args[1:])
            raise

    return call


def _named(name, error):
    text = str(error)
    operator, closes, rest = text.partition("]")
    if operator.startswith("[") and closes:
        return f"[{name}]{rest}"
    return f"[{name}] {text}" if isinstance(error, TypeError) and name not in text else text


def check_rank(op, name, x, rank):
    """ValueError unless `x` has so many axes."""
    if len(x.shape) != rank:
        raise ValueError(f"[{op}] expected {name} with {rank} axes, got shape {list(x.shape)}")


def check_spatial_rank(x, n, op):
    """ValueError unless `x` is a batch of `n`-dimensional images with channels."""
    if len(x.shape) != n + 2:
        raise ValueError(f"[{op}] expected x with {n + 2} dimensions, got shape {list(x.shape)}")


def check_class_weights(op, weight, classes):
    """ValueError unless there is one weight for each class."""
    if not sizes_agree(weight.shape[-1], classes):
        raise ValueError(f"[{op}] expected weight with one element for each of {classes} classes, got {weight.shape[-1]}")


def check_reduction(op, reduction):
    """ValueError unless `reduction` is 'sum', 'mean' or 'none'."""
    if reduction not in ("sum", "mean", "none"):
        raise ValueError(
            f"The value of 'reduction' in {op} should be 'sum', 'mean' or 'none', but received {reduction}, "
            "which is not allowed."
        )


def reduce(value, reduction):
    """Applies a reduction that `check_reduction` has passed."""
    if reduction == "mean":
        return paddle.mean(value)
    if reduction == "sum":
        return paddle.sum(value)
    return value
