"""Sequences and videos."""

from __future__ import annotations

import paddle

__all__ = []


def sequence_mask(x, maxlen=None, dtype="int64", name=None):
    """1 at the first x[i] places of row i, else 0.

    Args:
        x (Tensor): integer lengths, any shape.
        maxlen (int | Tensor, optional): size of the new last dimension; the longest length when None.
        dtype (dtype): of the result.

    Returns:
        Tensor [*x.shape, maxlen].
    """
    if maxlen is None:
        maxlen = paddle.max(x)
    if isinstance(maxlen, paddle.Tensor):
        maxlen = maxlen.item()
    places = paddle.arange(0, maxlen, dtype="int64")
    return (places < paddle.unsqueeze(x.astype("int64"), -1)).astype(dtype)


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices with `input` ([..., n]) on the diagonal `offset`, at dimensions `dim1` and `dim2`."""
    return paddle.diag_embed(input, offset, dim1, dim2)


def gather_tree(ids, parents):
    """Whole beams from what each step chose.

    Args:
        ids, parents (Tensor): [time, batch, beam] integers; parents[t] says from which beam of step t - 1 it comes.

    Returns:
        Tensor like `ids`: for every final beam the chain of ids that led to it.

    Raises:
        ValueError: an argument is not 3-D.
    """
    if len(ids.shape) != 3:
        raise ValueError("The input ids must be a 3D tensor with shape [length, batch_size, beam_size]")
    if len(parents.shape) != 3:
        raise ValueError("The input parents must be a 3D tensor with shape [length, batch_size, beam_size]")
    steps = ids.shape[0]
    chain = [ids[steps - 1]]
    beam = parents[steps - 1]
    for t in range(steps - 2, -1, -1):
        chain.append(paddle.take_along_axis(ids[t], beam.astype("int64"), axis=1))
        beam = paddle.take_along_axis(parents[t], beam.astype("int64"), axis=1)
    return paddle.stack(chain[::-1], axis=0)


def temporal_shift(x, seg_num, shift_ratio=0.25, name=None, data_format="NCHW"):
    """Moves a share of the channels one frame back, as many one frame ahead.

    Args:
        x (Tensor): [N * `seg_num`, C, H, W] or "NHWC".
        seg_num (int): frames per video.
        shift_ratio (float): share of the channels that move each way, in (0, 0.5).

    Source: Lin et al., 2018, Temporal shift module (https://arxiv.org/abs/1811.08383).
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"Attr(data_format) should be 'NCHW' or 'NHWC'. Received Attr(data_format): {data_format}.")
    if data_format == "NHWC":
        x = paddle.transpose(x, [0, 3, 1, 2])
    total, channels, height, width = x.shape
    video = x.reshape([-1, seg_num, channels, height, width])
    first, second = int(channels * shift_ratio), int(channels * 2 * shift_ratio)
    still = paddle.zeros_like(video[:, :1])
    past = paddle.concat([still[:, :, :first], video[:, :-1, :first]], axis=1)
    future = paddle.concat([video[:, 1:, first:second], still[:, :, first:second]], axis=1)
    out = paddle.concat([past, future, video[:, :, second:]], axis=2).reshape([total, channels, height, width])
    return paddle.transpose(out, [0, 2, 3, 1]) if data_format == "NHWC" else out
