"""Optimizers over fleet's groups."""

from .dygraph_optimizer import DygraphShardingOptimizer, HybridParallelOptimizer  # noqa: F401
