"""Sampled neighbourhoods of graphs in compressed columns, and nodes numbered anew."""

from __future__ import annotations

import numpy as np
import paddle

__all__ = []


def _numbered(x, neighbors, count):
    """Nodes numbered in the order of their first appearance in `x`, then in the neighbours."""
    nodes = x.numpy()
    number = {int(v): i for i, v in enumerate(nodes)}
    sources = []
    for part in neighbors:
        sources.append(np.array([number.setdefault(int(v), len(number)) for v in part.numpy()], nodes.dtype))
    base = np.arange(len(nodes), dtype=nodes.dtype)
    targets = [np.repeat(np.tile(base, len(c.numpy()) // max(len(nodes), 1)), c.numpy()) for c in count]
    out = [np.concatenate(sources), np.concatenate(targets), np.array(list(number), nodes.dtype)]
    return tuple(paddle.to_tensor(a) for a in out)


def reindex_graph(x, neighbors, count, value_buffer=None, index_buffer=None, name=None):
    """Nodes numbered from 0, first `x`, then those of `neighbors` that aren't in it.

    Args:
        x (Tensor): [n] different nodes. neighbors (Tensor): all their neighbours. count (Tensor): [n], how many each has.

    Returns:
        (sources, targets, nodes): the edges in the new numbers, and which node each number is.
    """
    return _numbered(x, [neighbors], [count])


def reindex_heter_graph(x, neighbors, count, value_buffer=None, index_buffer=None, name=None):
    """``reindex_graph`` for several kinds of edges: lists of `neighbors` and `count`."""
    return _numbered(x, list(neighbors), list(count))


def _sampled(row, colptr, input_nodes, sample_size, eids, return_eids, weights):
    if return_eids and eids is None:
        raise ValueError("`eids` should not be None if `return_eids` is True.")
    rows, bounds, nodes = row.numpy(), colptr.numpy(), input_nodes.numpy()
    rng = np.random.default_rng(int(paddle.randint(0, 2**31 - 1, [1])))
    chosen, counts = [], []
    for node in nodes:
        edges = np.arange(bounds[node], bounds[node + 1])
        if 0 <= sample_size < len(edges):
            if weights is None:
                edges = rng.choice(edges, sample_size, replace=False)
            else:  # Efraimidis & Spirakis, "Weighted random sampling with a reservoir" (2006)
                keys = rng.random(len(edges)) ** (1.0 / np.maximum(weights[edges], 1e-30))
                edges = edges[np.argsort(-keys)[:sample_size]]
        chosen.append(edges)
        counts.append(len(edges))
    picked = np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
    out = [paddle.to_tensor(rows[picked]), paddle.to_tensor(np.array(counts, np.int32))]
    if return_eids:
        out.append(paddle.to_tensor(eids.numpy()[picked]))
    return tuple(out)


def sample_neighbors(
    row, colptr, input_nodes, sample_size=-1, eids=None, return_eids=False, perm_buffer=None, name=None
):
    """At most `sample_size` neighbours of each node (all for -1), drawn without replacement.

    Args:
        row (Tensor): the neighbours of node i are row[colptr[i] : colptr[i + 1]].
        eids (Tensor, optional): numbers of the edges, returned with `return_eids`.

    Returns:
        (neighbours, how many each node has[, edges]).

    Raises:
        ValueError: `return_eids` without `eids`.
    """
    return _sampled(row, colptr, input_nodes, sample_size, eids, return_eids, None)


def weighted_sample_neighbors(
    row, colptr, edge_weight, input_nodes, sample_size=-1, eids=None, return_eids=False, name=None
):
    """``sample_neighbors`` with edges drawn in proportion to `edge_weight`."""
    return _sampled(row, colptr, input_nodes, sample_size, eids, return_eids, edge_weight.numpy())
