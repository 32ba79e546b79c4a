"""paddle.fft and paddle.signal against NumPy and SciPy; gradients against finite differences."""

import numpy as np
import paddle
import pytest
from scipy import signal as scipy_signal

LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    11,
    12,
    13,
    16,
    30,
    31,
    59,
    61,
    64,
    67,
    97,
    100,
    121,
    127,
    128,
    210,
    243,
    1000,
    1009,
]


def numbers(*shape, dtype="float64"):
    rng = np.random.default_rng(7)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape)).astype(dtype) if dtype.startswith("complex") else x.astype(dtype)


@pytest.mark.parametrize("n", LENGTHS)
def test_every_kind_of_length(n):
    x, r = numbers(3, n, dtype="complex128"), numbers(3, n)
    np.testing.assert_allclose(paddle.fft.fft(paddle.to_tensor(x)).numpy(), np.fft.fft(x), atol=1e-11 * n)
    np.testing.assert_allclose(paddle.fft.ifft(paddle.to_tensor(x)).numpy(), np.fft.ifft(x), atol=1e-11)
    np.testing.assert_allclose(paddle.fft.rfft(paddle.to_tensor(r)).numpy(), np.fft.rfft(r), atol=1e-11 * n)
    half = np.fft.rfft(r)
    np.testing.assert_allclose(paddle.fft.irfft(paddle.to_tensor(half), n=n).numpy(), r, atol=1e-11)


@pytest.mark.parametrize("dtype, tolerance", [("complex64", 2e-6), ("complex128", 1e-14)])
def test_precision(dtype, tolerance):
    x = numbers(5, 1024, dtype=dtype)
    want = np.fft.fft(x.astype("complex128"))
    got = paddle.fft.fft(paddle.to_tensor(x))
    assert str(got.dtype).endswith(dtype)
    assert np.abs(got.numpy() - want).max() <= tolerance * np.abs(want).max()


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn", "irfft2", "irfftn"])
def test_several_axes(name, norm):
    kind = "float64" if name.startswith("r") else "complex128"
    x = numbers(3, 4, 5, dtype=kind)
    want = getattr(np.fft, name)(x, norm=norm)
    np.testing.assert_allclose(getattr(paddle.fft, name)(paddle.to_tensor(x), norm=norm).numpy(), want, atol=1e-12)


def test_sizes_and_axes():
    x = numbers(4, 6)
    t = paddle.to_tensor(x)
    np.testing.assert_allclose(paddle.fft.fft(t, n=9, axis=0).numpy(), np.fft.fft(x, 9, 0), atol=1e-12)
    np.testing.assert_allclose(paddle.fft.fftn(t, s=[3, 8]).numpy(), np.fft.fftn(x, [3, 8]), atol=1e-12)
    np.testing.assert_allclose(paddle.fft.rfftn(t, axes=[0]).numpy(), np.fft.rfftn(x, axes=[0]), atol=1e-12)
    assert paddle.fft.fft(paddle.zeros([0, 4])).shape == [0, 4]
    for bad in ({"n": 0}, {"axis": 2}, {"norm": "x"}):
        with pytest.raises(ValueError):
            paddle.fft.fft(t, **bad)
    np.testing.assert_allclose(paddle.fft.fftfreq(5, 0.1).numpy(), np.fft.fftfreq(5, 0.1), rtol=1e-6)
    np.testing.assert_allclose(paddle.fft.rfftfreq(6).numpy(), np.fft.rfftfreq(6), rtol=1e-6)
    np.testing.assert_array_equal(paddle.fft.fftshift(t).numpy(), np.fft.fftshift(x))
    np.testing.assert_array_equal(paddle.fft.ifftshift(t, axes=1).numpy(), np.fft.ifftshift(x, axes=1))


def directional(function, x, step=1e-6):
    """The derivative along a direction, and what the gradient says it is. Complex numbers count as pairs."""
    t = paddle.to_tensor(x, stop_gradient=False)
    function(t).backward()
    direction = numbers(*x.shape, dtype=str(x.dtype))
    got = float(np.real(np.vdot(t.grad.numpy(), direction)))
    plus, minus = (float(function(paddle.to_tensor(x + s * step * direction))) for s in (1, -1))
    return got, (plus - minus) / (2 * step)


@pytest.mark.parametrize(
    "function, x",
    [
        (lambda t: (paddle.fft.fft(t).abs() ** 2 * 0.3).sum() + paddle.fft.fft(t).imag().sum(), numbers(2, 5, dtype="complex128")),
        (lambda t: (paddle.fft.rfft(t, norm="ortho").real() ** 3).sum(), numbers(2, 6)),
        (lambda t: (paddle.fft.rfft(t).imag() ** 2).sum(), numbers(7)),
        (lambda t: (paddle.fft.irfft(t) ** 3).sum(), numbers(2, 4, dtype="complex128")),
        (lambda t: (paddle.fft.irfft(t, n=5) ** 3).sum(), numbers(3, dtype="complex128")),
        (lambda t: (paddle.fft.irfftn(t, norm="forward") ** 2).sum(), numbers(3, 4, dtype="complex128")),
        (lambda t: (paddle.fft.rfftn(t).abs() ** 2).sum(), numbers(3, 4)),
        (lambda t: (paddle.fft.hfft(t) ** 2).sum(), numbers(4, dtype="complex128")),
        (lambda t: (paddle.signal.overlap_add(paddle.signal.frame(t, 4, 2) ** 2, 3) ** 2).sum(), numbers(10)),
        (lambda t: (paddle.signal.stft(t, 8).abs() ** 2).sum(), numbers(24)),
    ],
)  # fmt: skip
def test_gradients(function, x):
    got, want = directional(function, x)
    assert got == pytest.approx(want, rel=1e-6, abs=1e-7)


def test_second_order():
    x = paddle.to_tensor(numbers(6), stop_gradient=False)
    (g,) = paddle.grad((paddle.fft.rfft(x).abs() ** 2).sum(), x, create_graph=True)
    (h,) = paddle.grad((g * g).sum(), x)
    # The first gradient is linear in x here: its squared length is a quadratic form.
    np.testing.assert_allclose(float((h * x).sum()), 2 * float((g * g).sum()), rtol=1e-10)


def test_stft_and_back():
    x = numbers(2, 64)
    window = paddle.to_tensor(scipy_signal.get_window("hann", 16))
    got = paddle.signal.stft(paddle.to_tensor(x), 16, hop_length=4, window=window)
    padded = np.pad(x, [(0, 0), (8, 8)], mode="reflect")
    frames = np.stack([padded[:, i : i + 16] for i in range(0, padded.shape[1] - 15, 4)], 1) * window.numpy()
    np.testing.assert_allclose(got.numpy(), np.fft.rfft(frames).transpose(0, 2, 1), atol=1e-12)
    back = paddle.signal.istft(got, 16, hop_length=4, window=window, length=64)
    np.testing.assert_allclose(back.numpy(), x, atol=1e-12)
