"""Tensor parallelism (Megatron-LM, Shoeybi et al. 2019): layers, operators, random states."""

from .mp_layers import (  # noqa: F401
    ColumnParallelLinear,
    ParallelCrossEntropy,
    RowParallelLinear,
    VocabParallelEmbedding,
)
from .mp_ops import split  # noqa: F401
from .random import RNGStatesTracker, dropout, get_rng_state_tracker, model_parallel_random_seed  # noqa: F401

__all__ = []
