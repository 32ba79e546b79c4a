"""Pipelines as lists of layers."""

from ...layers.mpu.random import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed  # noqa: F401
from .pp_layers import LayerDesc, PipelineLayer, SharedLayerDesc  # noqa: F401
