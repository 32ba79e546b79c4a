"""WAV files by the standard library."""

from __future__ import annotations

import wave
from dataclasses import dataclass

import numpy as np
import paddle

__all__ = []

_TYPES = {1: np.uint8, 2: np.dtype("<i2"), 4: np.dtype("<i4")}


@dataclass
class AudioInfo:
    """What a sound file holds."""

    sample_rate: int
    num_samples: int
    num_channels: int
    bits_per_sample: int
    encoding: str


def _opened(filepath, mode):
    return wave.open(str(filepath) if not hasattr(filepath, "read") else filepath, mode)


def info(filepath):
    """The AudioInfo of a WAV file.

    Raises:
        wave.Error: it is none.
    """
    with _opened(filepath, "rb") as f:
        bits = 8 * f.getsampwidth()
        return AudioInfo(f.getframerate(), f.getnframes(), f.getnchannels(), bits, "PCM_U" if bits == 8 else "PCM_S")


def load(filepath, frame_offset=0, num_frames=-1, normalize=True, channels_first=True):
    """(waveform, sample rate) of a WAV file.

    Args:
        frame_offset, num_frames (int): the part to read; all for -1.
        normalize (bool): in [-1, 1) rather than the numbers of the file; float32 either way.
        channels_first (bool): [channels, time] rather than [time, channels].

    Raises:
        ValueError: samples of another width than 1, 2 or 4 bytes.
    """
    with _opened(filepath, "rb") as f:
        width, channels, rate = f.getsampwidth(), f.getnchannels(), f.getframerate()
        if width not in _TYPES:
            raise ValueError(f"[audio.load] expected samples of 1, 2 or 4 bytes, got {width}")
        f.setpos(min(frame_offset, f.getnframes()))
        data = f.readframes(f.getnframes() - frame_offset if num_frames < 0 else num_frames)
    samples = np.frombuffer(data, _TYPES[width]).reshape(-1, channels)
    samples = samples.astype(np.float32)
    if normalize:
        samples = (samples - 128.0 if width == 1 else samples) / float(2 ** (8 * width - 1))
    out = np.ascontiguousarray(samples.T if channels_first else samples)
    return paddle.to_tensor(out), rate


def save(filepath, src, sample_rate, channels_first=True, encoding=None, bits_per_sample=16):
    """Writes a waveform as 16-bit WAV.

    Args:
        src (Tensor): [channels, time] (or [time, channels]), floats in [-1, 1] or int16.

    Raises:
        ValueError: another rank, encoding or width.
    """
    if len(src.shape) != 2:
        raise ValueError(f"[audio.save] expected a waveform of two dimensions, got {list(src.shape)}")
    if bits_per_sample not in (None, 16) or encoding not in (None, "PCM_16", "PCM_S"):
        raise ValueError("Invalid bits_per_sample, only support 16 bit")
    samples = src.numpy()
    samples = samples.T if channels_first else samples
    if samples.dtype != np.int16:
        samples = np.clip(samples * 32768.0, -32768, 32767).astype("<i2")
    with _opened(filepath, "wb") as f:
        f.setnchannels(samples.shape[1])
        f.setsampwidth(2)
        f.setframerate(sample_rate)
        f.writeframes(np.ascontiguousarray(samples).tobytes())
