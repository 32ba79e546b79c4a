"""Sequence parallelism within a tensor-parallel group (Korthikanti et al. 2022): between the layers that are cut, activations are cut
along the sequence, which is axis 0."""

from __future__ import annotations

import paddle
from paddle import _C_ops
from paddle.autograd import PyLayer
from paddle.nn import functional as F

from ...communication.ops import ReduceOp, all_reduce
from ..base.topology import current
from ..layers.mpu import mp_ops
from ..layers.mpu.mp_layers import ColumnParallelLinear, RowParallelLinear
from .hybrid_parallel_util import fused_allreduce_gradients_with_group


def _group():
    return current().get_model_parallel_group()


def scatter(input):
    """This rank's part along axis 0."""
    group = _group()
    return input if group.nranks == 1 else mp_ops._part(input, group, 0)


def all_gather(input):
    """The ranks' parts joined along axis 0."""
    group = _group()
    return input if group.nranks == 1 else mp_ops._join(input, group, 0)


def reduce_scatter(input):
    """This rank's part along axis 0 of the ranks' sum."""
    group = _group()
    if group.nranks == 1:
        return input
    if input.shape[0] % group.nranks:
        raise ValueError(
            f"[reduce_scatter] expected a sequence that {group.nranks} ranks share equally, got {input.shape[0]}"
        )
    return _C_ops.reduce_scatter(input, group.id, group.nranks, ReduceOp.SUM, 0)


def _operator(name, doc, forward, backward):
    def _forward(ctx, input):
        return forward(input)

    def _backward(ctx, grad):
        return backward(grad)

    return type(PyLayer)(name, (PyLayer,), {"__doc__": doc, "__module__": __name__, "forward": staticmethod(_forward),
                                            "backward": staticmethod(_backward)})  # fmt: skip


ScatterOp = _operator("ScatterOp", ":func:`scatter`; backward gathers.", scatter, all_gather)
GatherOp = _operator("GatherOp", ":func:`all_gather`; backward takes this rank's part.", all_gather, scatter)
AllGatherOp = _operator("AllGatherOp", ":func:`all_gather`; backward reduces and scatters.", all_gather, reduce_scatter)
ReduceScatterOp = _operator("ReduceScatterOp", ":func:`reduce_scatter`; backward gathers.", reduce_scatter, all_gather)


class ColumnSequenceParallelLinear(ColumnParallelLinear):
    """A ColumnParallelLinear whose input is this rank's part of the sequence; the output has all of it and this rank's features."""

    def __init__(self, in_features, out_features, weight_attr=None, has_bias=None, gather_output=True, fuse_matmul_bias=False,
                 mp_group=None, name=None) -> None:  # fmt: skip
        if gather_output:
            raise ValueError("[ColumnSequenceParallelLinear] expected gather_output=False")
        super().__init__(in_features, out_features, weight_attr, has_bias, False, fuse_matmul_bias, mp_group, name)

    def forward(self, x):
        return F.linear(AllGatherOp.apply(x) if self.is_mp else x, self.weight, self.bias)


class RowSequenceParallelLinear(RowParallelLinear):
    """A RowParallelLinear whose output is this rank's part of the sequence."""

    def __init__(self, in_features, out_features, weight_attr=None, has_bias=True, input_is_parallel=False,
                 fuse_matmul_bias=False, mp_group=None, name=None) -> None:  # fmt: skip
        if not input_is_parallel:
            raise ValueError("[RowSequenceParallelLinear] expected input_is_parallel=True")
        super().__init__(in_features, out_features, weight_attr, has_bias, True, fuse_matmul_bias, mp_group, name)
        if self.bias is not None and self.is_mp:
            mark_as_sequence_parallel_parameter(self.bias)

    def forward(self, x):
        out = F.linear(x, self.weight)
        out = ReduceScatterOp.apply(out) if self.is_mp else out
        return out if self.bias is None else out + self.bias


def mark_as_sequence_parallel_parameter(parameter) -> None:
    """Says that ``parameter`` (of a norm, a bias) is alike on all ranks and sees only a part of the sequence on each."""
    parameter.sequence_parallel = True


def is_sequence_parallel_parameter(parameter) -> bool:
    return bool(getattr(parameter, "sequence_parallel", False))


def register_sequence_parallel_allreduce_hooks(
    model, accumulation_steps=1, fuse_sequence_parallel_allreduce=False
) -> None:
    """After every ``accumulation_steps`` backwards the gradients of marked parameters are summed over the group.

    Args:
        fuse_sequence_parallel_allreduce: all at once when the last has come, else each when it comes.
    """
    if accumulation_steps <= 0 or not paddle.distributed.is_initialized() or _group().nranks <= 1:
        return
    group = _group()
    params = [p for p in model.parameters() if is_sequence_parallel_parameter(p) and not p.stop_gradient]
    for bucket in [params] if fuse_sequence_parallel_allreduce else [[p] for p in params]:
        _hook(bucket, group, accumulation_steps)


def _hook(params, group, steps) -> None:
    count = [0]

    def reduce():
        count[0] += 1
        if count[0] == steps * len(params):
            count[0] = 0
            with paddle.no_grad():
                if len(params) == 1:
                    all_reduce(params[0].grad, group=group)
                else:
                    fused_allreduce_gradients_with_group(params, group, scale=1.0)

    for p in params:
        p._register_backward_hook(reduce)
