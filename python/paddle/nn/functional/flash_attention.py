"""The attention entry points by their flash-attention names: one definition (`sdpa.attend`) behind all of them.

Sequences of different lengths are packed: [total tokens, heads, head size], with cumulative lengths [batch + 1].
"""

from __future__ import annotations

import contextlib
import math

import paddle

from .sdpa import attend, fused, scaled_dot_product_attention  # noqa: F401

__all__ = []

_backends = {"math": False, "flash": True, "mem_efficient": True}


@contextlib.contextmanager
def sdp_kernel(enable_math=False, enable_flash=True, enable_mem_efficient=True):
    """Names the implementations that attention may choose from inside the ``with``; they give the same values."""
    before = dict(_backends)
    _backends.update(math=enable_math, flash=enable_flash, mem_efficient=enable_mem_efficient)
    try:
        yield
    finally:
        _backends.update(before)


def get_triangle_upper_mask(x):
    """A mask in the shape of `x` that adds -1e4 above the diagonal of the last two dimensions; no gradient."""
    mask = paddle.triu(paddle.full(x.shape, -1e4, x.dtype), diagonal=1)
    mask.stop_gradient = True
    return mask


def flash_attention(
    query, key, value, dropout=0.0, causal=False, return_softmax=False, *, fixed_seed_offset=None, rng_name="",
    training=True, name=None, softmax_scale=None,
):  # fmt: skip
    """Attention over [B, S, H, D] tensors.

    Args:
        query, key, value (Tensor): [B, S, H, D]; fewer heads in key and value are shared.
        dropout (float): of the weights, in training.
        causal (bool): query i does not see the keys after key i, however many there are of each.
        return_softmax (bool): also return the attention weights [B, H, S_q, S_k].
        fixed_seed_offset, rng_name: accepted.
        training (bool): whether dropout happens.
        softmax_scale (float, optional): 1 / sqrt(D) when None.

    Returns:
        (output, weights or None).

    Source: Dao et al., 2022 (https://arxiv.org/abs/2205.14135).
    """
    if not return_softmax and not (dropout and training):
        return fused(query, key, value, None, causal, softmax_scale), None
    out, weights, _ = attend(query, key, value, None, dropout, causal, training, softmax_scale)
    return out, weights if return_softmax else None


def flash_attn_qkvpacked(
    qkv, dropout=0.0, causal=False, return_softmax=False, *, fixed_seed_offset=None, rng_name="", training=True,
    name=None,
):  # fmt: skip
    """`flash_attention` of one tensor [B, S, G + 2, H_kv, D]: G query heads for every key head, then key and value."""
    groups = qkv.shape[2] - 2
    batch, length, kv_heads, size = qkv.shape[0], qkv.shape[1], qkv.shape[3], qkv.shape[4]
    # Query head g of group h stands at [g, h]; attention expects the heads that share a key side by side.
    query = paddle.transpose(qkv[:, :, :groups], [0, 1, 3, 2, 4]).reshape([batch, length, kv_heads * groups, size])
    out, weights, _ = attend(query, qkv[:, :, groups], qkv[:, :, groups + 1], None, dropout, causal, training)
    out = paddle.transpose(out.reshape([batch, length, kv_heads, groups, size]), [0, 1, 3, 2, 4])
    return out.reshape([batch, length, groups * kv_heads, size]), weights if return_softmax else None


def _segment_mask(cu_q, cu_k, total_q, total_k, causal):
    """[total_q, total_k], True where both tokens belong to one sequence (and the key is not ahead)."""
    q = paddle.arange(0, total_q, dtype="int64")
    k = paddle.arange(0, total_k, dtype="int64")
    cu_q, cu_k = cu_q.astype("int64"), cu_k.astype("int64")
    seq_q = paddle.searchsorted(cu_q, q, right=True) - 1
    seq_k = paddle.searchsorted(cu_k, k, right=True) - 1
    mask = seq_q.unsqueeze(1) == seq_k.unsqueeze(0)
    if causal:
        # Positions counted from the end of each sequence, so that the last query sees everything.
        from_end_q = paddle.gather(cu_q, paddle.clip(seq_q + 1, max=cu_q.shape[0] - 1)) - q
        from_end_k = paddle.gather(cu_k, paddle.clip(seq_k + 1, max=cu_k.shape[0] - 1)) - k
        mask = paddle.logical_and(mask, from_end_k.unsqueeze(0) >= from_end_q.unsqueeze(1))
    return mask


