"""Code on this rank's parts in the midst of code on distributed tensors."""

from __future__ import annotations

import paddle
from paddle import nn

from .api import dtensor_from_local, dtensor_to_local, reshard


class LocalLayer(nn.Layer):
    """A layer whose ``forward`` works on this rank's parts as plain tensors; what it returns makes distributed tensors.

    Args:
        out_dist_attrs: (mesh, placements) of each output, of which this rank's result is its part.
        grad_dist_attrs: (mesh, placements) of the gradient of each input; None: as the input.

    Raises:
        ValueError: another number of inputs or outputs than that of the attributes.
    """

    def __init__(self, out_dist_attrs, grad_dist_attrs) -> None:
        super().__init__()
        self.out_dist_attrs, self.grad_dist_attrs = list(out_dist_attrs), list(grad_dist_attrs)

    def __call__(self, *inputs, **kwargs):
        if len(inputs) != len(self.grad_dist_attrs):
            raise ValueError(
                f"[LocalLayer] expected {len(self.grad_dist_attrs)} inputs, as grad_dist_attrs has, got {len(inputs)}"
            )
        parts = [
            dtensor_to_local(x, *(attr or (None, None))) if isinstance(x, paddle.Tensor) else x
            for x, attr in zip(inputs, self.grad_dist_attrs)
        ]
        outs = super().__call__(*parts, **kwargs)
        several = isinstance(outs, (list, tuple))
        outs = list(outs) if several else [outs]
        if len(outs) != len(self.out_dist_attrs):
            raise ValueError(
                f"[LocalLayer] expected {len(self.out_dist_attrs)} outputs, as out_dist_attrs has, got {len(outs)}"
            )
        made = [
            dtensor_from_local(out, *attr) if attr is not None else out for out, attr in zip(outs, self.out_dist_attrs)
        ]
        return made if several else made[0]


def local_map(func, out_placements, in_placements=None, process_mesh=None, reshard_inputs=False):
    """``func`` on this rank's parts of distributed tensors, as a function of these.

    Args:
        out_placements: of each output of ``func``; None: it is returned as it is.
        in_placements: how each input must lie; None (for all, or one): as it comes.
        process_mesh: of inputs and outputs; None: the first distributed input's.
        reshard_inputs: move inputs that lie otherwise; else they are refused.

    Raises:
        ValueError: an input lies otherwise, or the numbers of tensors and placements differ.
    """

    def wrapped(*args, **kwargs):
        mesh = process_mesh or next(
            (a.process_mesh for a in args if isinstance(a, paddle.Tensor) and a.is_dist()), None
        )
        wanted = [None] * len(args) if in_placements is None else list(in_placements)
        if len(wanted) != len(args):
            raise ValueError(f"[local_map] expected {len(wanted)} arguments, as in_placements has, got {len(args)}")
        parts = [_part(a, mesh, p, reshard_inputs, i) for i, (a, p) in enumerate(zip(args, wanted))]
        outs = func(*parts, **kwargs)
        several = isinstance(outs, (list, tuple))
        values = list(outs) if several else [outs]
        if len(values) != len(out_placements):
            raise ValueError(
                f"[local_map] expected {len(out_placements)} outputs, as out_placements has, got {len(values)}"
            )
        if mesh is None:
            return outs
        made = [v if p is None else dtensor_from_local(v, mesh, p) for v, p in zip(values, out_placements)]
        return type(outs)(made) if several else made[0]

    return wrapped


def _part(value, mesh, placements, may_move, position):
    if not isinstance(value, paddle.Tensor) or not value.is_dist():
        if placements is not None and isinstance(value, paddle.Tensor):
            raise ValueError(f"[local_map] expected a distributed tensor as argument {position}, got a plain one")
        return value
    if placements is not None and (list(value.placements) != list(placements) or value.process_mesh != mesh):
        if not may_move:
            raise ValueError(f"[local_map] expected argument {position} to lie as {placements}, got {value.placements}; "
                             "reshard_inputs=True moves it")  # fmt: skip
        value = reshard(value, mesh, placements)
    return dtensor_to_local(value)
