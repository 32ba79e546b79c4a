"""What is on trial."""

from __future__ import annotations

import importlib

_LAZY = {"LookAhead": ".optimizer", "ModelAverage": ".optimizer", "softmax_mask_fuse": ".operators",
         "softmax_mask_fuse_upper_triangle": ".operators", "identity_loss": ".operators",
         "graph_send_recv": ".operators", "graph_reindex": ".operators", "graph_sample_neighbors": ".operators"}  # fmt: skip
_STATES = ("get_rng_state", "set_rng_state", "register_rng_state_as_index")
_FROM_GEOMETRIC = {
    "segment_sum": "segment_sum", "segment_mean": "segment_mean", "segment_max": "segment_max",
    "segment_min": "segment_min",
}  # fmt: skip
_MODULES = ("optimizer", "autograd", "multiprocessing", "nn", "operators", "asp", "framework")
__all__ = [*_LAZY, *_FROM_GEOMETRIC]


def __getattr__(name):
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name], __name__), name)
    elif name in _FROM_GEOMETRIC:
        value = getattr(importlib.import_module("..geometric", __name__), _FROM_GEOMETRIC[name])
    elif name in _STATES:
        value = getattr(importlib.import_module(".framework", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module 'paddle.incubate' has no attribute {name!r}")
    globals()[name] = value
    return value
