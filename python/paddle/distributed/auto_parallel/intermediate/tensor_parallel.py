"""Plans for layers: how their parameters, inputs and outputs lie along the mesh dimension ``mp``."""

from __future__ import annotations

import paddle
from paddle import nn

from ..api import reshard_axes, shard_tensor
from ..placement_type import Replicate, Shard

_AXIS = "mp"


def _axis(mesh) -> int:
    if _AXIS not in mesh.dim_names:
        raise ValueError(f"[parallelize] expected a mesh with a dimension {_AXIS!r}, got {mesh.dim_names}")
    return mesh.dim_names.index(_AXIS)


def _first(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def _with_first(value, new):
    return type(value)([new, *value[1:]]) if isinstance(value, (tuple, list)) else new


def placed(tensor, mesh, placement):
    """``tensor`` with ``placement`` along the axis, and as it lies along the others."""
    return reshard_axes(tensor, mesh, [placement if a == _axis(mesh) else None for a in range(mesh.ndim)])


def shard_parameter(layer, name, mesh, placement) -> None:
    """A parameter becomes a distributed one, cut along the axis."""
    p = getattr(layer, name, None)
    if p is None or p.is_dist():
        return
    placements = [Replicate() for _ in range(mesh.ndim)]
    if placement is not None:
        placements[_axis(mesh)] = placement
    setattr(layer, name, shard_tensor(p, mesh, placements))


class PlanBase:
    """What is done to a layer: ``apply(layer, process_mesh, shard_param_list)``; the list names the parameters that are meant,
    None: all."""

    def apply(self, layer, process_mesh, shard_param_list=None):
        raise NotImplementedError


class _Cut(PlanBase):
    _linear: dict = {}
    _embedding: dict = {}

    def _cut(self, layer, mesh, names) -> None:
        if isinstance(layer, nn.Linear):
            places = self._linear
        elif isinstance(layer, nn.Embedding):
            places = self._embedding
        elif names:  # a layer of another kind, whose parameters are named: as a linear layer's
            places = {n: self._linear["weight" if getattr(layer, n).ndim > 1 else "bias"] for n in names}
        else:
            raise NotImplementedError(f"[{type(self).__name__}] expected a Linear or an Embedding, got {type(layer).__name__}; name its "
                                      "parameters in the plan's key")  # fmt: skip
        for name in names or places:
            if name in places:
                shard_parameter(layer, name, mesh, places[name])


class ColWiseParallel(_Cut):
    """A Linear's output features, or an Embedding's columns, are cut.

    Args:
        gather_output: the output is made whole, else it stays cut along its last axis.
    """

    _linear, _embedding = {"weight": Shard(1), "bias": Shard(0)}, {"weight": Shard(1)}

    def __init__(self, gather_output=False) -> None:
        self.gather_output = gather_output

    def gather_output_hook(self, process_mesh):
        """A hook after ``forward`` that makes the layer's output whole on every process."""

        def gather(layer, input, output):
            return placed(output, process_mesh, Replicate())

        return gather

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        self._cut(layer, process_mesh, shard_param_list)
        if self.gather_output:
            layer.register_forward_post_hook(self.gather_output_hook(process_mesh))


class RowWiseParallel(_Cut):
    """A Linear's input features, or an Embedding's rows, are cut.

    Args:
        is_input_parallel: the input is cut along its last axis already; else it is cut first.
    """

    _linear, _embedding = {"weight": Shard(0), "bias": None}, {"weight": Shard(0)}

    def __init__(self, is_input_parallel=True) -> None:
        self.is_input_parallel = is_input_parallel

    def split_input_hook(self, process_mesh):
        """A hook before ``forward`` that cuts the layer's first input along its last dimension."""

        def split(layer, input):
            x = _first(input)
            return _with_first(input, placed(x, process_mesh, Shard(x.ndim - 1)))

        return split

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        self._cut(layer, process_mesh, shard_param_list)
        if not self.is_input_parallel:
            layer.register_forward_pre_hook(self.split_input_hook(process_mesh))


class PrepareLayerInput(PlanBase):
    """``fn(mesh)`` gives the hook ``hook(layer, input)`` that changes the layer's input."""

    def __init__(self, fn=None) -> None:
        self.fn = fn

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        layer.register_forward_pre_hook(self.fn(process_mesh=process_mesh))


class PrepareLayerOutput(PlanBase):
    """``fn(mesh)`` gives the hook ``hook(layer, input, output)`` that changes the layer's output."""

    def __init__(self, fn=None) -> None:
        self.fn = fn

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        layer.register_forward_post_hook(self.fn(process_mesh=process_mesh))


# ---- sequences: activations [batch, sequence, hidden], or with the first two exchanged
def _swap(x):
    return paddle.transpose(x, [1, 0, *range(2, x.ndim)])


def _cut_sequence(value, mesh, transpose):
    x = _first(value)
    return _with_first(value, placed(_swap(x) if transpose else x, mesh, Shard(0)))


def _join_sequence(value, mesh, transpose):
    x = placed(_first(value), mesh, Replicate())
    return _with_first(value, _swap(x) if transpose else x)


class SequenceParallelBegin(PlanBase):
    """For the last layer before the range: its output is cut along the sequence.

    Args:
        need_transpose: [b, s, h] becomes [s / mp, b, h]; else the sequence is axis 0 already.
    """

    def __init__(self, need_transpose=True) -> None:
        self.need_transpose = need_transpose

    def sequence_parallel_begin(self, process_mesh):
        """A hook after ``forward`` that cuts the layer's output along the sequence."""
        return lambda layer, input, output: _cut_sequence(output, process_mesh, self.need_transpose)

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        layer.register_forward_post_hook(self.sequence_parallel_begin(process_mesh))


class SequenceParallelEnd(PlanBase):
    """For the first layer after the range: its input is made whole again.

    Args:
        need_transpose: [s / mp, b, h] becomes [b, s, h]; else [s, b, h].
    """

    def __init__(self, need_transpose=True) -> None:
        self.need_transpose = need_transpose

    def sequence_parallel_end(self, process_mesh):
        """A hook before ``forward`` that joins the layer's input along the sequence."""
        return lambda layer, input: _join_sequence(input, process_mesh, self.need_transpose)

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        layer.register_forward_pre_hook(self.sequence_parallel_end(process_mesh))


class SequenceParallelEnable(PlanBase):
    """For one layer on [b, s, h]: it sees parts of the sequence, [s / mp, b, h]."""

    def sequence_parallel_begin(self, process_mesh):
        """A hook before ``forward`` that cuts the layer's input along the sequence."""
        return lambda layer, input: _cut_sequence(input, process_mesh, True)

    def sequence_parallel_end(self, process_mesh):
        """A hook after ``forward`` that joins the layer's output along the sequence."""
        return lambda layer, input, output: _join_sequence(output, process_mesh, True)

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        layer.register_forward_pre_hook(self.sequence_parallel_begin(process_mesh))
        layer.register_forward_post_hook(self.sequence_parallel_end(process_mesh))


class SequenceParallelDisable(PlanBase):
    """For a layer within the range that needs whole sequences: its input is made whole, its output cut again.

    Args:
        need_transpose: it works on [b, s, h]; else on [s, b, h].
    """

    def __init__(self, need_transpose=True) -> None:
        self.need_transpose = need_transpose

    def sequence_parallel_begin(self, process_mesh):
        """A hook after ``forward`` that cuts the layer's output along the sequence again."""
        return lambda layer, input, output: _cut_sequence(output, process_mesh, self.need_transpose)

    def sequence_parallel_end(self, process_mesh):
        """A hook before ``forward`` that joins the layer's input along the sequence."""
        return lambda layer, input: _join_sequence(input, process_mesh, self.need_transpose)

    def apply(self, layer, process_mesh, shard_param_list=None) -> None:
        layer.register_forward_pre_hook(self.sequence_parallel_end(process_mesh))
        layer.register_forward_post_hook(self.sequence_parallel_begin(process_mesh))
