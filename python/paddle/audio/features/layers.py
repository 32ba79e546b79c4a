"""Spectrograms and what is made of them."""

from __future__ import annotations

import paddle
from paddle import nn

from ..functional import compute_fbank_matrix, create_dct, get_window, power_to_db

__all__ = []


class Spectrogram(nn.Layer):
    """|stft|^power of waveforms [..., time]: [..., n_fft // 2 + 1, frames].

    Args:
        n_fft, hop_length, win_length (int): as in paddle.signal.stft.
        window (str | tuple): as in ``get_window``.
        power (float): above 0.
        center (bool), pad_mode (str): as in paddle.signal.stft.

    Raises:
        AssertionError: `power` is not above 0.
    """

    def __init__(
        self, n_fft=512, hop_length=512, win_length=None, window="hann", power=1.0, center=True, pad_mode="reflect",
        dtype="float32",
    ):  # fmt: skip
        super().__init__()
        if not power > 0:
            raise AssertionError("Power of spectrogram must be > 0.")
        self.power = power
        win_length = n_fft if win_length is None else win_length
        self.n_fft, self.hop_length, self.win_length = n_fft, hop_length, win_length
        self.center, self.pad_mode = center, pad_mode
        self.register_buffer("fft_window", get_window(window, win_length, True, dtype))

    def forward(self, x):
        spectrum = paddle.signal.stft(
            x, self.n_fft, self.hop_length, self.win_length, self.fft_window, self.center, self.pad_mode
        )
        return paddle.pow(paddle.abs(spectrum), self.power)


class MelSpectrogram(nn.Layer):
    """A Spectrogram through a bank of mel filters: [..., n_mels, frames]."""

    def __init__(
        self, sr=22050, n_fft=2048, hop_length=512, win_length=None, window="hann", power=2.0, center=True,
        pad_mode="reflect", n_mels=64, f_min=50.0, f_max=None, htk=False, norm="slaney", dtype="float32",
    ):  # fmt: skip
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.n_mels, self.f_min, self.htk, self.norm = n_mels, f_min, htk, norm
        self.f_max = sr // 2 if f_max is None else f_max
        bank = compute_fbank_matrix(sr, n_fft, n_mels, f_min, self.f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", bank)

    def forward(self, x):
        return paddle.matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(nn.Layer):
    """A MelSpectrogram in decibels."""

    def __init__(
        self, sr=22050, n_fft=512, hop_length=None, win_length=None, window="hann", power=2.0, center=True,
        pad_mode="reflect", n_mels=64, f_min=50.0, f_max=None, htk=False, norm="slaney", ref_value=1.0, amin=1e-10,
        top_db=None, dtype="float32",
    ):  # fmt: skip
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, dtype
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x):
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(nn.Layer):
    """Cosine transforms of a LogMelSpectrogram: [..., n_mfcc, frames].

    Raises:
        AssertionError: `n_mfcc` exceeds `n_mels`.
    """

    def __init__(
        self, sr=22050, n_mfcc=40, n_fft=512, hop_length=None, win_length=None, window="hann", power=2.0, center=True,
        pad_mode="reflect", n_mels=64, f_min=50.0, f_max=None, htk=False, norm="slaney", ref_value=1.0, amin=1e-10,
        top_db=None, dtype="float32",
    ):  # fmt: skip
        super().__init__()
        if n_mfcc > n_mels:
            raise AssertionError(f"n_mfcc cannot be larger than n_mels: {n_mfcc} vs {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm,
            ref_value, amin, top_db, dtype,
        )  # fmt: skip
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x):
        log_mel = self._log_melspectrogram(x)
        axes = list(range(len(log_mel.shape) - 2)) + [len(log_mel.shape) - 1, len(log_mel.shape) - 2]
        return paddle.matmul(log_mel.transpose(axes), self.dct_matrix).transpose(axes)
