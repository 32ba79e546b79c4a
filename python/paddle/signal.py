"""Short-time Fourier transforms, and signals cut into frames and put together again."""

from __future__ import annotations

from .base import core
from .base.core import _C_ops
from .tensor._common import Tensor, accepts

__all__ = ["stft", "istft", "frame", "overlap_add"]

_COMPLEX = {core.dtype_objects[n] for n in ("complex64", "complex128")}


@accepts(x="input")
def frame(x, frame_length, hop_length, axis=-1, name=None):
    """Windows of `frame_length` elements, every `hop_length`.

    Args:
        x (Tensor): [..., n] for axis -1, [n, ...] for axis 0.

    Returns:
        Tensor [..., frame_length, frames], or [frames, frame_length, ...].

    Raises:
        ValueError: another axis, a frame longer than `x`, or a hop below 1.
    """
    if axis not in (0, -1):
        raise ValueError(f"Unexpected axis: {axis}. It should be 0 or -1.")
    if not isinstance(frame_length, int) or frame_length <= 0:
        raise ValueError(f"Unexpected frame_length: {frame_length}. It should be an positive integer.")
    if not isinstance(hop_length, int) or hop_length <= 0:
        raise ValueError(f"Unexpected hop_length: {hop_length}. It should be an positive integer.")
    if frame_length > x.shape[axis]:
        raise ValueError(f"Attribute frame_length should be less equal than sequence length, but got "
                         f"({frame_length}) > ({x.shape[axis]}).")  # fmt: skip
    return _C_ops.frame(x, frame_length, hop_length, axis)


def overlap_add(x, hop_length, axis=-1, name=None):
    """Frames added up where they overlap: the transpose of ``frame``.

    Args:
        x (Tensor): [..., frame_length, frames] for axis -1, [frames, frame_length, ...] for axis 0.

    Returns:
        Tensor [..., n] or [n, ...], n = (frames - 1) * hop_length + frame_length.

    Raises:
        ValueError: another axis, fewer than two dimensions, or a hop below 1.
    """
    if axis not in (0, -1):
        raise ValueError(f"Unexpected axis: {axis}. It should be 0 or -1.")
    if not isinstance(hop_length, int) or hop_length <= 0:
        raise ValueError(f"Unexpected hop_length: {hop_length}. It should be an positive integer.")
    return _C_ops.overlap_add(x, hop_length, axis)


def _padded_window(window, win_length, n_fft, like):
    """The window in the middle of n_fft elements; ones without a window."""
    if window is None:
        window = _C_ops.full([win_length], 1, like, None)
    elif window.ndim != 1 or window.shape[0] != win_length:
        raise ValueError(
            f"expected a 1D window tensor of size equal to win_length({win_length}), but got window with shape "
            f"{list(window.shape)}."
        )
    missing = n_fft - win_length
    if missing == 0:
        return window
    left = missing // 2
    parts = [_C_ops.full([left], 0, window.dtype, None), window,
             _C_ops.full([missing - left], 0, window.dtype, None)]  # fmt: skip
    return _C_ops.concat(parts, 0)


def _lengths(n_fft, hop_length, win_length):
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if hop_length <= 0:
        raise ValueError(f"hop_length should be > 0, but got {hop_length}.")
    if not 0 < win_length <= n_fft:
        raise ValueError(f"win_length should be in (0, n_fft({n_fft})], but got {win_length}.")
    return hop_length, win_length


