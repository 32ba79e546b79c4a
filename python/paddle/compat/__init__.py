"""Functions with the signatures and results of PyTorch, and a stand-in for ``import torch``."""

from __future__ import annotations

from collections import namedtuple

import paddle

from ..base.core import _C_ops
from ..tensor._common import Tensor, finish
from . import nn
from .proxy import disable_torch_proxy, enable_torch_proxy, use_torch_proxy_guard

__all__ = [
    "disable_torch_proxy", "enable_torch_proxy", "equal", "max", "median", "min", "nanmedian", "nn", "seed", "slogdet",
    "sort", "split", "unique", "use_torch_proxy_guard",
]  # fmt: skip

MinMaxRetType = namedtuple("MinMaxRetType", ["values", "indices"])
MedianRetType = namedtuple("MedianRetType", ["values", "indices"])
SortRetType = namedtuple("SortRetType", ["values", "indices"])
SlogdetResult = namedtuple("SlogdetResult", ["sign", "logabsdet"])

enable_compat, disable_compat = enable_torch_proxy, disable_torch_proxy


def equal(input, other):
    """Whether two tensors have the same shape and elements, as a bool."""
    return bool(paddle.equal_all(input, other))


def seed():
    """Seeds the generators with a number that can't be foretold, and returns it."""
    import secrets

    value = secrets.randbits(63)
    paddle.seed(value)
    return value


def slogdet(x, out=None):
    """(sign, logarithm of the absolute value) of the determinant."""
    both = paddle.linalg.slogdet(x)
    return SlogdetResult(*finish((both[0], both[1]), out))


def _extreme(name, pick, reduce, elementwise):
    def form(input, *args, out=None, **kwargs):
        other = kwargs.pop("other", None)
        dim = kwargs.pop("dim", kwargs.pop("axis", None))
        keepdim = kwargs.pop("keepdim", None)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(kwargs))!r}")
        args = list(args)
        if args and isinstance(args[0], Tensor):
            other = args.pop(0)
        elif args:
            dim = args.pop(0)
            keepdim = args.pop(0) if args else keepdim
        if other is not None:
            return finish(elementwise(input, other), out)
        if dim is None:
            return finish(reduce(input), out)
        if input.ndim == 0:
            return MinMaxRetType(*finish((input.clone(), paddle.zeros([], "int64")), out))
        index = pick(input, axis=dim, keepdim=True)
        values = paddle.take_along_axis(input, index, dim, broadcast=False)
        if not keepdim:
            index, values = paddle.squeeze(index, dim), paddle.squeeze(values, dim)
        return MinMaxRetType(*finish((values, index), out))

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"""{name}(input): of all elements. {name}(input, dim, keepdim=False): (values, indices) along an axis.
    {name}(input, other): elementwise.
    """
    return form


max = _extreme("max", paddle.argmax, paddle.max, paddle.maximum)  # noqa: A001 - the public name
min = _extreme("min", paddle.argmin, paddle.min, paddle.minimum)  # noqa: A001 - the public name


def _middle(input, dim, keepdim, out, ignore_nan):
    """The lower of the middle elements; NaN where one is among them, unless they are ignored."""
    whole = dim is None
    x = paddle.flatten(input) if whole else input
    dim = 0 if whole else dim
    nan = paddle.isnan(x) if paddle.is_floating_point(x) else paddle.zeros_like(x, dtype="bool")
    order = paddle.argsort(x, axis=dim, stable=True)  # NaN last
    count = paddle.full_like(paddle.sum(nan.astype("int64"), axis=dim, keepdim=True), x.shape[dim])
    if ignore_nan:
        count = count - paddle.sum(nan.astype("int64"), axis=dim, keepdim=True)
    at = ((count - 1) // 2).clip(min=0)
    index = paddle.take_along_axis(order, at, dim, broadcast=False)
    if not ignore_nan:
        first_nan = paddle.argmax(nan.astype("int32"), axis=dim, keepdim=True)
        index = paddle.where(paddle.any(nan, axis=dim, keepdim=True), first_nan, index)
    values = paddle.take_along_axis(x, index, dim, broadcast=False)
    if whole:
        return finish(values.reshape([1] * input.ndim if keepdim else []), out)
    if not keepdim:
        values, index = paddle.squeeze(values, dim), paddle.squeeze(index, dim)
    return MedianRetType(*finish((values, index), out))


def median(input, dim=None, keepdim=False, *, out=None):
    """The lower median: of all elements, or (values, indices) along an axis."""
    return _middle(input, dim, keepdim, out, False)


def nanmedian(input, dim=None, keepdim=False, *, out=None):
    """``median`` of the elements that are not NaN."""
    return _middle(input, dim, keepdim, out, True)


def sort(input, dim=-1, descending=False, stable=False, out=None):
    """(values, indices) in order along an axis."""
    values, indices = _C_ops.argsort(input, dim, descending, True)
    return SortRetType(*finish((values, indices), out))


def split(tensor, split_size_or_sections, dim=0):
    """Parts of a size (the last may be smaller), or of given sizes.

    Raises:
        ValueError: the sizes don't sum to that of the axis. TypeError: neither an int nor a list.
    """
    n = tensor.shape[dim]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size <= 0:
            raise ValueError(f"[split] expected a size above 0, got {size}")
        sizes = [size] * (n // size) + ([n % size] if n % size else [])
    elif isinstance(split_size_or_sections, (list, tuple)):
        sizes = [int(s) for s in split_size_or_sections]
        if sum(sizes) != n or any(s < 0 for s in sizes):
            raise ValueError(f"[split] expected sizes that sum to {n}, got {sizes}")
    else:
        raise TypeError(f"[split] expected an int or a list, got {type(split_size_or_sections).__name__}")
    return tuple(paddle.split(tensor, sizes, axis=dim)) if len(sizes) > 1 else (tensor,)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):  # noqa: A002
    """The different elements in order; the inverse has the shape of `input`."""
    found = paddle.unique(input, return_inverse=return_inverse, return_counts=return_counts, axis=dim)
    if not isinstance(found, (list, tuple)):
        return found
    found = list(found)
    if return_inverse and dim is None:
        found[1] = found[1].reshape(input.shape)
    return tuple(found)
