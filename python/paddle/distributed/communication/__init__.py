"""Process groups and the collectives of eager tensors."""

from __future__ import annotations

import importlib as _importlib

_NAMES = {
    name: module
    for module, names in {
        ".group": "Group barrier get_group wait",
        ".ops": "P2POp ReduceOp all_gather all_gather_object all_reduce alltoall alltoall_single batch_isend_irecv broadcast "
        "broadcast_object_list gather irecv isend recv recv_object_list reduce reduce_scatter scatter scatter_object_list "
        "send send_object_list",
        "..parallel": "destroy_process_group get_backend is_initialized",
    }.items()
    for name in names.split()
}


def __getattr__(name):
    if name in _NAMES:
        return getattr(_importlib.import_module(_NAMES[name], __name__), name)
    if name in ("stream", "group", "ops"):
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'paddle.distributed.communication' has no attribute {name!r}")
