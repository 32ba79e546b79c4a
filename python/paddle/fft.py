"""Discrete Fourier transforms, along one axis, two, or several.

``norm`` says which direction is divided by the number of elements: ``"backward"`` (the inverse), ``"forward"``, or both
by its square root (``"ortho"``). All transforms raise ValueError for an unknown ``norm``, for sizes below 1 and for
axes that don't exist or are named twice.
"""

from __future__ import annotations

from .base import core
from .base.core import _C_ops
from .tensor._common import accepts, axis_in, created, dtype_or_default, is_inexact, place_of

__all__ = [
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2",
    "fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fftfreq", "rfftfreq", "fftshift", "ifftshift",
]  # fmt: skip

_COMPLEX_OF = {core.float32: core.dtype_objects["complex64"], core.float64: core.dtype_objects["complex128"]}


def _is_complex(x):
    return x.dtype in _COMPLEX_OF.values()


def _floating(x):
    """Integers, booleans and 16-bit floats in a type that transforms work in."""
    if x.dtype in _COMPLEX_OF or _is_complex(x):
        return x
    return _C_ops.cast(x, core.float32 if is_inexact(x.dtype) else core.get_default_dtype())


def _spectrum(x):
    """`x` as complex numbers."""
    x = _floating(x)
    return x if _is_complex(x) else _C_ops.cast(x, _COMPLEX_OF[x.dtype])


def _check_norm(norm):
    if norm not in ("forward", "backward", "ortho"):
        raise ValueError(f"Unexpected norm: {norm}. Norm should be forward, backward or ortho")


def _check_axes(x, axes):
    """The axes counted from the front."""
    rank = x.ndim
    for a in axes:
        if not isinstance(a, int) or not -rank <= a < rank:
            raise ValueError(f"FFT axis {a} is out of range for a tensor of {rank} dimensions")
    out = [a + rank if a < 0 else a for a in axes]
    if len(set(out)) != len(out):
        raise ValueError("FFT axes must be unique.")
    return out


def _sized_axes(x, s, axes):
    """(sizes or None, axes) from what callers give for both."""
    if s is not None:
        s = [s] if isinstance(s, int) else [int(v) for v in s]
        for v in s:
            if v <= 0:
                raise ValueError(f"FFT sequence size {s} contains invalid value, only positive integers are allowed")
    if axes is None:
        axes = list(range(x.ndim)) if s is None else list(range(x.ndim - len(s), x.ndim))
        if s is not None and len(s) > x.ndim:
            raise ValueError(f"Length of FFT argument s should not be larger than the rank {x.ndim}, got {len(s)}")
    axes = _check_axes(x, [axes] if isinstance(axes, int) else list(axes))
    if s is not None and len(s) != len(axes):
        raise ValueError(f"Length of s ({len(s)}) and length of axes ({len(axes)}) does not match.")
    return s, axes


def _resized(x, sizes, axes):
    """Cut or filled with zeros at the end of each axis."""
    for n, axis in zip(sizes, axes):
        have = x.shape[axis]
        if have > n:
            x = _C_ops.slice(x, [axis], [0], [n], [], [])
        elif have < n:
            shape = list(x.shape)
            shape[axis] = n - have
            x = _C_ops.concat([x, _C_ops.full(shape, 0, x.dtype, None)], axis)
    return x


def _transform(x, s, axes, norm, forward):
    """Complex to complex; real numbers are taken by the cheaper way."""
    _check_norm(norm)
    s, axes = _sized_axes(x, s, axes)
    x = _floating(x)
    if s is not None:
        x = _resized(x, s, axes)
    if _is_complex(x):
        return _C_ops.fft_c2c(x, axes, norm, forward)
    return _C_ops.fft_r2c(x, axes, norm, forward, False)


