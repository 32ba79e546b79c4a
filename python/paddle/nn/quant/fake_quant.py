"""Numbers on a grid of integers, and back. A scale is the largest absolute value that the grid reaches."""

from __future__ import annotations

import paddle

__all__ = []


def levels(bits: int) -> int:
    """The largest integer of that many bits, with a sign."""
    return (1 << (bits - 1)) - 1


def _along(scale, rank: int, axis: int):
    """The scale so that it goes with a tensor of that rank; a single one goes with any."""
    if axis < 0 or scale.size == 1:
        return scale
    shape = [1] * rank
    shape[axis] = -1
    return scale.reshape(shape)


def _inverse(scale):
    return 1.0 / paddle.where(scale <= 1e-6, scale + 1e-6, scale)


def quantize(x, scale, bits: int, axis: int = -1):
    """The integer of each element, as a number of x's dtype: half way it goes to the even one."""
    most = levels(bits)
    return paddle.clip(paddle.round(x * (most * _inverse(_along(scale, x.ndim, axis)))), -most - 1, most)


def dequantize(x, scale, bits: int, axis: int = -1):
    """What the integers stand for."""
    return x * _along(scale, x.ndim, axis) / levels(bits)


def fake_quantize(x, scale, bits: int, axis: int = -1):
    """Each element moved to the nearest on the grid (half way away from 0); the gradient passes as it is (Bengio et al., 2013,
    "straight through")."""
    most = levels(bits)
    with paddle.no_grad():
        s = _along(scale, x.ndim, axis)
        steps = paddle.clip(x, -s, s) * (most * _inverse(s))
        on_grid = paddle.sign(steps) * paddle.floor(paddle.abs(steps) + 0.5) * s / most
    return on_grid + (x - x.detach())  # the second part is 0, with the gradient of x
