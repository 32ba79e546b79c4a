"""``fleet.distributed_optimizer``."""

from __future__ import annotations

import copy

from .meta_optimizers import HybridParallelOptimizer


def distributed_optimizer(optimizer, strategy=None):
    """The optimizer of a parallel model.

    Args:
        optimizer: of the model's parameters. strategy: None: that of :func:`fleet.init`.
    """
    from .fleet import fleet as env

    env.user_defined_optimizer = optimizer
    if strategy is not None:
        strategy._refuse_ignored()
        env._user_defined_strategy = copy.deepcopy(strategy)
    if env.worker_num() <= 1:
        return optimizer
    return HybridParallelOptimizer(optimizer, env._hcg, env._user_defined_strategy)