@accepts(x="input")
def stft(
    x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
    onesided=True, name=None,
):  # fmt: skip
    """The Fourier transforms of the windowed frames of signals.

    Args:
        x (Tensor): [n] or [batch, n], real or complex.
        n_fft (int): length of the transforms.
        hop_length (int, optional): from frame to frame; n_fft // 4 by default.
        win_length (int, optional): n_fft by default.
        window (Tensor, optional): [win_length]; ones by default.
        center (bool): frame t is centred at t * hop_length; the signal is padded by n_fft // 2 on both sides.
        pad_mode (str): "reflect" or "constant".
        normalized (bool): divide by the root of n_fft.
        onesided (bool): only frequencies that are not negative; not for complex signals.

    Returns:
        Tensor [..., n_fft // 2 + 1 or n_fft, frames], complex.

    Raises:
        ValueError: ranks or lengths don't fit.
    """
    if x.ndim not in (1, 2):
        raise ValueError(f"x should be a 1D or 2D real tensor, but got rank of x is {x.ndim}")
    single = x.ndim == 1
    if single:
        x = _C_ops.unsqueeze(x, [0])
    hop_length, win_length = _lengths(n_fft, hop_length, win_length)
    if not 0 < n_fft <= x.shape[-1]:
        raise ValueError(f"n_fft should be in (0, seq_length({x.shape[-1]})], but got {n_fft}.")
    is_complex = x.dtype in _COMPLEX or (window is not None and window.dtype in _COMPLEX)
    if is_complex and onesided:
        raise ValueError("onesided should be False when input or window is a complex Tensor.")
    real = x.dtype if x.dtype not in _COMPLEX else _C_ops.real(x).dtype
    window = _padded_window(window, win_length, n_fft, real)
    if center:
        if pad_mode not in ("constant", "reflect"):
            raise ValueError(f'pad_mode should be "reflect" or "constant", but got "{pad_mode}".')
        x = _centre_padded(x, n_fft // 2, pad_mode)
    frames = _C_ops.transpose(_C_ops.frame(x, n_fft, hop_length, -1), [0, 2, 1]) * window
    norm = "ortho" if normalized else "backward"
    if frames.dtype in _COMPLEX:
        out = _C_ops.fft_c2c(frames, [2], norm, True)
    else:
        out = _C_ops.fft_r2c(frames, [2], norm, True, onesided)
    out = _C_ops.transpose(out, [0, 2, 1])
    return _C_ops.squeeze(out, [0]) if single else out


def _centre_padded(x, by, mode):
    from .nn import functional

    return _C_ops.squeeze(functional.pad(_C_ops.unsqueeze(x, [-2]), [by, by], mode=mode, data_format="NCL"), [-2])


def istft(
    x, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=True, length=None,
    return_complex=False, name=None,
):  # fmt: skip
    """The signals whose short-time spectra are `x`, by least squares (Griffin & Lim, 1984).

    Args:
        x (Tensor): [n_fft // 2 + 1 or n_fft, frames], with a batch in front or not; complex.
        length (int, optional): of the result.
        return_complex (bool): the signals are complex; `x` then has all frequencies.

    The others are as in ``stft``.

    Returns:
        Tensor [n] or [batch, n].

    Raises:
        ValueError: shapes and lengths don't fit, or the windows leave samples uncovered.
    """
    if x.ndim not in (2, 3):
        raise ValueError(f"x should be a 2D or 3D complex tensor, but got rank of x is {x.ndim}")
    single = x.ndim == 2
    if single:
        x = _C_ops.unsqueeze(x, [0])
    hop_length, win_length = _lengths(n_fft, hop_length, win_length)
    if hop_length > win_length:
        raise ValueError(f"hop_length should be in (0, win_length({win_length})], but got {hop_length}.")
    expected = n_fft // 2 + 1 if onesided else n_fft
    if x.shape[-2] != expected:
        raise ValueError(f"fft_size should be equal to {expected} when onesided is {onesided}, but got {x.shape[-2]}.")
    if return_complex and onesided:
        raise ValueError("onesided should be False when input(output of istft) or window is a complex Tensor.")
    window = _padded_window(window, win_length, n_fft, _C_ops.real(x).dtype)
    if not return_complex and window.dtype in _COMPLEX:
        raise ValueError("Data type of window should not be complex when return_complex is False.")
    n_frames = x.shape[-1]
    x = _C_ops.transpose(x, [0, 2, 1])
    norm = "ortho" if normalized else "backward"
    if return_complex:
        frames = _C_ops.fft_c2c(x, [2], norm, False)
    else:
        half = x if onesided else _C_ops.slice(x, [2], [0], [n_fft // 2 + 1], [], [])
        frames = _C_ops.fft_c2r(half, [2], norm, False, n_fft)
    signal = _C_ops.overlap_add(_C_ops.transpose(frames * window, [0, 2, 1]), hop_length, -1)
    squares = _C_ops.expand(_C_ops.unsqueeze(window * window, [-1]), [n_fft, n_frames])
    envelope = _C_ops.overlap_add(squares, hop_length, -1)
    start, stop = (n_fft // 2, signal.shape[-1] - n_fft // 2) if center else (0, signal.shape[-1])
    if length is not None:
        stop = min(start + length, signal.shape[-1]) if center else min(length, signal.shape[-1])
    signal = _C_ops.slice(signal, [1], [start], [stop], [], [])
    envelope = _C_ops.slice(envelope, [0], [start], [stop], [], [])
    if isinstance(envelope, Tensor) and envelope.size and not _covered(envelope):
        raise ValueError(
            "Abort istft because Nonzero Overlap Add (NOLA) condition failed. For more information about NOLA "
            "constraint please see `scipy.signal.check_NOLA`."
        )
    signal = signal / envelope
    return _C_ops.squeeze(signal, [0]) if single else signal


def _covered(envelope):
    from .framework.mode import in_dynamic_mode

    return not in_dynamic_mode() or float(_C_ops.min(_C_ops.abs(envelope), [], False)) > 1e-11
