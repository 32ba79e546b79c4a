"""Padding."""

from __future__ import annotations

import paddle
from paddle import _C_ops

from ...tensor._common import is_number, sizes_in
from .._alias import accepts

__all__ = []

_FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


@accepts(x="input")
def pad(x, pad, mode="constant", value=0.0, data_format=None, pad_from_left_axis=True, name=None):
    """Pads a tensor.

    Args:
        x (Tensor): any rank in mode "constant", else 3-D to 5-D.
        pad (int | list | tuple | Tensor): an int pads every spatial dimension on both sides. 2 * rank ints pad every
            dimension (in "constant"): the first pair is for dimension 0, or for the last one with
            `pad_from_left_axis` False. Fewer ints: the first pair is for the last spatial dimension, the second for
            the one before.
        mode (str): "constant", "reflect" (without the border), "replicate", "circular".
        value (float): what "constant" fills in.
        data_format (str, optional): NCL, NLC, NCHW, NHWC, NCDHW, NDHWC; channels first when None.
        pad_from_left_axis (bool): see `pad`.

    Returns:
        Tensor of x's dtype.

    Raises:
        AssertionError: an unknown `mode`.
        ValueError: `data_format` or the length of `pad` don't fit.
    """
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise AssertionError(f"mode should be one of constant, reflect, replicate, circular, but got {mode}.")
    pads = _normalise(x, pad, mode, data_format, pad_from_left_axis)
    numbers = [is_number(before) and is_number(after) for before, after in pads]
    if mode == "constant" and all(numbers):
        return _C_ops.pad(x, [p for pair in pads for p in pair], float(value))
    for axis, (before, after) in enumerate(pads):
        if numbers[axis] and not (before or after):
            continue
        if mode == "constant":
            ends = [paddle.full([*x.shape[:axis], n, *x.shape[axis + 1 :]], value, x.dtype) for n in (before, after)]
            x = paddle.concat([ends[0], x, ends[1]], axis)
        else:
            x = paddle.index_select(x, _positions(x.shape[axis], before, after, mode), axis=axis)
    return x


def _normalise(x, pad, mode, data_format, from_left):
    """One (before, after) pair for every dimension of `x`."""
    rank = len(x.shape)
    if isinstance(pad, int):
        pad = [pad] * (2 * (rank - 2))
    else:
        pad = sizes_in(pad)
    if len(pad) % 2 != 0 or len(pad) > 2 * rank:
        raise ValueError(f"[pad] expected pad with an even number of elements, at most {2 * rank}, got {pad}")
    pairs = list(zip(pad[::2], pad[1::2]))
    if len(pairs) == rank and (mode == "constant" or rank < 3):
        return pairs if from_left else pairs[::-1]
    if data_format is not None and rank in _FORMATS and data_format not in _FORMATS[rank]:
        raise ValueError(
            f"Data format {data_format} is not suitable for the input "
            f"of {rank} dimensions: expected one of {_FORMATS[rank]}"
        )
    last = data_format is not None and rank in _FORMATS and data_format == _FORMATS[rank][1]
    if mode != "constant" and len(pairs) == rank:
        outside = [pairs[0], pairs[-1] if last else pairs[1]]
        if any(p for pair in outside for p in pair):
            raise ValueError(f"[pad] mode {mode!r} pads spatial dimensions only, got {pad}")
        return pairs
    tail = 1 if last else 0
    if len(pairs) + tail > rank:
        raise ValueError(f"[pad] pad {pad} is too long for {rank} dimensions with data_format {data_format}")
    pairs = pairs[::-1]
    return [(0, 0)] * (rank - tail - len(pairs)) + pairs + [(0, 0)] * tail


def _positions(size, before, after, mode):
    """Which element of the input stands at each place of the padded dimension."""
    if mode == "replicate":
        return paddle.clip(paddle.arange(-before, size + after, dtype="int64"), 0, size - 1)
    if mode == "circular":
        return paddle.arange(-before, size + after, dtype="int64") % size
    if isinstance(size, int) and (before >= size or after >= size):
        raise ValueError(f"[pad] reflect padding must be smaller than the dimension ({size}), got {(before, after)}")
    place = paddle.abs(paddle.arange(-before, size + after, dtype="int64"))
    return (size - 1) - paddle.abs(place - (size - 1))


def zeropad2d(x, padding, data_format="NCHW", name=None):
    """Zeros around the images of [N, C, H, W] (or "NHWC"); `padding` is [left, right, top, bottom] or an int."""
    return pad(x, padding, "constant", 0.0, data_format)
