"""GradScaler over fleet's groups."""

from __future__ import annotations

import paddle

from ..communication.ops import ReduceOp, all_reduce
from .base.topology import current


def distributed_scaler(scaler):
    """``scaler``, changed in place so that all ranks skip a step in which any of them found an overflow."""
    hcg = current()
    unscale = scaler._unscale

    def everywhere(optimizer):
        unscale(optimizer)
        groups = [hcg.get_check_parallel_group(), hcg.get_sharding_parallel_group(), hcg.get_data_parallel_group()]
        if any(g.nranks > 1 for g in groups):
            found = paddle.to_tensor([int(bool(scaler._found_inf))], dtype="int32")
            for group in groups:
                if group.nranks > 1:
                    all_reduce(found, ReduceOp.MAX, group)
            scaler._found_inf = bool(int(found))

    scaler._unscale = everywhere
    return scaler
