"""Groups, and the collectives with gradients that layers cut over a group are made of."""

from __future__ import annotations

from .communication.group import (  # noqa: F401
    Group,
    _get_global_group,
    default_group,
    get_group,
    new_group,
)
from .communication.ops import *  # noqa: F403
from .fleet.layers.mpu.mp_ops import (  # noqa: F401
    _c_concat,
    _c_identity,
    _c_lookup_table,
    _c_softmax_with_cross_entropy,
    _c_split,
    _linear,
    _mp_allreduce,
    split,
)
from .parallel import is_available  # noqa: F401