def flash_attn_unpadded(
    query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, dropout=0.0, causal=False,
    return_softmax=False, fixed_seed_offset=None, rng_name="", training=True, name=None,
):  # fmt: skip
    """Attention over packed sequences.

    Args:
        query (Tensor): [total_q, H, D]. key, value (Tensor): [total_k, H_kv, D].
        cu_seqlens_q, cu_seqlens_k (Tensor): [batch + 1] integers: where each sequence begins, and the end.
        max_seqlen_q, max_seqlen_k: the longest lengths; accepted.
        scale (float): of the scores.
        Others as in `flash_attention`.

    Returns:
        (output [total_q, H, D], weights or None).
    """
    mask = _segment_mask(cu_seqlens_q, cu_seqlens_k, query.shape[0], key.shape[0], causal)
    q, k, v = (t.unsqueeze(0) for t in (query, key, value))
    out, weights, _ = attend(q, k, v, mask, dropout, False, training, scale)
    return out.squeeze(0), weights if return_softmax else None


def flash_attn_varlen_qkvpacked(
    qkv, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, dropout=0.0, causal=False,
    return_softmax=False, fixed_seed_offset=None, rng_name="", varlen_padded=True, training=True, name=None,
):  # fmt: skip
    """`flash_attn_unpadded` of one tensor [total, G + 2, H_kv, D], packed as in `flash_attn_qkvpacked`."""
    groups = qkv.shape[1] - 2
    total, kv_heads, size = qkv.shape[0], qkv.shape[2], qkv.shape[3]
    query = paddle.transpose(qkv[:, :groups], [0, 2, 1, 3]).reshape([total, kv_heads * groups, size])
    out, weights = flash_attn_unpadded(
        query, qkv[:, groups], qkv[:, groups + 1], cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale,
        dropout, causal, return_softmax, training=training,
    )  # fmt: skip
    out = paddle.transpose(out.reshape([total, kv_heads, groups, size]), [0, 2, 1, 3])
    return out.reshape([total, groups * kv_heads, size]), weights


def flash_attn_varlen_func(
    query, key, value, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, seqused_q=None, seqused_k=None,
    softmax_scale=None, causal=False, qv=None, q_descale=None, k_descale=None, v_descale=None, window_size=(-1, -1),
    softcap=0.0, num_splits=1, pack_gqa=None, sm_margin=0,
):  # fmt: skip
    """Packed attention by the names of flash-attention 3: (output, logsumexp [H, total_q]).

    Scheduling hints (`num_splits`, `pack_gqa`, `sm_margin`) change nothing.

    Raises:
        NotImplementedError: partly used sequences, descaling, `qv`, a window or a soft cap is asked for.
    """
    extras = (seqused_q, seqused_k, qv, q_descale, k_descale, v_descale)
    if any(e is not None for e in extras) or tuple(window_size) != (-1, -1) or softcap:
        raise NotImplementedError(
            "[flash_attn_varlen_func] seqused, qv, descale, window_size and softcap are not supported"
        )
    mask = _segment_mask(cu_seqlens_q, cu_seqlens_k, query.shape[0], key.shape[0], causal)
    q, k, v = (t.unsqueeze(0) for t in (query, key, value))
    out, _, scores = attend(q, k, v, mask, 0.0, False, False, softmax_scale)
    return out.squeeze(0), paddle.logsumexp(scores.astype("float32"), axis=-1).squeeze(0)


flash_attention_v3_varlen = flash_attn_varlen_func


