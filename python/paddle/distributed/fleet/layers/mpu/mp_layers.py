"""Layers whose weights are cut over a tensor-parallel group. Each rank makes its part, of the size that its share has."""

from __future__ import annotations

import contextlib

from paddle import nn
from paddle.nn import functional as F

from ...base.topology import current
from . import mp_ops
from .random import MODEL_PARALLEL_RNG, get_rng_state_tracker


def _share(what, size, group) -> int:
    if size % group.nranks:
        raise ValueError(f"[{what}] expected a size that {group.nranks} ranks share equally, got {size}")
    return size // group.nranks


def _own_random_state():
    """Parts of one weight are drawn apart on each rank, if :func:`model_parallel_random_seed` was called."""
    tracker = get_rng_state_tracker()
    return tracker.rng_state() if MODEL_PARALLEL_RNG in tracker.states_ else contextlib.nullcontext()


class _Parallel(nn.Layer):
    def __init__(self, mp_group) -> None:
        super().__init__()
        group = current().get_model_parallel_group() if mp_group is None else mp_group
        self.model_parallel_group = group
        self.world_size, self.rank = group.nranks, group.rank
        self.is_mp = group.nranks > 1

    def _part(self, shape, attr, axis, is_bias=False):
        with _own_random_state() if self.is_mp else contextlib.nullcontext():
            p = self.create_parameter(shape, attr=attr, is_bias=is_bias)
        p.is_distributed = self.is_mp
        if self.is_mp:
            p.split_axis = axis
        return p


class VocabParallelEmbedding(_Parallel):
    """An embedding of which each rank has a range of rows.

    Args:
        num_embeddings: rows of the whole table, a multiple of the group's size. embedding_dim: columns.
        weight_attr: of the table. mp_group: None: fleet's tensor-parallel group.
    """

    def __init__(self, num_embeddings, embedding_dim, weight_attr=None, mp_group=None, name=None) -> None:
        super().__init__(mp_group)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        rows = _share("VocabParallelEmbedding", num_embeddings, self.model_parallel_group)
        self.vocab_start_index = self.rank * rows
        self.weight = self._part([rows, embedding_dim], weight_attr, 0)

    def forward(self, x):
        """x: integers of any shape. Returns [*x.shape, embedding_dim], alike on all ranks."""
        if not self.is_mp:
            return F.embedding(x, self.weight)
        found = mp_ops._c_lookup_table(self.weight, x, self.vocab_start_index, self.num_embeddings)
        return mp_ops._mp_allreduce(found, group=self.model_parallel_group)


class ColumnParallelLinear(_Parallel):
    """A linear layer of which each rank has a range of output features.

    Args:
        in_features, out_features: of the whole; out_features is a multiple of the group's size.
        has_bias: whether there is a bias, cut likewise. gather_output: the whole output on each rank, else its part.
        fuse_matmul_bias: has no meaning: fusion is the compiler's. mp_group: None: fleet's tensor-parallel group.
    """

    def __init__(self, in_features, out_features, weight_attr=None, has_bias=None, gather_output=True, fuse_matmul_bias=False,
                 mp_group=None, name=None) -> None:  # fmt: skip
        super().__init__(mp_group)
        self.in_features, self.out_features, self.gather_output = in_features, out_features, gather_output
        self.output_size_per_partition = _share("ColumnParallelLinear", out_features, self.model_parallel_group)
        self.weight = self._part([in_features, self.output_size_per_partition], weight_attr, 1)
        self.bias = self._part([self.output_size_per_partition], None, 0, is_bias=True) if has_bias else None

    def forward(self, x):
        """x: [..., in_features], alike on all ranks."""
        group = self.model_parallel_group
        out = F.linear(mp_ops._c_identity(x, group) if self.is_mp else x, self.weight, self.bias)
        return mp_ops._c_concat(out, group) if self.gather_output and self.is_mp else out


class RowParallelLinear(_Parallel):
    """A linear layer of which each rank has a range of input features; the results are summed, then the bias is added.

    Args:
        in_features, out_features: of the whole; in_features is a multiple of the group's size.
        input_is_parallel: the input is this rank's part already (what a ColumnParallelLinear that gathers nothing gives).
        has_bias, fuse_matmul_bias, mp_group: as ColumnParallelLinear's; the bias is whole on each rank.
    """

    def __init__(self, in_features, out_features, weight_attr=None, has_bias=True, input_is_parallel=False,
                 fuse_matmul_bias=False, mp_group=None, name=None) -> None:  # fmt: skip
        super().__init__(mp_group)
        self.in_features, self.out_features, self.input_is_parallel = in_features, out_features, input_is_parallel
        self.input_size_per_partition = _share("RowParallelLinear", in_features, self.model_parallel_group)
        self.weight = self._part([self.input_size_per_partition, out_features], weight_attr, 0)
        self.bias = self.create_parameter([out_features], is_bias=True) if has_bias else None
        if self.bias is not None:
            self.bias.is_distributed = False

    def forward(self, x):
        """x: [..., in_features], or this rank's part of it. Returns [..., out_features], alike on all ranks."""
        group = self.model_parallel_group
        if not self.is_mp:
            return F.linear(x, self.weight, self.bias)
        part = x if self.input_is_parallel else mp_ops._c_split(x, group)
        out = mp_ops._mp_allreduce(F.linear(part, self.weight), group=group)
        return out if self.bias is None else out + self.bias


class ParallelCrossEntropy(nn.Layer):
    """Softmax cross entropy of logits whose classes are cut over the group; loss [..., 1].

    Args:
        mp_group: None: fleet's tensor-parallel group. ignore_index: a label whose loss is 0.
    """

    def __init__(self, mp_group=None, name=None, ignore_index=-100) -> None:
        super().__init__()
        self.model_parallel_group = current().get_model_parallel_group() if mp_group is None else mp_group
        self.world_size, self.rank = self.model_parallel_group.nranks, self.model_parallel_group.rank
        self.ignore_index = ignore_index

    def forward(self, input, label):
        return mp_ops._c_softmax_with_cross_entropy(
            input, label, self.model_parallel_group, ignore_index=self.ignore_index
        )
