"""Values and gradients alike among the ranks of fleet's groups."""

from __future__ import annotations

import paddle

from ...communication.ops import ReduceOp, all_reduce, broadcast

_BUCKET_BYTES = 128 << 20


def _is_cut(p) -> bool:
    """Do the ranks of the tensor-parallel group have parts of this parameter?"""
    return bool(getattr(p, "is_distributed", False))


def _broadcast(model, group, keep=lambda p: False) -> None:
    with paddle.no_grad():
        for value in model.state_dict().values():
            if not keep(value):
                broadcast(value, group.ranks[0], group)


def broadcast_mp_parameters(model, hcg) -> None:
    """What is not cut becomes that of the tensor-parallel group's first rank."""
    _broadcast(model, hcg.get_model_parallel_group(), _is_cut)


def broadcast_dp_parameters(model, hcg) -> None:
    """All becomes that of the data-parallel group's first rank."""
    _broadcast(model, hcg.get_data_parallel_group())


def broadcast_sep_parameters(model, hcg) -> None:
    """All becomes that of the segment-parallel group's first rank."""
    _broadcast(model, hcg.get_sep_parallel_group())


def broadcast_sharding_parameters(model, hcg) -> None:
    """All becomes that of the sharding group's first rank."""
    _broadcast(model, hcg.get_sharding_parallel_group())


def _buckets(params):
    """Parameters of one dtype whose gradients are reduced together."""
    by_dtype: dict = {}
    for p in params:
        by_dtype.setdefault(p.grad.dtype, []).append(p)
    for same in by_dtype.values():
        bucket, size = [], 0
        for p in same:
            bucket.append(p)
            size += p.size * p.grad.itemsize
            if size >= _BUCKET_BYTES:
                yield bucket
                bucket, size = [], 0
        if bucket:
            yield bucket


def reduce_gradients(params, group, op=ReduceOp.AVG) -> None:
    """Reduces the gradients over the group, many at once."""
    with paddle.no_grad():
        for bucket in _buckets([p for p in params if p.grad is not None]):
            flat = paddle.concat([p.grad.reshape([-1]) for p in bucket])
            all_reduce(flat, op, group)
            at = 0
            for p in bucket:
                p.grad.copy_(flat[at : at + p.size].reshape(p.grad.shape))
                at += p.size


def fused_allreduce_gradients_with_group(parameter_list, group, bucket_size=_BUCKET_BYTES, scale=None) -> None:
    """Sums the gradients over a group and divides them by ``scale``; None: by the number of its ranks."""
    if group is None or group.nranks <= 1:
        return
    parameter_list = list(parameter_list)
    reduce_gradients(parameter_list, group, ReduceOp.AVG if scale is None else ReduceOp.SUM)
    if scale is not None and scale != 1:
        with paddle.no_grad():
            for p in parameter_list:
                if p.grad is not None:
                    p.grad.scale_(1.0 / scale)


def fused_allreduce_gradients(parameter_list, hcg=None) -> None:
    """Averages the gradients over the data-parallel ranks of ``hcg`` (None: over all ranks), and sums them over its
    segment-parallel ones."""
    from ...communication.group import default_group

    parameter_list = list(parameter_list)
    if hcg is None:
        return fused_allreduce_gradients_with_group(parameter_list, default_group())
    if hcg.get_sep_parallel_world_size() > 1:
        fused_allreduce_gradients_with_group(parameter_list, hcg.get_sep_parallel_group(), scale=1)
    if hcg.get_data_parallel_world_size() > 1:
        fused_allreduce_gradients_with_group(parameter_list, hcg.get_data_parallel_group())
    return None


def sharding_reduce_gradients(parameter_list, hcg) -> None:
    """Averages the gradients over the sharding group."""
    fused_allreduce_gradients_with_group(parameter_list, hcg.get_sharding_parallel_group())


def unwrap_optimizer(optimizer, optimizer_instances=()):
    """The optimizer inside of wrappers of the given classes."""
    while isinstance(optimizer, optimizer_instances):
        optimizer = optimizer._inner_opt
    return optimizer


def obtain_optimizer_parameters_list(optimizer) -> list:
    """All parameters of an optimizer, of its groups too."""
    groups = optimizer._parameter_list or []
    return [p for g in groups for p in (g["params"] if isinstance(g, dict) else [g])]
