"""Scales of pitch and filter banks, as librosa has them (McFee et al., 2015)."""

from __future__ import annotations

import math

import numpy as np
import paddle

__all__ = []

_STEP = 200.0 / 3  # the Slaney scale is linear up to 1000 Hz, then logarithmic
_LOG_STEP = math.log(6.4) / 27.0


def _mel(freq, htk):
    freq = np.asarray(freq, np.float64)
    if htk:
        return 2595.0 * np.log10(1.0 + freq / 700.0)
    high = 15.0 + np.log(np.maximum(freq, 1e-10) / 1000.0) / _LOG_STEP
    return np.where(freq >= 1000.0, high, freq / _STEP)


def _hz(mel, htk):
    mel = np.asarray(mel, np.float64)
    if htk:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    return np.where(mel >= 15.0, 1000.0 * np.exp(_LOG_STEP * (mel - 15.0)), _STEP * mel)


def _like(result, given):
    if isinstance(given, paddle.Tensor):
        return paddle.to_tensor(result, dtype=given.dtype)
    return float(result)


def hz_to_mel(freq, htk=False):
    """Mels of frequencies in Hz (a number or a Tensor); by Slaney's scale, or HTK's."""
    return _like(_mel(freq.numpy() if isinstance(freq, paddle.Tensor) else freq, htk), freq)


def mel_to_hz(mel, htk=False):
    """Frequencies in Hz of mels."""
    return _like(_hz(mel.numpy() if isinstance(mel, paddle.Tensor) else mel, htk), mel)


def mel_frequencies(n_mels=64, f_min=0.0, f_max=11025.0, htk=False, dtype="float32"):
    """`n_mels` frequencies at equal distances in mels."""
    return paddle.to_tensor(_hz(np.linspace(_mel(f_min, htk), _mel(f_max, htk), n_mels), htk), dtype=dtype)


def fft_frequencies(sr, n_fft, dtype="float32"):
    """The n_fft // 2 + 1 frequencies of a spectrum, in Hz."""
    return paddle.linspace(0, float(sr) / 2, 1 + n_fft // 2, dtype=dtype)


def compute_fbank_matrix(sr, n_fft, n_mels=64, f_min=0.0, f_max=None, htk=False, norm="slaney", dtype="float32"):
    """Triangular filters at equal distances in mels: [n_mels, n_fft // 2 + 1].

    Args:
        norm ("slaney" | number | None): filters of equal area, or of that norm.
    """
    f_max = sr / 2.0 if f_max is None else f_max
    edges = _hz(np.linspace(_mel(f_min, htk), _mel(f_max, htk), n_mels + 2), htk)
    bins = np.linspace(0, sr / 2.0, 1 + n_fft // 2)
    ramps = edges[:, None] - bins
    lower, upper = -ramps[:-2] / np.diff(edges)[:-1, None], ramps[2:] / np.diff(edges)[1:, None]
    weights = np.maximum(0, np.minimum(lower, upper))
    if norm == "slaney":
        weights *= (2.0 / (edges[2:] - edges[:-2]))[:, None]
    elif isinstance(norm, (int, float)):
        weights /= np.maximum(np.linalg.norm(weights, norm, axis=-1, keepdims=True), 1e-30)
    return paddle.to_tensor(weights, dtype=dtype)


def power_to_db(spect, ref_value=1.0, amin=1e-10, top_db=80.0):
    """10 log10(spect / ref_value), no less than `top_db` below the largest.

    Raises:
        Exception: `amin` or `ref_value` is not above 0, or `top_db` is negative.
    """
    if amin <= 0:
        raise Exception("amin must be strictly positive")
    if ref_value <= 0:
        raise Exception("ref_value must be strictly positive")
    value = 10.0 * paddle.log10(spect.clip(min=amin)) - 10.0 * math.log10(max(ref_value, amin))
    if top_db is None:
        return value
    if top_db < 0:
        raise Exception("top_db must be non-negative")
    return paddle.maximum(value, value.max() - float(top_db))


def create_dct(n_mfcc, n_mels, norm="ortho", dtype="float32"):
    """The discrete cosine transform of kind II: [n_mels, n_mfcc]."""
    k = np.arange(n_mfcc)[:, None]
    dct = np.cos(math.pi / n_mels * (np.arange(n_mels) + 0.5) * k)
    if norm is None:
        dct *= 2.0
    else:
        if norm != "ortho":
            raise AssertionError(f"[create_dct] expected norm 'ortho' or None, got {norm!r}")
        dct[0] *= 1.0 / math.sqrt(2.0)
        dct *= math.sqrt(2.0 / n_mels)
    return paddle.to_tensor(dct.T.copy(), dtype=dtype)
