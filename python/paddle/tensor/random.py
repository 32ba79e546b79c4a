"""Random tensors. All draw from the generator that ``paddle.seed`` sets."""

from __future__ import annotations

from ..base import core
from ..base.core import _C_ops
from ._common import Tensor, accepts, created, dtype_or_default, is_inexact, place_of, shape_args, sized, tensor_of


@sized
def rand(shape, dtype=None, name=None, *, out=None, device=None, requires_grad=False, pin_memory=False):
    """Uniform on [0, 1)."""
    result = _C_ops.uniform(shape_args(shape), dtype_or_default(dtype), 0.0, 1.0, 0, place_of(device))
    return created(result, out, requires_grad)


@sized
def randn(shape, dtype=None, name=None, *, out=None, device=None, requires_grad=False, pin_memory=False):
    """Normal with mean 0 and deviation 1; complex types have variance 1 over both parts."""
    shape, dtype, place = shape_args(shape), dtype_or_default(dtype), place_of(device)
    part = {"complex64": "float32", "complex128": "float64"}.get(str(dtype).rsplit(".", 1)[-1])
    if part:
        real, imag = (_C_ops.gaussian(shape, 0.0, 0.5**0.5, 0, part, place) for _ in range(2))
        return created(_C_ops.complex(real, imag), out, requires_grad)
    return created(_C_ops.gaussian(shape, 0.0, 1.0, 0, dtype, place), out, requires_grad)


standard_normal = randn


@accepts(x="input")
def randn_like(x, dtype=None, name=None, *, device=None, requires_grad=False):
    """``randn`` of the shape and (without `dtype`) element type of `x`."""
    return randn(x.shape, dtype=x.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)


@accepts(input="x")
def rand_like(input, name=None, *, dtype=None, device=None, requires_grad=False):
    """``rand`` of the shape and (without `dtype`) element type of `input`."""
    return rand(input.shape, dtype=input.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)


def normal(mean=0.0, std=1.0, shape=None, name=None, *, out=None):
    """Normal with `mean` and `std`; where one of them is a tensor the result has its shape, and `shape` is not read."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        like = mean if isinstance(mean, Tensor) else std
        sizes = (tensor_of(mean, like) + tensor_of(std, like)).shape
        result = _C_ops.gaussian(sizes, 0.0, 1.0, 0, like.dtype, None) * std + mean
        return created(result, out)
    shape = shape_args([1] if shape is None else shape)
    if isinstance(mean, complex):
        part = randn(shape, dtype="complex64" if dtype_or_default(None) != core.float64 else "complex128")
        return created(part * std + mean, out)
    return created(_C_ops.gaussian(shape, float(mean), float(std), 0, dtype_or_default(None), None), out)


def gaussian(shape, mean=0.0, std=1.0, seed=0, dtype=None, name=None):
    """Normal with `mean` and `std`."""
    return _C_ops.gaussian(shape_args(shape), float(mean), float(std), seed, dtype_or_default(dtype), None)


@accepts(shape="size")
def uniform(shape, dtype=None, min=0, max=1.0, seed=0, name=None, *, out=None, device=None, requires_grad=False):  # noqa: A002
    """Uniform on [min, max)."""
    dtype = dtype_or_default(dtype)
    result = _C_ops.uniform(shape_args(shape), dtype, min, max, seed, place_of(device))
    return created(result, out, requires_grad)


def uniform_random_batch_size_like(
    input, shape, dtype="float32", input_dim_idx=0, output_dim_idx=0, min=-1.0, max=1.0, seed=0  # noqa: A002
):
    """Uniform on [min, max), in `shape` but for the size at `output_dim_idx`, which is `input`'s at `input_dim_idx`."""
    sizes = list(shape)
    sizes[output_dim_idx] = input.shape[input_dim_idx]
    return uniform(sizes, dtype, min, max, seed)


def log_normal(mean=1.0, std=2.0, shape=None, name=None):
    """exp of a normal with `mean` and `std`."""
    return _C_ops.exp(normal(mean, std, shape))


@accepts(shape="size")
def randint(low=0, high=None, shape=[1], dtype=None, name=None, *, out=None, device=None, requires_grad=False,  # noqa: B006
            pin_memory=False):  # fmt: skip
    """Integers on [low, high); with one bound on [0, low).

    Raises:
        ValueError: the interval is empty.
    """
    if isinstance(high, (list, tuple)):  # randint(high, shape)
        low, high, shape = 0, low, high
    elif high is None:
        low, high = 0, low
    if low >= high:
        raise ValueError(f"randint's low must less then high, but received low = {low}, high = {high}")
    return created(_C_ops.randint(low, high, shape_args(shape), dtype or core.int64, place_of(device)), out,
                   requires_grad)  # fmt: skip


@accepts(x="input")
def randint_like(x, low=0, high=None, dtype=None, name=None):
    """``randint`` of the shape and (without `dtype`) element type of `x`."""
    dtype = x.dtype if dtype is None else dtype
    return _C_ops.cast(randint(low, high, x.shape, core.int64), dtype)


def randperm(n, dtype="int64", name=None, *, out=None, device=None, requires_grad=False, pin_memory=False):
    """0 ... n-1 in random order.

    Raises:
        ValueError: `n` is negative.
    """
    if n < 0:
        raise ValueError(f"[randperm] expected n of at least 0, got {n}")
    return created(_C_ops.randperm(n, dtype, place_of(device)), out, requires_grad)