def _from_real(x, s, axes, norm, forward):
    _check_norm(norm)
    s, axes = _sized_axes(x, s, axes)
    x = _floating(x)
    if _is_complex(x):
        raise core.ArgumentError(f"[rfft] expected real numbers, got {x.dtype}")
    if s is not None:
        x = _resized(x, s, axes)
    return _C_ops.fft_r2c(x, axes, norm, forward, True)


def _to_real(x, s, axes, norm, forward):
    _check_norm(norm)
    s, axes = _sized_axes(x, s, axes)
    x = _spectrum(x)
    last = 2 * (x.shape[axes[-1]] - 1) if s is None else s[-1]
    if s is not None:
        x = _resized(x, [*s[:-1], s[-1] // 2 + 1], axes)
    return _C_ops.fft_c2r(x, axes, norm, forward, last)


def _one(n, axis):
    if n is not None and not isinstance(n, int):
        n = int(n)
    return (None if n is None else [n]), [axis]


def _two(x, s, axes):
    if s is not None and (not isinstance(s, (list, tuple)) or len(s) != 2):
        raise ValueError(f"Invalid FFT argument s ({s}), it should be a sequence of 2 integers.")
    if axes is not None and (not isinstance(axes, (list, tuple)) or len(axes) != 2):
        raise ValueError(f"Invalid FFT argument axes ({axes}), it should be a sequence of 2 integers.")
    return s, (-2, -1) if axes is None else axes


@accepts(x="input", axis="dim")
def fft(x, n=None, axis=-1, norm="backward", name=None, *, out=None):
    """X_k = sum_j x_j exp(-2 pi i j k / n), `x` cut or filled with zeros to `n` elements along `axis`.

    Args:
        x (Tensor): real or complex, of any size.

    Returns:
        Tensor: complex64 or complex128.
    """
    return created(_transform(x, *_one(n, axis), norm, True), out)


@accepts(x="input", axis="dim")
def ifft(x, n=None, axis=-1, norm="backward", name=None, *, out=None):
    """The inverse of ``fft``."""
    return created(_transform(x, *_one(n, axis), norm, False), out)


@accepts(x="input", axis="dim")
def rfft(x, n=None, axis=-1, norm="backward", name=None, *, out=None):
    """``fft`` of real numbers: its n // 2 + 1 frequencies that are not negative."""
    return created(_from_real(x, *_one(n, axis), norm, True), out)


@accepts(x="input", axis="dim")
def irfft(x, n=None, axis=-1, norm="backward", name=None, *, out=None):
    """The inverse of ``rfft``: `n` real numbers, 2 (m - 1) of m frequencies by default."""
    return created(_to_real(x, *_one(n, axis), norm, False), out)


@accepts(x="input", axis="dim")
def hfft(x, n=None, axis=-1, norm="backward", name=None, *, out=None):
    """``fft`` of a signal that is Hermitian, of which `x` is the first half: real numbers."""
    return created(_to_real(x, *_one(n, axis), norm, True), out)


@accepts(x="input", axis="dim")
def ihfft(x, n=None, axis=-1, norm="backward", name=None, *, out=None):
    """The inverse of ``hfft``."""
    return created(_from_real(x, *_one(n, axis), norm, False), out)


@accepts(x="input", axes="dim")
def fftn(x, s=None, axes=None, norm="backward", name=None, *, out=None):
    """``fft`` along each of `axes` (all, or the last len(s)), to the sizes `s`."""
    return created(_transform(x, s, axes, norm, True), out)


@accepts(x="input", axes="dim")
def ifftn(x, s=None, axes=None, norm="backward", name=None, *, out=None):
    """The inverse of ``fftn``."""
    return created(_transform(x, s, axes, norm, False), out)


@accepts(x="input", axes="dim")
def rfftn(x, s=None, axes=None, norm="backward", name=None, *, out=None):
    """``fftn`` of real numbers: the frequencies of the last axis that are not negative."""
    return created(_from_real(x, s, axes, norm, True), out)


@accepts(x="input", axes="dim")
def irfftn(x, s=None, axes=None, norm="backward", name=None, *, out=None):
    """The inverse of ``rfftn``."""
    return created(_to_real(x, s, axes, norm, False), out)


@accepts(x="input", axes="dim")
def hfftn(x, s=None, axes=None, norm="backward", name=None, *, out=None):
    """``hfft`` along the last of `axes`, ``fft`` along the others."""
    return created(_to_real(x, s, axes, norm, True), out)


@accepts(x="input", axes="dim")
def ihfftn(x, s=None, axes=None, norm="backward", name=None, *, out=None):
    """The inverse of ``hfftn``."""
    return created(_from_real(x, s, axes, norm, False), out)


@accepts(x="input", axes="dim")
def fft2(x, s=None, axes=(-2, -1), norm="backward", name=None, *, out=None):
    """``fftn`` along two axes."""
    return created(_transform(x, *_two(x, s, axes), norm, True), out)


@accepts(x="input", axes="dim")
def ifft2(x, s=None, axes=(-2, -1), norm="backward", name=None, *, out=None):
    """``ifftn`` along two axes."""
    return created(_transform(x, *_two(x, s, axes), norm, False), out)


@accepts(x="input", axes="dim")
def rfft2(x, s=None, axes=(-2, -1), norm="backward", name=None, *, out=None):
    """``rfftn`` along two axes."""
    return created(_from_real(x, *_two(x, s, axes), norm, True), out)


@accepts(x="input", axes="dim")
def irfft2(x, s=None, axes=(-2, -1), norm="backward", name=None, *, out=None):
    """``irfftn`` along two axes."""
    return created(_to_real(x, *_two(x, s, axes), norm, False), out)


@accepts(x="input", axes="dim")
def hfft2(x, s=None, axes=(-2, -1), norm="backward", name=None, *, out=None):
    """``hfftn`` along two axes."""
    return created(_to_real(x, *_two(x, s, axes), norm, True), out)


@accepts(x="input", axes="dim")
def ihfft2(x, s=None, axes=(-2, -1), norm="backward", name=None, *, out=None):
    """``ihfftn`` along two axes."""
    return created(_from_real(x, *_two(x, s, axes), norm, False), out)


def _frequencies(parts, n, d, dtype, device):
    dtype = dtype_or_default(dtype)
    counts = [_C_ops.arange(a, b, 1, core.int64, place_of(device)) for a, b in parts]
    index = counts[0] if len(counts) == 1 else _C_ops.concat(counts, 0)
    return _C_ops.cast(index, dtype) * (1.0 / (n * d))


def fftfreq(n, d=1.0, dtype=None, name=None, *, out=None, device=None, requires_grad=False):
    """The frequencies of ``fft``'s elements, 0, 1 ... -2, -1 over (n d), for samples `d` apart."""
    return created(_frequencies([(0, (n + 1) // 2), (-(n // 2), 0)], n, d, dtype, device), out, requires_grad)


def rfftfreq(n, d=1.0, dtype=None, name=None, *, out=None, device=None, requires_grad=False):
    """The frequencies of ``rfft``'s elements, 0, 1 ... n // 2 over (n d)."""
    return created(_frequencies([(0, n // 2 + 1)], n, d, dtype, device), out, requires_grad)


def _shifted(x, axes, by):
    if axes is None:
        axes = list(range(x.ndim))
    axes = [axis_in(a, x.ndim, "fftshift") for a in ([axes] if isinstance(axes, int) else axes)]
    return _C_ops.roll(x, [by(x.shape[a]) for a in axes], axes)


@accepts(x="input", axes="dim")
def fftshift(x, axes=None, name=None):
    """The frequency 0 moved to the middle of each of `axes` (all by default)."""
    return _shifted(x, axes, lambda n: n // 2)


@accepts(x="input", axes="dim")
def ifftshift(x, axes=None, name=None):
    """The inverse of ``fftshift``."""
    return _shifted(x, axes, lambda n: -(n // 2))
