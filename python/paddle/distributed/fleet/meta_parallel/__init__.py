"""Models in parallel: layers cut over ranks, pipelines, and the wrappers that fleet.distributed_model makes."""

from ..layers.mpu.mp_layers import (  # noqa: F401
    ColumnParallelLinear,
    ParallelCrossEntropy,
    RowParallelLinear,
    VocabParallelEmbedding,
)
from ..layers.mpu.random import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed  # noqa: F401
from .parallel_layers.pp_layers import LayerDesc, LocalSharedLayerDesc, PipelineLayer, SharedLayerDesc  # noqa: F401
from .pipeline_parallel import (  # noqa: F401
    NoPipelineParallel,
    PipelineParallel,
    PipelineParallelWithInterleave,
)
from .wrappers import MetaParallelBase, SegmentParallel, ShardingParallel, TensorParallel  # noqa: F401

__all__ = []
