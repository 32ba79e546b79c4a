"""Distributed training: process groups, collectives, and tensors spread over a mesh of processes.

Names load on first use: ``paddle.distributed.launch`` must start without the rest of the package.
"""

from __future__ import annotations

import importlib as _importlib

_NAMES = {
    name: module
    for module, names in {
        ".parallel": "init_parallel_env get_rank get_world_size ParallelEnv DataParallel is_initialized is_available "
        "destroy_process_group get_backend ParallelMode",
        ".communication.group": "Group new_group get_group wait barrier",
        ".communication.ops": "ReduceOp all_reduce all_gather all_gather_object broadcast broadcast_object_list reduce "
        "scatter scatter_object_list gather reduce_scatter alltoall alltoall_single all_to_all send recv isend irecv "
        "P2POp batch_isend_irecv send_object_list recv_object_list",
        ".fleet.layers.mpu.mp_ops": "split",
        ".fleet.base.topology": "create_nccl_config",
        ".sharding": "group_sharded_parallel save_group_sharded_model",
        ".auto_parallel.process_mesh": "ProcessMesh get_mesh set_mesh",
        ".auto_parallel.placement_type": "Placement Shard Replicate Partial ReduceType",
        ".auto_parallel.api": "DistAttr shard_tensor dtensor_from_fn dtensor_from_local dtensor_to_local reshard "
        "unshard_dtensor shard_layer",
        ".auto_parallel.intermediate.parallelize": "parallelize",
        ".auto_parallel.intermediate.pipeline_parallel": "SplitPoint",
        ".auto_parallel.intermediate.tensor_parallel": "ColWiseParallel RowWiseParallel PrepareLayerInput PrepareLayerOutput "
        "SequenceParallelBegin SequenceParallelDisable SequenceParallelEnable SequenceParallelEnd",
        ".auto_parallel.local_layer": "LocalLayer local_map",
        ".auto_parallel.shard_optimizer": "shard_optimizer ShardingStage1 ShardingStage2 ShardingStage3 shard_scaler",
        ".auto_parallel.shard_dataloader": "shard_dataloader ShardDataloader",
        ".auto_parallel.strategy": "Strategy",
        ".auto_parallel.dist_model": "DistModel to_static",
        ".checkpoint": "save_state_dict load_state_dict",
        ".spawn": "spawn",
    }.items()
    for name in names.split()
}
_SUBMODULES = frozenset(
    ["auto_parallel", "checkpoint", "collective", "communication", "fleet", "launch", "parallel", "sharding"]
)

__all__ = sorted(_NAMES)


def __getattr__(name):
    if name in _NAMES:
        value = getattr(_importlib.import_module(_NAMES[name], __name__), name)
    elif name in _SUBMODULES:
        value = _importlib.import_module("." + name, __name__)
    elif name == "stream":
        value = _importlib.import_module(".communication.stream", __name__)
    else:
        raise AttributeError(f"module 'paddle.distributed' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_NAMES) | _SUBMODULES | {"stream"})
