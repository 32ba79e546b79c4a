"""Fleet: parallel training of programs for Paddle 2.x, on collectives.

``init`` makes the groups of a hybrid of data, tensor, pipeline, sharding and segment parallelism; ``distributed_model`` and
``distributed_optimizer`` make a model and an optimizer part of it.
"""

from __future__ import annotations

import importlib as _importlib

_NAMES = {
    name: module
    for module, names in {
        ".base.distributed_strategy": "DistributedStrategy",
        ".base.role_maker": "PaddleCloudRoleMaker Role UserDefinedRoleMaker",
        ".base.topology": "CommunicateTopology HybridCommunicateGroup",
        ".base.util_factory": "UtilBase",
        ".data_generator": "MultiSlotDataGenerator MultiSlotStringDataGenerator",
        ".fleet": "Fleet",
        ".model": "distributed_model",
        ".optimizer": "distributed_optimizer",
        ".scaler": "distributed_scaler",
        ".utils.log_util": "set_log_level get_log_level_code get_log_level_name",
        ".recompute": "recompute recompute_hybrid recompute_sequential",
    }.items()
    for name in names.split()
}
# Functions of the one Fleet.
_METHODS = frozenset(
    "init is_first_worker worker_index worker_num node_num local_device_ids world_device_ids local_rank is_worker "
    "is_coordinator worker_endpoints server_num server_index server_endpoints is_server util barrier_worker all_reduce "
    "init_worker init_server run_server stop_worker save_inference_model save_persistables minimize "
    "get_hybrid_communicate_group".split()
)
_SAME = {"rank": "worker_index", "nranks": "worker_num", "world_size": "worker_num", "rank_in_node": "local_rank"}
_SUBMODULES = frozenset(
    ["base", "data_generator", "layers", "meta_optimizers", "meta_parallel", "model", "recompute", "scaler", "utils"]
)
from .fleet import fleet  # noqa: E402  (the object hides its module, as clients expect)

__all__ = ["CommunicateTopology", "DistributedStrategy", "Fleet", "HybridCommunicateGroup", "PaddleCloudRoleMaker", "Role",
           "UserDefinedRoleMaker", "UtilBase"]  # fmt: skip


def __getattr__(name):
    if name in _METHODS or name in _SAME:
        return getattr(fleet, _SAME.get(name, name))
    if name in _NAMES:
        value = getattr(_importlib.import_module(_NAMES[name], __name__), name)
    elif name == "auto":
        value = _importlib.import_module("..auto_parallel", __name__)
    elif name in _SUBMODULES:
        value = _importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module 'paddle.distributed.fleet' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_NAMES, *_METHODS, *_SAME, *_SUBMODULES, "auto"})