@accepts(x="input")
def bernoulli(x, p=None, name=None):
    """1 with probability `x` (or `p`, in the shape of `x`), else 0."""
    if p is not None:
        x = _C_ops.full_like(x, p, x.dtype if is_inexact(x.dtype) else core.get_default_dtype(), None)
    return _C_ops.bernoulli(x)


def bernoulli_(x, p=0.5, name=None):
    """Writes 1 with probability `p`, else 0."""
    probs = p.broadcast_to(x.shape) if isinstance(p, Tensor) else _C_ops.full(x.shape, p, core.float32, None)
    return x._write_back(_C_ops.cast(_C_ops.bernoulli(probs), x.dtype))


def uniform_(x, min=0, max=1.0, seed=0, name=None):  # noqa: A002 - the public name
    """Writes uniform numbers on [min, max)."""
    return x._write_back(_C_ops.uniform(x.shape, x.dtype, min, max, seed, x.place))


def normal_(x, mean=0.0, std=1.0, name=None):
    """Writes normal numbers with `mean` and `std`."""
    return x._write_back(_C_ops.cast(normal(mean, std, x.shape), x.dtype))


def log_normal_(x, mean=1.0, std=2.0, name=None):
    """Writes exp of normal numbers with `mean` and `std`."""
    return x._write_back(_C_ops.cast(log_normal(mean, std, x.shape), x.dtype))


def exponential_(x, lam=1.0, name=None):
    """Writes exponential numbers with rate `lam`."""
    return _C_ops.exponential_(x, lam)


def cauchy_(x, loc=0, scale=1, name=None):
    """Writes Cauchy numbers."""
    u = _C_ops.uniform(x.shape, core.float64, 0.0, 1.0, 0, x.place)
    return x._write_back(_C_ops.cast(_C_ops.tan((u - 0.5) * 3.141592653589793) * scale + loc, x.dtype))


def geometric_(x, probs, name=None):
    """Writes numbers of trials up to the first success, each with probability `probs`."""
    u = _C_ops.uniform(x.shape, core.float64, 0.0, 1.0, 0, x.place)
    log_q = _C_ops.log1p(-probs.astype("float64")) if isinstance(probs, Tensor) else _log1p(-probs)
    return x._write_back(_C_ops.cast(_C_ops.log1p(-u) / log_q, x.dtype))


def _log1p(v):
    import math

    return math.log1p(v)


def random_(x, from_=0, to=None, *, generator=None):
    """Writes integers on [from_, to); without `to`, on [0, from_) or over the dtype's whole range."""
    if to is None and from_ != 0:
        from_, to = 0, from_
    if to is None:
        bits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "uint8": 8, "int8": 7, "int16": 15,
                "int32": 31}.get(str(x.dtype).rsplit(".", 1)[-1], 62)  # fmt: skip
        to = 2**bits
    return x._write_back(_C_ops.cast(_C_ops.randint(from_, to, x.shape, core.int64, x.place), x.dtype))


def multinomial(x, num_samples=1, replacement=False, name=None, *, out=None):
    """Indices drawn with the probabilities (or weights) `x` along its last axis."""
    return created(_C_ops.multinomial(x, num_samples, replacement), out)


def poisson(x, name=None):
    """Poisson numbers with the rates `x`."""
    return _C_ops.poisson(x)


def top_p_sampling(x, ps, threshold=None, topp_seed=None, seed=-1, k=0, mode="truncated", return_top=False, name=None):
    """One of the most probable categories whose probabilities sum to `ps` (Holtzman et al., 2020), drawn by them.

    Args:
        x (Tensor): [batch, n] probabilities. ps (Tensor): [batch] or [batch, 1].
        threshold (Tensor, optional): [batch, 1], categories below it are out.
        k (int): at most so many categories; 0 for all.
        return_top (bool): also the most probable categories, as (scores [batch, k], ids [batch, k]).

    Returns:
        (probability [batch, 1], category [batch, 1], int64).

    Raises:
        ValueError: another rank of `x`.
    """
    if x.ndim != 2:
        raise ValueError(f"[top_p_sampling] expected x of two dimensions, got {list(x.shape)}")
    n = x.shape[-1]
    scores, ids = _C_ops.topk(x, k if 0 < k < n else n, -1, True, True)
    before = _C_ops.cumsum(scores, -1, False, False, False) - scores
    kept = before < _C_ops.cast(_C_ops.reshape(ps, [-1, 1]), x.dtype)
    if threshold is not None:
        kept = _C_ops.logical_and(kept, scores >= _C_ops.reshape(threshold, [-1, 1]))
    first = _C_ops.arange(0, scores.shape[-1], 1, core.int64, None) == 0  # one is always left
    kept = _C_ops.logical_or(kept, first)
    weights = scores * _C_ops.cast(kept, x.dtype)
    if mode == "non-truncated":
        weights = _C_ops.where(kept, scores, scores * 1e-6)
    at = _C_ops.multinomial(weights, 1, True)
    chosen = _C_ops.take_along_axis(scores, at, 1), _C_ops.take_along_axis(ids, at, 1)
    return (*chosen, scores, ids) if return_top else chosen
