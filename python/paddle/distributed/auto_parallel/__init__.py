"""Tensors spread over a mesh of processes, and programs made of them."""

from __future__ import annotations

import importlib as _importlib

_NAMES = {
    "ProcessMesh": ".process_mesh", "get_mesh": ".process_mesh", "set_mesh": ".process_mesh", "Strategy": ".strategy",
    "DistModel": ".dist_model", "to_static": ".dist_model", "shard_tensor": ".api", "reshard": ".api", "shard_layer": ".api",
    "dtensor_from_fn": ".api", "LocalLayer": ".local_layer", "local_map": ".local_layer",
}  # fmt: skip


def __getattr__(name):
    if name in _NAMES:
        return getattr(_importlib.import_module(_NAMES[name], __name__), name)
    raise AttributeError(f"module 'paddle.distributed.auto_parallel' has no attribute {name!r}")
