"""Stages by the names of layers: which part of the mesh each layer lies on."""

from __future__ import annotations

import enum
import re

import paddle

from ..api import reshard_axes


class SplitPoint(enum.Enum):
    """Where a stage is cut off: before a layer, or after it."""

    BEGINNING = 0
    END = 1


def _cuts(model, spec, stages) -> dict:
    """Layer name -> SplitPoint, for ``stages - 1`` layers.

    Raises:
        ValueError: names that the model has not, or another number of cuts.
    """
    names = [name for name, _ in model.named_sublayers()]
    if isinstance(spec, dict):
        cuts = dict(spec)
    else:
        prefixes = [spec] if isinstance(spec, str) else list(spec)
        matched = [n for n in names if any(n == p or re.fullmatch(re.escape(p) + r"\.\d+", n) for p in prefixes)]
        matched = [n for n in matched if not any(m.startswith(n + ".") for m in matched)]
        if len(matched) < stages:
            raise ValueError(
                f"[parallelize] expected at least {stages} layers {prefixes} for {stages} stages, got {matched}"
            )
        size, more = divmod(len(matched), stages)
        ends = [sum(size + (i < more) for i in range(s + 1)) for s in range(stages - 1)]
        cuts = {matched[end - 1]: SplitPoint.END for end in ends}
    unknown = [n for n in cuts if n not in names]
    if unknown or len(cuts) != stages - 1:
        raise ValueError(
            f"[parallelize] expected split_spec to name {stages - 1} layers of the model for {stages} stages, got {list(cuts)}"
        )
    return cuts


def stages_by_layer(model, spec, stages):
    """(stage of each layer that has parameters of its own or is a leaf, by id; the largest layers that lie in one stage)."""
    cuts = _cuts(model, spec, stages) if stages > 1 else {}
    own: dict = {}
    current = 0

    def walk(layer, name):
        """The stages that the layer's subtree has; largest single-stage layers go to ``whole``."""
        nonlocal current
        if cuts.get(name) is SplitPoint.BEGINNING:
            current += 1
        own[id(layer)] = current
        seen, inner = set(), []
        children = [(f"{name}.{n}" if name else n, c) for n, c in layer.named_children()]
        for child_name, child in children:
            their, whole = walk(child, child_name)
            seen |= their
            inner += whole
        if not children or layer._parameters:
            seen.add(own[id(layer)])
        if cuts.get(name) is SplitPoint.END:
            current += 1
        return seen, [(layer, next(iter(seen)))] if len(seen) == 1 and name else inner

    _, whole = walk(model, "")
    return own, whole


def move_inputs(layer, mesh) -> None:
    """Distributed inputs of the layer that lie on another mesh are moved to its own."""

    def move(value):
        if isinstance(value, paddle.Tensor):
            return reshard_axes(value, mesh, [None] * mesh.ndim)
        if isinstance(value, (list, tuple)):
            return type(value)(move(v) for v in value)
        return {k: move(v) for k, v in value.items()} if isinstance(value, dict) else value

    def hook(layer, inputs, kwargs):
        return move(inputs), move(kwargs)

    layer.register_forward_pre_hook(hook, with_kwargs=True)
