"""Windows, as scipy.signal.windows has them."""

from __future__ import annotations

import math

import numpy as np
import paddle

__all__ = []


def _cosines(n, *weights):
    x = np.linspace(-math.pi, math.pi, n)
    return sum(w * np.cos(k * x) for k, w in enumerate(weights))


def _bohman(n):
    x = np.abs(np.linspace(-1, 1, n)[1:-1])
    inner = (1 - x) * np.cos(math.pi * x) + np.sin(math.pi * x) / math.pi
    return np.concatenate([[0.0], inner, [0.0]])


def _tukey(n, alpha=0.5):
    if alpha <= 0:
        return np.ones(n)
    if alpha >= 1:
        return _cosines(n, 0.5, 0.5)
    x, width = np.arange(n), int(math.floor(alpha * (n - 1) / 2.0))
    left = 0.5 * (1 + np.cos(math.pi * (-1 + 2.0 * x / alpha / (n - 1))))
    right = 0.5 * (1 + np.cos(math.pi * (-2.0 / alpha + 1 + 2.0 * x / alpha / (n - 1))))
    return np.where(x <= width, left, np.where(x < n - width - 1, 1.0, right))


def _taylor(n, nbar=4, sll=30, norm=True):
    """Carrara, Goodman & Majewski, "Spotlight Synthetic Aperture Radar" (1995), appendix D.2."""
    b = 10 ** (sll / 20)
    a = math.acosh(b) / math.pi
    s2 = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    ma = np.arange(1, nbar)
    factors = np.empty(nbar - 1)
    signs = np.where(np.arange(nbar - 1) % 2 == 0, 1.0, -1.0)
    m2 = ma**2
    for mi in range(len(ma)):
        numerator = signs[mi] * np.prod(1 - m2[mi] / s2 / (a**2 + (ma - 0.5) ** 2))
        denominator = 2 * np.prod(1 - m2[mi] / m2[:mi]) * np.prod(1 - m2[mi] / m2[mi + 1 :])
        factors[mi] = numerator / denominator

    def window(at):
        return 1 + 2 * np.dot(factors, np.cos(2 * math.pi * ma[:, None] * (at - n / 2.0 + 0.5) / n))

    values = window(np.arange(n))
    return values / window(np.array([(n - 1) / 2.0])) if norm else values


def _kaiser(n, beta=12.0):
    return np.kaiser(n, beta)


_WINDOWS = {
    "hamming": lambda n: _cosines(n, 0.54, 0.46),
    "hann": lambda n: _cosines(n, 0.5, 0.5),
    "blackman": lambda n: _cosines(n, 0.42, 0.5, 0.08),
    "nuttall": lambda n: _cosines(n, 0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "cosine": lambda n: np.sin(math.pi / n * (np.arange(n) + 0.5)),
    "bohman": _bohman,
    "tukey": _tukey,
    "taylor": _taylor,
    "kaiser": _kaiser,
    "triang": lambda n: (
        np.bartlett(n + 2)[1:-1] if n % 2 else (2 * np.minimum(np.arange(n), np.arange(n)[::-1]) + 1) / n
    ),
    "gaussian": lambda n, std=7: np.exp(-((np.arange(n) - (n - 1) / 2) ** 2) / (2 * std * std)),
    "general_gaussian": lambda n, p, sig: np.exp(-0.5 * np.abs((np.arange(n) - (n - 1) / 2) / sig) ** (2 * p)),
    "exponential": lambda n, center=None, tau=1.0: np.exp(
        -np.abs(np.arange(n) - ((n - 1) / 2 if center is None else center)) / tau
    ),
}


def get_window(window, win_length, fftbins=True, dtype="float64"):
    """A window of `win_length` samples.

    Args:
        window (str | tuple): "hann", "hamming", "blackman", "nuttall", "bohman", "cosine", "triang", "tukey", "taylor",
            "kaiser", "gaussian", "general_gaussian" or "exponential"; in a tuple with its parameters.
        fftbins (bool): periodic rather than symmetric.

    Raises:
        ValueError: an unknown window.
    """
    name, args = (window, ()) if isinstance(window, str) else (window[0], tuple(window[1:]))
    if name not in _WINDOWS:
        raise ValueError(f"[get_window] expected one of {sorted(_WINDOWS)}, got {name!r}")
    if win_length <= 1:
        return paddle.ones([win_length], dtype=dtype)
    values = _WINDOWS[name](win_length + 1 if fftbins else win_length, *args)
    return paddle.to_tensor(values[:-1] if fftbins else values, dtype=dtype)
