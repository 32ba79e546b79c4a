"""``group_sharded_parallel``: the optimizer's states, gradients and parameters cut over a group (ZeRO, Rajbhandari et al. 2020)."""

from __future__ import annotations

import os

import paddle

from .auto_parallel.api import dtensor_from_local, dtensor_to_local, shard_layer, unshard_dtensor
from .auto_parallel.placement_type import Replicate, Shard
from .auto_parallel.process_mesh import ProcessMesh
from .auto_parallel.shard_optimizer import (
    ShardingStage1,
    ShardingStage2,
    ShardingStage3,
    replace_parameters,
    shard_optimizer,
)
from .communication.group import default_group
from .communication.ops import broadcast

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]

_STAGES = {"os": ShardingStage1, "os_g": ShardingStage2, "p_g_os": ShardingStage3}


class GroupSharded(paddle.nn.Layer):
    """A model of distributed parameters to which each rank gives its part of a batch, and which returns each rank its part.

    Tensors with a batch axis are cut along axis 0; a result that is alike on all ranks (a mean over the batch) comes whole.
    """

    def __init__(self, layer, mesh) -> None:
        super().__init__(layer.full_name() + "_group_sharded")
        self._layer, self._mesh = layer, mesh

    def _in(self, value):
        if isinstance(value, paddle.Tensor) and not value.is_dist():
            return dtensor_from_local(value, self._mesh, [Shard(0) if value.ndim else Replicate()])
        if isinstance(value, (list, tuple)):
            return type(value)(self._in(v) for v in value)
        return {k: self._in(v) for k, v in value.items()} if isinstance(value, dict) else value

    def _out(self, value, batch):
        if isinstance(value, (list, tuple)):
            return type(value)(self._out(v, batch) for v in value)
        if isinstance(value, dict):
            return {k: self._out(v, batch) for k, v in value.items()}
        if not isinstance(value, paddle.Tensor) or not value.is_dist():
            return value
        if value.ndim == 0 or value.shape[0] != batch:
            return unshard_dtensor(value)
        out = dtensor_to_local(value, self._mesh, [Shard(0)])
        if not out.stop_gradient:
            # Each rank's loss is the mean over its part: the mean over all is their mean, not their sum.
            ranks = self._mesh.size
            out.register_hook(lambda grad: grad / ranks)
        return out

    def forward(self, *inputs, **kwargs):
        inputs, kwargs = self._in(inputs), self._in(kwargs)
        batch = next((v.shape[0] for v in (*inputs, *kwargs.values()) if isinstance(v, paddle.Tensor) and v.ndim), None)
        return self._out(self._layer(*inputs, **kwargs), batch)

    def state_dict(self, *args, **kwargs):
        return self._layer.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict, *args, **kwargs):
        return self._layer.set_state_dict(state_dict, *args, **kwargs)

    set_dict = load_dict = set_state_dict


def group_sharded_parallel(model, optimizer, level, scaler=None, group=None, offload=False, sync_buffers=False,
                           buffer_max_size=2**23, segment_size=2**20, sync_comm=False, dp_group=None, exclude_layer=None):  # fmt: skip
    """A model, an optimizer and a scaler whose memory is shared out over a group; each rank goes on with its part of each batch.

    Args:
        level: "os": the optimizer's states are cut; "os_g": gradients too; "p_g_os": parameters too.
        group: None: all ranks. buffer_max_size, segment_size, sync_comm: have no meaning here.

    Returns: (model, optimizer, scaler).

    Raises:
        ValueError: a level that there is not. NotImplementedError: offload, dp_group or exclude_layer.
    """
    if level not in _STAGES:
        raise ValueError(f"The level must be os, os_g or p_g_os, got {level!r}.")
    if offload or dp_group is not None or exclude_layer:
        raise NotImplementedError("[group_sharded_parallel] offload, dp_group and exclude_layer are not supported")
    group = default_group() if group is None else group
    mesh = ProcessMesh(group.ranks, ["sharding"])
    if group.nranks > 1:
        with paddle.no_grad():
            for value in model.state_dict().values():
                broadcast(value, group.ranks[0], group)
    model = shard_layer(model, mesh)
    replace_parameters(optimizer, {p.name: p for p in model.parameters()})
    optimizer = shard_optimizer(optimizer, _STAGES[level](mesh, 0))
    return GroupSharded(model, mesh), optimizer, scaler


def save_group_sharded_model(model, output, optimizer=None) -> None:
    """Writes ``model.pdmodel`` and ``model.pdopt`` with whole values into a folder. Every rank calls it; the first writes.

    Raises:
        ValueError: a model that :func:`group_sharded_parallel` did not make, or a file in place of a folder.
    """
    if not isinstance(model, GroupSharded):
        raise ValueError("Please use the layer which is wrapped with group_sharded_parallel.")
    if os.path.isfile(output):
        raise ValueError(f"Saving directory ({output}) should be a directory, not a file")
    os.makedirs(output, exist_ok=True)

    def whole(state):
        return {k: unshard_dtensor(v) if isinstance(v, paddle.Tensor) and v.is_dist() else v for k, v in state.items()}

    states = {"model.pdmodel": whole(model.state_dict())}
    if optimizer is not None:
        states["model.pdopt"] = whole(optimizer.state_dict())
    if default_group().rank == 0:
        for name, state in states.items():
            paddle.save(state, os.path.join(output, name))
