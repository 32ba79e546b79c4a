"""``paddle.distributed.parallelize``."""

from __future__ import annotations

import re

from ..api import shard_tensor
from ..placement_type import Replicate
from ..process_mesh import get_mesh, set_mesh
from ..shard_optimizer import ShardingStage1, ShardingStage2, ShardingStage3, replace_parameters, shard_optimizer
from .pipeline_parallel import move_inputs, stages_by_layer

_STAGES = {1: ShardingStage1, 2: ShardingStage2, 3: ShardingStage3}


def parallelize(model, optimizer=None, mesh=None, config=None):
    """A model written for one process, and its optimizer, as distributed ones, by plans.

    Args:
        model: a Layer. optimizer: of its parameters, or None.
        mesh: a ProcessMesh with dimensions of the names "dp", "mp", "pp", those that there are; None: that of ``set_mesh``.
        config: a dictionary of

            - ``dp_config``: ``{"sharding_level": 0 to 3}``: how finely the optimizer's states (2: gradients, 3: parameters) are cut
              along "dp";
            - ``mp_config``: ``{"parallelize_plan": {name: plan or list of plans}}``; a name is a regular expression for a layer's
              whole name, or for a parameter's (``...weight``); plans are :class:`ColWiseParallel` and its like;
            - ``pp_config``: ``{"split_spec": prefix of numbered layers that are shared out, or {name: SplitPoint}}``.

    Returns: (model, optimizer).

    Raises:
        ValueError: there is no mesh, a plan's name matches nothing, or stages can't be cut so.
    """
    if config is None:
        return model, optimizer
    if mesh is not None:
        set_mesh(mesh)
    mesh = get_mesh()
    if mesh is None:
        raise ValueError("[parallelize] expected a mesh, given or set by paddle.distributed.set_mesh")
    unknown = set(config) - {"dp_config", "mp_config", "pp_config"}
    if unknown:
        raise NotImplementedError(f"[parallelize] expected dp_config, mp_config and pp_config, got {sorted(unknown)}")
    stages = mesh.get_dim_size("pp") if "pp" in mesh.dim_names else 1
    meshes = [mesh.get_mesh_with_dim("pp", s) for s in range(stages)] if stages > 1 else [mesh]
    spec = (config.get("pp_config") or {}).get("split_spec")
    if stages > 1 and spec is None:
        raise ValueError("[parallelize] expected pp_config['split_spec'] for a mesh with a dimension 'pp'")
    stage_of, parts = stages_by_layer(model, spec, stages)
    before = {p.name for p in model.parameters()}
    shared = _shared(model)
    for pattern, plans in ((config.get("mp_config") or {}).get("parallelize_plan") or {}).items():
        _apply(model, pattern, plans, lambda layer: meshes[stage_of[id(layer)]])
    _rest(model, lambda layer: meshes[stage_of[id(layer)]], shared)
    if stages > 1:
        for layer, stage in parts:
            move_inputs(layer, meshes[stage])
    if optimizer is not None:
        replace_parameters(optimizer, {p.name: p for p in model.parameters() if p.name in before})
        level = (config.get("dp_config") or {}).get("sharding_level", 0)
        if int(level) not in (0, *_STAGES):
            raise ValueError(f"[parallelize] expected dp_config['sharding_level'] in 0, 1, 2, 3, got {level}")
        if level:
            optimizer = shard_optimizer(optimizer, _STAGES[int(level)](None, "dp"))
        else:
            optimizer = shard_optimizer(optimizer)
    return model, optimizer


def _apply(model, pattern, plans, mesh_of) -> None:
    plans = plans if isinstance(plans, (list, tuple)) else [plans]
    found = False
    for name, layer in model.named_sublayers():
        names = [
            n for n in layer._parameters if layer._parameters[n] is not None and re.fullmatch(pattern, f"{name}.{n}")
        ]
        if not re.fullmatch(pattern, name) and not names:
            continue
        found = True
        for plan in plans:
            plan.apply(layer, mesh_of(layer), names or None)
    if not found:
        raise ValueError(f"[parallelize] no layer or parameter of the model is called {pattern!r}")


def _shared(model) -> dict:
    """(layer, name) of each place of a parameter that has several, by the parameter's id."""
    places: dict = {}
    for layer in model.sublayers(include_self=True):
        for name, p in layer._parameters.items():
            if p is not None:
                places.setdefault(id(p), []).append((layer, name))
    return {key: value for key, value in places.items() if len(value) > 1}


def _rest(model, mesh_of, shared) -> None:
    """What no plan cut is replicated; a parameter in several places stays one, where its first place has it."""
    for places in shared.values():
        made = next((layer._parameters[n] for layer, n in places if layer._parameters[n].is_dist()), None)
        if made is None:
            layer, name = places[0]
            mesh = mesh_of(layer)
            made = shard_tensor(layer._parameters[name], mesh, [Replicate()] * mesh.ndim)
        for layer, name in places:
            setattr(layer, name, made)
    for layer in model.sublayers(include_self=True):
        mesh = mesh_of(layer)
        everywhere = [Replicate() for _ in range(mesh.ndim)]
        for name, p in list(layer._parameters.items()):
            if p is not None and not p.is_dist():
                setattr(layer, name, shard_tensor(p, mesh, everywhere))
        for name, b in list(layer._buffers.items()):
            if b is not None and not b.is_dist():
                layer._buffers[name] = shard_tensor(b, mesh, everywhere)
