"""Small compositions that official Paddle fuses by hand; here the compiler does."""

from __future__ import annotations

from ..base import core


def _softmax(x):
    import paddle

    return paddle.nn.functional.softmax(x, axis=-1)


def softmax_mask_fuse(x, mask, name=None):
    """``softmax(x + mask)`` along the last axis; ``mask`` broadcasts, as ``[B, 1, S, S]`` over ``[B, H, S, S]``."""
    return _softmax(x + mask)


def softmax_mask_fuse_upper_triangle(x):
    """Softmax along the last axis of ``[B, H, S, S]`` scores, each row seeing columns up to its own."""
    import paddle

    rows, columns = x.shape[-2], x.shape[-1]
    hidden = paddle.triu(paddle.full([rows, columns], -1e4, dtype=x.dtype), 1)
    return _softmax(x + hidden) * paddle.tril(paddle.ones([rows, columns], dtype=x.dtype))


def identity_loss(x, reduction="none"):
    """``x`` itself, its sum (``"sum"`` or 0) or mean (``"mean"`` or 1)."""
    if reduction in ("sum", 0):
        return x.sum()
    if reduction in ("mean", 1):
        return x.mean()
    if reduction in ("none", 2):
        return x.clone()
    raise core.ArgumentError(f"[identity_loss] expected reduction 'sum', 'mean', 'none', 0, 1 or 2, got {reduction!r}")


def graph_send_recv(x, src_index, dst_index, pool_type="sum", out_size=None, name=None):
    """The older name of ``paddle.geometric.send_u_recv``."""
    from ..geometric import send_u_recv

    return send_u_recv(x, src_index, dst_index, pool_type, out_size)


def graph_reindex(x, neighbors, count, value_buffer=None, index_buffer=None, flag_buffer_hashtable=False, name=None):
    """The older name of ``paddle.geometric.reindex_graph``."""
    from ..geometric import reindex_heter_graph

    parts = list(neighbors) if isinstance(neighbors, (list, tuple)) else [neighbors]
    counts = list(count) if isinstance(count, (list, tuple)) else [count]
    return reindex_heter_graph(x, parts, counts)


def graph_sample_neighbors(
    row, colptr, input_nodes, eids=None, perm_buffer=None, sample_size=-1, return_eids=False, flag_perm_buffer=False,
    name=None,
):  # fmt: skip
    """The older name of ``paddle.geometric.sample_neighbors``."""
    from ..geometric import sample_neighbors

    return sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids)