def _flashmask(indices, rows, causal, window):
    """The bool mask [B, H, S_q, S_k] that the column-wise row bounds of flashmask mean."""
    row = paddle.arange(0, rows, dtype="int64").reshape([1, 1, rows, 1])
    columns = indices.shape[2]
    column = paddle.arange(0, columns, dtype="int64").reshape([1, 1, 1, columns])
    bound = [indices[:, :, :, i].astype("int64").unsqueeze(2) for i in range(indices.shape[3])]
    visible = row >= column if causal else paddle.ones([1, 1, rows, columns], "bool")
    if causal:
        hidden = row >= bound[0]
        if len(bound) == 2:
            hidden = paddle.logical_and(hidden, row < bound[1])
    elif len(bound) == 2:
        hidden = paddle.logical_or(
            paddle.logical_and(row >= bound[0], row > column), paddle.logical_and(row < bound[1], row < column)
        )
    elif len(bound) == 4:
        below = paddle.logical_and(paddle.logical_and(row >= bound[0], row < bound[1]), row > column)
        above = paddle.logical_and(paddle.logical_and(row >= bound[2], row < bound[3]), row < column)
        hidden = paddle.logical_or(below, above)
    else:
        raise ValueError(f"[flashmask_attention] {len(bound)} bounds a column don't fit causal={causal}")
    return paddle.logical_and(visible, paddle.logical_not(hidden))


def flashmask_attention(
    query, key, value, startend_row_indices=None, *, dropout=0.0, causal=False, window_size=None,
    return_softmax_lse=False, return_seed_offset=False, fixed_seed_offset=None, rng_name="", training=True, name=None,
    softmax_scale=None, block_mask=None,
):  # fmt: skip
    """Attention whose mask is given per key column by the rows where it begins and ends.

    Args:
        query, key, value (Tensor): [B, S, H, D].
        startend_row_indices (Tensor, optional): int32 [B, H_kv or 1, S_k, n]. Causal: n = 1 hides rows from start on,
            n = 2
            rows in [start, end). Otherwise n = 2 hides rows from start on below the diagonal and rows before end above
            it, n = 4 two ranges, below and above.
        window_size (int | pair, optional): sliding window to the left and right, without `startend_row_indices`.
        return_softmax_lse (bool): also return the logsumexp [B, H, S_q].
        Others as in `flash_attention`.

    Returns:
        The output, alone or first in a list with what was asked for.

    Raises:
        ValueError: the bounds don't fit.
        NotImplementedError: `block_mask` or the seed is asked for.

    Source: Wang et al., 2024, FlashMask (https://arxiv.org/abs/2410.01359).
    """
    if block_mask is not None or return_seed_offset:
        raise NotImplementedError("[flashmask_attention] block_mask and return_seed_offset are not supported")
    rows, columns = query.shape[1], key.shape[1]
    mask = None
    if window_size is not None:
        if startend_row_indices is not None:
            raise ValueError("[flashmask_attention] window_size and startend_row_indices exclude one another")
        left, right = (window_size, window_size) if isinstance(window_size, int) else window_size
        offset = paddle.arange(0, columns, dtype="int64").unsqueeze(0) - paddle.arange(
            0, rows, dtype="int64"
        ).unsqueeze(1)
        mask = paddle.logical_and(offset >= -left, offset <= (0 if causal else right))
    elif startend_row_indices is not None:
        mask = _flashmask(startend_row_indices, rows, causal, window_size)
        if mask.shape[1] not in (1, query.shape[2]):
            mask = paddle.repeat_interleave(mask, query.shape[2] // mask.shape[1], axis=1)
        causal = False
    out, _, scores = attend(query, key, value, mask, dropout, causal and mask is None, training, softmax_scale)
    if mask is not None:
        # A row that sees nothing gives zeros.
        empty = paddle.logical_not(paddle.any(mask, axis=-1))
        seen = paddle.transpose(
            paddle.logical_not(empty).reshape([-1, empty.shape[-2] if len(empty.shape) > 1 else 1, rows]), [0, 2, 1]
        )
        out = paddle.where(seen.unsqueeze(-1), out, paddle.zeros_like(out))
    if not return_softmax_lse:
        return out
    return [out, paddle.logsumexp(scores.astype("float32"), axis=-1)]


def calc_reduced_attention_scores(query, key, softmax_lse):
    """The attention weights summed over the queries: [B, H, 1, S_k] float32, without gradient.

    Args:
        query, key (Tensor): [B, S, H, D].
        softmax_lse (Tensor): [B, H, S_q] logsumexp of the scores.
    """
    with paddle.no_grad():
        q, k = (paddle.transpose(t.astype("float32"), [0, 2, 1, 3]) for t in (query, key))
        scores = paddle.matmul(q, k, transpose_y=True) / math.sqrt(query.shape[-1])
        weights = paddle.exp(scores - softmax_lse[:, :, : query.shape[1]].unsqueeze(-1))
        return paddle.sum(weights, axis=2, keepdim=True)
