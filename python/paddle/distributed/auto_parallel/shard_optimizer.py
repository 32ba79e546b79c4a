"""Optimizers whose states are spread as their parameters, or more finely (ZeRO)."""

from __future__ import annotations

import paddle

from .api import attr_of, reshard, shard_tensor
from .placement_type import Replicate, Shard
from .process_mesh import get_mesh


class _ShardingStage:
    def __init__(self, mesh=None, sharding_mesh_dim=None) -> None:
        # Both orders occur: (mesh, dim) in 3.0, (dim, mesh) later.
        if isinstance(mesh, (str, int)) or (mesh is None and sharding_mesh_dim is not None):
            mesh, sharding_mesh_dim = sharding_mesh_dim if not isinstance(sharding_mesh_dim, str) else None, mesh
        self._mesh, self._dim = mesh, sharding_mesh_dim

    def _axis(self, mesh) -> int:
        return 0 if self._dim is None else mesh.dim_names.index(self._dim) if isinstance(self._dim, str) else self._dim

    def _spread(self, tensor, like):
        """``tensor`` sharded along the sharding axis on a dimension that divides; itself where none does."""
        attr = attr_of(like)
        mesh = attr[0] if attr else (self._mesh or get_mesh())
        placements = list(attr[1]) if attr else [Replicate() for _ in range(mesh.ndim)]
        axis = self._axis(mesh)
        if not placements[axis].is_replicated():
            return reshard(tensor, mesh, placements) if attr else tensor
        taken = {p.get_dim() for p in placements if p.is_shard()}
        for dim, size in enumerate(like.shape):
            if dim not in taken and size % mesh.shape[axis] == 0:
                placements[axis] = Shard(dim)
                break
        return reshard(tensor, mesh, placements)

    def shard_master_weight(self, param, master_weight):
        """A parameter's float32 copy, as its other states lie."""
        return self._spread(master_weight, param)


class ShardingStage1(_ShardingStage):
    """The optimizer's states are sharded along a dimension of the mesh (ZeRO stage 1)."""

    def __call__(self, key, param, accumulator):
        return self._spread(accumulator, param) if list(accumulator.shape) == list(param.shape) else accumulator


class ShardingStage2(ShardingStage1):
    """As stage 1; gradients are only ever needed where the states lie, so they are reduced to shards."""


class ShardingStage3(ShardingStage1):
    """Parameters are sharded too; operators gather what they need."""

    def shard_parameters(self, params) -> None:
        """Cuts the parameters' values in place among the processes; those without dimensions stay whole."""
        for p in params:
            if p.ndim:
                value = self._spread(p.detach(), p)
                stop = p.stop_gradient
                value._share_buffer_to(p)
                p.stop_gradient = stop


class _ShardOptimizer:
    """An optimizer whose new states pass through ``shard_fn``. All else is the inner optimizer's."""

    def __init__(self, optimizer, shard_fn=None, gradient_accumulation_steps=1) -> None:
        self.__dict__["_inner_opt"] = optimizer
        self.__dict__["_shard_fn"] = shard_fn
        self.__dict__["gradient_accumulation_steps"] = gradient_accumulation_steps
        if isinstance(shard_fn, ShardingStage3):
            shard_fn.shard_parameters(self._parameters())
        if shard_fn is not None:
            self._hook_accumulators()

    def _parameters(self) -> list:
        groups = self._inner_opt._parameter_list or []
        return [p for g in groups for p in (g["params"] if isinstance(g, dict) else [g])]

    def _hook_accumulators(self) -> None:
        inner, make, shard = self._inner_opt, self._inner_opt._add_accumulator, self._shard_fn

        def add_accumulator(name, param, *args, **kwargs):
            known = param.name in inner._accumulators[name]
            value = make(name, param, *args, **kwargs)
            if known:
                return value
            with paddle.no_grad():
                sharded = shard(name, param, value)
            if sharded is not value:
                sharded.name, sharded.persistable, sharded.stop_gradient = value.name, True, True
                inner._accumulators[name][param.name] = sharded
            return sharded

        inner._add_accumulator = add_accumulator
        if isinstance(shard, _ShardingStage):
            self._hook_masters()

    def _hook_masters(self) -> None:
        """Float32 copies of 16-bit parameters are states, too."""
        inner, make, shard = self._inner_opt, self._inner_opt._create_master_weight, self._shard_fn

        def create_master_weight(param):
            known = inner._master_weights.get(param.name)
            if known is not None:
                return known
            value = make(param)
            with paddle.no_grad():
                sharded = shard.shard_master_weight(param, value)
            if sharded is not value:
                sharded.name, sharded.persistable, sharded.stop_gradient = value.name, True, True
                inner._master_weights[param.name] = sharded
            return sharded

        inner._create_master_weight = create_master_weight

    def __getattr__(self, name):
        return getattr(self.__dict__["_inner_opt"], name)

    def __setattr__(self, name, value) -> None:
        setattr(self._inner_opt, name, value)


def replace_parameters(optimizer, by_name) -> None:
    """The optimizer's parameters become those of the same names: parameters are made anew when they become distributed."""

    def new(p):
        return by_name.get(p.name, p)

    listed, groups = optimizer._parameter_list, optimizer._param_groups
    for group in groups:
        if isinstance(group, dict):
            group["params"] = [new(p) for p in group["params"]]
    optimizer._parameter_list = [
        {**p, "params": [new(q) for q in p["params"]]} if isinstance(p, dict) else new(p) for p in listed
    ]
    if not any(isinstance(group, dict) for group in groups):
        optimizer._param_groups = optimizer._parameter_list


def shard_optimizer(optimizer, shard_fn=None, gradient_accumulation_steps=1):
    """The optimizer for distributed parameters. States lie as their parameters do; ``shard_fn(name, parameter, state)`` may put them
    elsewhere (:class:`ShardingStage1` and its like)."""
    return _ShardOptimizer(optimizer, shard_fn, gradient_accumulation_steps)


def shard_scaler(scaler):
    """A GradScaler for distributed gradients: looks for overflow in the whole tensors already."""
    return scaler


__all__ = ["ShardingStage1", "ShardingStage2", "ShardingStage3", "shard_optimizer", "shard_scaler", "shard_tensor"]
