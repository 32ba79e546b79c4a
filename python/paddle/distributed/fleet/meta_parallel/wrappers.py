"""What fleet.distributed_model makes of a model, by the kind of parallelism."""

from __future__ import annotations

from paddle import nn

from ..utils.hybrid_parallel_util import (
    broadcast_dp_parameters,
    broadcast_mp_parameters,
    broadcast_sep_parameters,
    broadcast_sharding_parameters,
)


class MetaParallelBase(nn.Layer):
    """A model whose ranks begin with the same values. Its ``state_dict`` is the model's."""

    def __init__(self, layers, hcg, strategy=None) -> None:
        super().__init__(layers.full_name() + "_meta_parallel_base")
        self._layers, self._hcg, self._strategy = layers, hcg, strategy
        self._prepare_for_model()

    def _prepare_for_model(self) -> None:
        if self._hcg is None:
            return
        if self._hcg.get_model_parallel_world_size() > 1:
            broadcast_mp_parameters(self._layers, self._hcg)
        if self._hcg.get_sep_parallel_world_size() > 1:
            broadcast_sep_parameters(self._layers, self._hcg)
        if self._hcg.get_sharding_parallel_world_size() > 1:
            broadcast_sharding_parameters(self._layers, self._hcg)
        if self._hcg.get_data_parallel_world_size() > 1:
            broadcast_dp_parameters(self._layers, self._hcg)

    def forward(self, *inputs, **kwargs):
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args, **kwargs):
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict, *args, **kwargs):
        return self._layers.set_state_dict(state_dict, *args, **kwargs)

    set_dict = load_dict = set_state_dict

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_layers":
                raise
            return getattr(self._layers, name)


class TensorParallel(MetaParallelBase):
    """A model of layers that are cut over a group (:class:`ColumnParallelLinear` and its like)."""


class SegmentParallel(MetaParallelBase):
    """A model whose ranks see parts of each sequence; gradients are summed by the optimizer."""


class ShardingParallel(MetaParallelBase):
    """A model whose optimizer states are cut over a group."""
